"""Tests and intervals of estimates beside SciPy, and where there are none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy

from odrf.statistics.effects import NUMBERS, with_errors

LABELS = pd.DataFrame({"what": ["a"]})


@pytest.mark.parametrize("df", [3.0, np.inf])
def test_they_are_student_s(df):
    row = with_errors(LABELS, np.array([3.0]), np.array([2.0]), 0.9, 1.0, df).iloc[0]
    law = scipy.stats.t(df)
    low, high = 3.0 + 2.0 * np.array(law.interval(0.9))
    expected = [3.0, 2.0, 1.0, 2 * law.sf(1.0), low, high]
    np.testing.assert_allclose(row[list(NUMBERS)].astype(float), expected, rtol=1e-12)


@pytest.mark.parametrize("estimate", [0.0, 2.0])
@pytest.mark.parametrize("error", [0.0, np.nan])
@pytest.mark.filterwarnings("error")
def test_trees_that_agree_prove_nothing(estimate, error):
    row = with_errors(LABELS, np.array([estimate]), np.array([error]), 0.95).iloc[0]
    assert row[["statistic", "p_value", "conf_low", "conf_high"]].isna().all()
