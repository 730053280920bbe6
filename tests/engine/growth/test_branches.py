"""Large trees grow in branches: the same tree for any number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.growth import branches, tree_builder
from odrf.engine.growth.branches import grows_in_branches
from odrf.engine.resamples import BOOTSTRAP, Sampling
from odrf.engine.splits.impurity import GINI
from odrf.engine.trees.forest import ARRAYS, Forest
from problems import noisy, plain


@pytest.fixture
def in_branches(monkeypatch):
    """Trees of more than 200 rows grow in branches of at most 60."""
    monkeypatch.setattr(branches, "LARGE_TREE", 200)
    monkeypatch.setattr(branches, "BRANCH_ROWS", 60)


def assert_same(one: Forest, other: Forest) -> None:
    for name in ARRAYS:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("n_classes", [1, 2, 4])
@pytest.mark.parametrize("max_depth", [2, 7, 100])
def test_without_chance_the_tree_is_the_one_that_grows_whole(n_classes, max_depth, monkeypatch):
    rng = np.random.default_rng(n_classes)
    X = rng.random((3, 700))
    y = X[0] + X[1] * X[2] + rng.normal(size=700) / 5
    if n_classes > 1:
        y = np.floor(n_classes * np.argsort(np.argsort(y)) / len(y))
    criterion = {"criterion": GINI} if n_classes > 1 else {}
    # all columns are tried, and weights differ: no two cuts are equally good
    weights = rng.uniform(1, 2, 700)
    limits = {"n_classes": n_classes, "min_leaf": 6, "max_depth": max_depth}
    problem = plain(X, y, weights, **limits, **criterion)
    whole = problem.grow()
    monkeypatch.setattr(branches, "LARGE_TREE", 200)
    monkeypatch.setattr(branches, "BRANCH_ROWS", 60)
    assert whole.leaves()[0] >= min(4, 2**max_depth)
    assert_same(problem.grow(), whole)


def test_the_rows_decide_and_not_the_threads(in_branches):
    problem = noisy(n=900, n_projections=3, min_leaf=2)
    whole, *others = (problem.grow(2, n_jobs) for n_jobs in (1, 2, 5))
    for other in others:
        assert_same(whole, other)


def test_trees_of_a_forest_grow_in_branches_too(in_branches):
    problem = replace(noisy(n=900, n_projections=3), sampling=Sampling(BOOTSTRAP, 1.0))
    assert_same(problem.grow(3, 1), problem.grow(3, 4))


@pytest.mark.parametrize("y", ["x", "g"])
@pytest.mark.parametrize(
    "options", [{}, {"honest": True}, {"projection": "rotation"}, {"split_scale": "ranks"}]
)
def test_factors_honest_trees_rotations_and_scales(in_branches, options, y):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.random((600, 3)), columns=["a", "b", "x"])
    rows["f"], rows["g"] = rng.choice(list("abcdefghijk"), 600), rng.choice(list("uvw"), 600)
    rows.loc[::9, "a"] = np.nan
    if y == "g" and "split_scale" in options:
        options = {"criterion": "entropy"}
    both = [
        odrf.odrf(f"{y} ~ .", rows, n_trees=2, seed=4, blend=False, n_jobs=n_jobs, **options)
        for n_jobs in (1, 4)
    ]
    assert_same(*(fit.fit.forest for fit in both))
    nodes = both[0].tree(0).nodes
    inner = ~nodes["leaf"] if nodes["leaf"].dtype == bool else nodes["leaf"] == 0
    assert inner.sum() > 20


def test_branches_that_grow_at_once_share_no_scratch(in_branches, monkeypatch):
    found, to_end = [], tree_builder.Growth.to_end

    def noted(growth):
        found.append(growth.rows.coefficients)
        return to_end(growth)

    monkeypatch.setattr(tree_builder.Growth, "to_end", noted)
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.random((300, 3)), columns=["a", "b", "x"])
    rows["f"] = rng.choice(list("abcdefghijk"), 300)
    options = {"resample": "none", "n_trees": 1, "blend": False}
    odrf.odrf("x ~ .", rows, seed=4, n_jobs=2, **options)
    assert len(found) >= 5
    assert all(len(scratch) == 12 for scratch in found)
    assert len({scratch.ctypes.data for scratch in found}) == len(found)


def test_a_number_of_leaves_is_counted_over_the_whole_tree():
    settings = noisy(n=50, max_leaves=10**6).growth[5]
    assert grows_in_branches(10**6, settings)
    assert not grows_in_branches(10**5, settings)
    assert not grows_in_branches(10**6, settings._replace(max_leaves=1000))
    assert not grows_in_branches(10**6, settings._replace(surrogates=True))


def test_the_limit_on_leaves_holds_in_large_trees(in_branches):
    assert noisy(n=900, n_projections=3, max_leaves=9).grow().leaves().tolist() == [9]


def test_a_tree_of_rows_that_cannot_be_split_is_a_leaf(in_branches):
    forest = plain(np.ones((2, 300)), np.arange(300.0)).grow(1, 2)
    assert forest.leaves().tolist() == [1]
    assert forest.value[0, 0] == pytest.approx(149.5)


def test_boosted_trees_grow_in_branches_too(in_branches):
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(rng.random((500, 3)), columns=["a", "b", "c"])
    rows["y"] = rows["a"] + rows["b"] * rows["c"]
    one, other = (
        odrf.odbt("y ~ .", rows, n_trees=4, max_depth=9, seed=1, n_jobs=n_jobs) for n_jobs in (1, 3)
    )
    assert_same(one.fit.forest, other.fit.forest)
