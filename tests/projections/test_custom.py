"""A family given by a function of the user."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numba import njit

import odrf
from odrf.engine.trees.forest import ARRAYS
from odrf.errors import InputError
from odrf.projections import Custom, below, uniform
from tests.users import of_python, said

DATA = odrf.simulate.trunk(p=5).sample(200, seed=1)
DATA["y"] = pd.cut(DATA["x1"] + DATA["x2"], 3, labels=["low", "mid", "high"])


def pair(X, y, weights, rng):
    """Contrast a random column with the next, or give up."""
    if uniform(rng) < 0.2:
        return np.empty(0, dtype=np.int64), np.empty(0)
    first = below(rng, X.shape[1])
    return np.array([first, (first + 1) % X.shape[1]]), np.array([3.0, 4.0])


def forest(function, **options):
    options = {"n_trees": 4, "n_jobs": 1, "seed": 3, **options}
    return odrf.odrf("y ~ .", DATA, projection=function, **options)


def bits(fit):
    return [getattr(fit.forest, name).tobytes() for name in ARRAYS]


def test_a_function_of_python_grows_the_trees_of_the_compiled_one(monkeypatch):
    monkeypatch.setitem(said, "by", pair)
    compiled, plain = forest(njit(pair)), forest(of_python)
    assert bits(compiled) == bits(plain)
    columns = compiled.forest.index.reshape(-1, 2)
    assert ((columns[:, 1] - columns[:, 0]) % 5 == 1).all()
    np.testing.assert_allclose(compiled.forest.coef.reshape(-1, 2), [[0.6, 0.8]] * len(columns))
    assert bits(forest(of_python, n_jobs=2)) == bits(plain)
    assert "custom" in str(plain.summary())
    again = pickle.loads(pickle.dumps(plain))
    assert again.predict(DATA).tolist() == plain.predict(DATA).tolist()


def test_it_sees_the_rows_of_the_node(monkeypatch):
    seen = []

    def watching(X, y, weights, rng):
        seen.append((X.copy(), y.copy(), weights.copy()))
        return [0], [1.0]

    monkeypatch.setitem(said, "by", watching)
    fit = odrf.odt("y ~ .", DATA, projection=of_python, n_projections=1, max_depth=1, seed=1)
    X, y, weights = seen[-1]
    columns = DATA.drop(columns="y").to_numpy()
    scaled = (columns - columns.min(axis=0)) / np.ptp(columns, axis=0)
    assert X.shape == (200, 5)
    order = np.argsort(X[:, 0])
    np.testing.assert_allclose(X[order], scaled[np.argsort(scaled[:, 0])], atol=1e-6)
    codes = DATA["y"].cat.codes.to_numpy()
    assert y[order].tolist() == codes[np.argsort(scaled[:, 0])].tolist()
    assert (weights == 1).all()
    assert fit.splits["column"].tolist() == ["x1"]


def unlike(X, y, weights, rng):
    return np.array([0, 1]), np.array([1.0])


def beyond(X, y, weights, rng):
    return np.array([5]), np.array([1.0])


def twice(X, y, weights, rng):
    return np.array([1, 1]), np.array([1.0, 2.0])


def broken(X, y, weights, rng):
    raise ValueError("no idea")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (unlike, "projection=unlike returns .* as many coefficients"),
        (twice, r"projection=twice returns .*: return \(index, coef\), distinct column numbers"),
        (beyond, "projection=beyond returns the column numbers .*: use 0 to 4"),
        (
            broken,
            r"projection=broken raised ValueError: no idea; .* broken\(X, y, weights, rng\)",
        ),
        (lambda X: None, "projection=<lambda> raised TypeError"),
    ],
)
def test_what_it_may_not_return(function, message):
    with pytest.raises(InputError, match=message):
        forest(function)


@njit
def two_levels(X, y, weights, rng):
    """Contrast two random columns, all of which are levels of one factor."""
    first = below(rng, X.shape[1])
    second = (first + 1 + below(rng, X.shape[1] - 1)) % X.shape[1]
    return np.array([first, second]), np.array([1.0, -1.0])


def test_a_split_of_some_levels_of_a_factor_leaves_no_side_empty():
    rng = np.random.default_rng(5)
    level = rng.integers(0, 40, 300)
    data = pd.DataFrame({"f": [f"l{k:02d}" for k in level], "y": rng.normal(size=300) + level % 7})
    fit = odrf.odrf(
        "y ~ .", data, projection=two_levels, n_projections=30, min_leaf=1, n_trees=20, seed=1,
        n_jobs=1, blend=False,
    )  # fmt: skip
    assert fit.forest.count.min() > 0
    assert np.isfinite(fit.forest.coef).all() and np.isfinite(fit.forest.value).all()
    assert np.isfinite(fit.predict(data)).all()


def test_it_must_be_a_function():
    with pytest.raises(InputError, match="function=3 is not callable: use a function of"):
        Custom(3)
