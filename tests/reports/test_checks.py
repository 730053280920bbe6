"""The order of the regions that a column divides rows into."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf.reports.checks import PredictiveCheck

SIZES = pd.CategoricalDtype(["small", "medium", "large"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series(["large", "small", None, "medium"] * 3, dtype=SIZES), list(SIZES.categories)),
        (pd.Series([10, 2, 2, 30] * 3), ["2", "10", "30"]),
        (pd.Series([10.5, 2.0, np.nan, 30.0] * 3), ["2.0", "10.5", "30.0"]),
        (pd.Series(["b", "a", None, "c"] * 3), ["a", "b", "c"]),
        (pd.Series(pd.to_datetime(["2020-02-01", "2019-03-01"] * 6)), ["2019-03-01", "2020-02-01"]),
        (pd.Series([True, False, True] * 4), ["False", "True"]),
    ],
)
def test_regions_are_in_the_order_of_the_column(values, expected):
    n = len(values)
    rows = pd.DataFrame({"observed": np.arange(n) % 5.0, "fitted": np.arange(n) / 2.0})
    rows = rows.assign(conf_low=0.0, conf_high=3.5, pit=0.5)
    coverage = PredictiveCheck("", rows, 0.95, values, "new").coverage
    assert coverage["region"].tolist() == expected
    inside = (rows["observed"] <= 3.5).groupby(values.astype(object)).mean()
    np.testing.assert_allclose(np.sort(coverage["coverage"]), np.sort(inside))
    assert coverage["rows"].sum() == values.notna().sum()
