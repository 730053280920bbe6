"""Intervals of fits with few groups are by Student's t, as their variances are over groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import odrf


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    data["group"] = np.arange(120) % 10
    return data.assign(y=data["a"] + rng.normal(size=10)[data["group"]])


@pytest.mark.parametrize("options", [{"groups": "group"}, {}], ids=["groups", "rows"])
def test_every_interval_reaches_as_far(data, options):
    fit = odrf.odrf("y ~ a + b", data, n_trees=40, inference=True, seed=1, **options)
    reach = stats.t(9).ppf(0.975) if options else stats.norm.ppf(0.975)
    new = data[:5]
    tables = [
        fit.predict(new, interval="confidence"),
        fit.partial("a", points=4).table,
        fit.predictions().table,
    ]
    for table in tables:
        far = (table["conf_high"] - table["estimate"]) / table["std_error"]
        np.testing.assert_allclose(far, reach, rtol=1e-6)
    prediction = fit.get_prediction(new)
    far = (prediction.conf_int()[:, 1] - prediction.predicted_mean) / prediction.se_mean
    np.testing.assert_allclose(far, reach, rtol=1e-6)
    table = tables[1]
    assert (table["band_high"] >= table["conf_high"]).all()
