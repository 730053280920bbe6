"""The size of residuals of a stack near each row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.stack.distribution import ADDED, local_spread

HOW = {"n_trees": 60, "seed": 1}


def table(n, seed=1):
    """Noise that is five times as large where a > 0."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    size = np.where(data["a"] > 0, 1.0, 0.2)
    data["y"] = data["b"] + size * rng.normal(size=n)
    return data


@pytest.fixture(scope="module")
def fit():
    return odrf.auto("y ~ a + b", table(400), **HOW)


def sizes(fit):
    return np.abs(fit.fit.data.y - fit.oob_prediction.to_numpy())


def test_it_is_the_prediction_of_a_forest_that_is_grown_on_sizes(fit):
    size = sizes(fit)
    spread = local_spread(fit.fit, size)
    assert spread.added == pytest.approx(ADDED * size.mean())
    how = {"resample": "subsample", "sample_fraction": 0.5, "min_leaf": 10, "blend": False}
    forest = odrf.odrf("size ~ a + b", table(400).assign(size=size), n_trees=100, seed=1, **how)
    new = table(50, seed=3)
    found = spread.at(fit.design.matrix(new)[0]) - spread.added
    np.testing.assert_allclose(found, forest.predict(new))
    out_of_bag = forest.oob_prediction.to_numpy()
    np.testing.assert_allclose(spread.of_rows - spread.added, out_of_bag)


def test_rows_that_are_never_out_of_bag_are_left_out(fit):
    size = sizes(fit)
    size[:3] = np.nan
    spread = local_spread(fit.fit, size)
    assert np.isnan(spread.of_rows[:3]).all() and np.isfinite(spread.of_rows[3:]).all()
    assert len(spread.fit.data.y) == 397


def test_rows_out_of_bag_have_no_part_in_their_own_size(fit):
    size = sizes(fit)
    larger = size.copy()
    larger[3] *= 10
    before, after = (local_spread(fit.fit, each) for each in (size, larger))
    own = [spread.of_rows[3] - spread.added for spread in (before, after)]
    assert own[0] == pytest.approx(own[1], rel=1e-12)
    assert (after.of_rows - after.added != before.of_rows - before.added).any()


def test_intervals_are_wide_where_the_noise_is(fit):
    new = table(2000, seed=2)
    ends = fit.predict(new, interval="prediction", level=0.9)
    width = ends["conf_high"] - ends["conf_low"]
    noisy = new["a"] > 0
    assert width[noisy].mean() > 2.5 * width[~noisy].mean()
    inside = new["y"].between(ends["conf_low"], ends["conf_high"])
    assert 0.84 < inside[noisy].mean() < 0.96 and 0.84 < inside[~noisy].mean() < 0.99
    out_of_bag = fit.predict(interval="prediction", level=0.9)
    covered = table(400)["y"].between(out_of_bag["conf_low"], out_of_bag["conf_high"])
    assert 0.9 <= covered.mean() <= 0.91


def test_without_residuals_intervals_have_no_width():
    data = pd.DataFrame({"a": np.arange(60.0), "y": 1.0})
    data.loc[59, "y"] = 1.0 + 1e-9
    fit = odrf.auto("y ~ a", data, kind="regression", **HOW)
    ends = fit.predict(data, interval="prediction", level=0.8)
    assert (ends["conf_high"] - ends["conf_low"]).max() < 1e-6
