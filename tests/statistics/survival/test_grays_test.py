"""Gray's test against the twin."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.statistics.survival.grays_test import grays_test
from reference import survival as twin
from reference.survival import Rows


@given(lifetimes(entry=False, weights=(1.0, 2.0, 3.0, 0.0)), st.sampled_from([1, 2]), st.booleans())
def test_the_test_is_that_of_the_twin(of, cause, strata):
    group, half = np.round(2 * of.score), np.arange(len(of.time)) % 2
    stratum = half if strata else np.zeros(len(half))
    found = grays_test(of.time, of.event, group, cause, of.weights, stratum if strata else None)
    levels = np.unique(group).tolist()
    score, covariance = np.zeros(len(levels)), np.zeros((len(levels), len(levels)))
    for h in np.unique(stratum):
        inside = np.flatnonzero(stratum == h)
        part = Rows(*([column[i] for i in inside] for column in of.rows))
        parts = twin.grays_test(part, group[inside].tolist(), cause, levels)
        score, covariance = score + parts[0], covariance + parts[1]
    np.testing.assert_allclose(found.score, score, atol=1e-10)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-10)
    assert found.groups.tolist() == levels
    if found.df:
        p = scipy.stats.chi2.sf(found.statistic, found.df)
        assert found.p_value == pytest.approx(p)
    else:
        assert np.isnan(found.p_value)
