"""An outlier of a predictor, or a heavy tail, changes fits little."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf

N = 1200
STEP = 0.5
FITS = {
    "tree": lambda formula, data: odrf.odt(formula, data, seed=1),
    "axis-parallel tree": lambda formula, data: odrf.odt(
        formula, data, projection="axis", min_leaf=5, alpha=None, seed=1
    ),
    "boosted trees": lambda formula, data: odrf.odbt(formula, data, n_trees=30, seed=1),
    "forest": lambda formula, data: odrf.odrf(formula, data, n_trees=10, seed=1),
}


def table(far: float | None, holes: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=N)
    y = (x > STEP) + 0.1 * rng.normal(size=N)
    x[0] = x[0] if far is None else far
    x[1 : 100 * holes : 3] = np.nan
    return pd.DataFrame({"x": x, "y": y, "k": np.where(y > STEP, "high", "low")})


@pytest.mark.parametrize("far", [300.0, 1e6, -1e6])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("name", FITS)
def test_numbers_and_classes_beside_one_far_value(name, holes, far):
    data = table(far, holes)
    seen = data["x"].notna()
    fitted = FITS[name]("y ~ x", data).predict(data)[seen]
    assert np.mean((fitted - data["y"][seen]) ** 2) < 0.1 * data["y"].var()
    assert (FITS[name]("k ~ x", data).predict(data) == data["k"])[seen].mean() > 0.95


def test_a_heavy_tail_is_like_its_logarithm():
    rng = np.random.default_rng(2)
    x = 4 * rng.normal(size=N)
    data = pd.DataFrame({"x": np.exp(x), "y": np.sin(2 * x) + 0.1 * rng.normal(size=N)})
    for fit in map(FITS.get, ("axis-parallel tree", "boosted trees")):
        raw = fit("y ~ x", data).predict(data)
        scaled = fit("y ~ log(x)", data).predict(data)
        losses = [np.mean((data["y"] - fitted) ** 2) for fitted in (raw, scaled)]
        assert losses[0] < 1.3 * losses[1]


def test_a_tree_of_all_rows_in_chunks_beside_outliers(monkeypatch):
    monkeypatch.setattr("odrf.fits.all_rows.growing_all_rows.rows_that_fit", lambda *_: 100)
    data = table(1e6)
    data.loc[:20, "x"] *= 1e6
    fit = odrf.odt("y ~ x", odrf.Chunks([data[:500], data[500:]]), alpha=None, seed=1)
    assert fit.fit.levels > 0
    assert np.mean((fit.predict(data) - data["y"])[21:] ** 2) < 0.1 * data["y"].var()
