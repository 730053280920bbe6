"""Evidence from data and trees against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from odrf.engine.trees.routing import leaf_nodes
from odrf.statistics.theorems import (
    leaf_diameters,
    normal_quantiles,
    predictors_per_split,
    tail_index,
    tail_p,
)
from problems import plain, problems


@pytest.mark.parametrize("index", [0.25, 0.5, 1.0])
def test_tails_of_a_power_law_have_its_index(index):
    rng = np.random.default_rng(1)
    values = rng.random(40_000) ** -index * rng.choice([-1, 1], 40_000)
    assert tail_index(values) == pytest.approx(index, rel=0.1)


def test_normal_tails_are_not_heavy_and_cauchy_s_are():
    rng = np.random.default_rng(2)
    p = [tail_p(rng.normal(size=300), seed) for seed in range(40)]
    assert 0.3 < np.mean(p) < 0.7
    assert tail_p(rng.standard_cauchy(300), 0) < 0.01
    assert tail_p(3 * rng.standard_t(3, 9000), 0) < 0.01
    assert tail_index(np.zeros(30)) == 0.0


def test_normal_quantiles_are_a_normal_s():
    values = normal_quantiles(7 + 3 * np.random.default_rng(0).normal(size=20_000))
    np.testing.assert_allclose(
        np.quantile(values, [0.1, 0.5, 0.9]), norm.ppf([0.1, 0.5, 0.9]), atol=0.05
    )
    assert np.isfinite(normal_quantiles(np.zeros(9))).all()


@settings(deadline=None, max_examples=30)
@given(problems())
def test_diameters_are_those_of_the_boxes_around_leaves(problem):
    forest, X = problem.grow(2), problem.X.astype(float)
    found = leaf_diameters(forest, problem.X, 1)
    whole = np.sqrt(np.sum(np.ptp(X, axis=1) ** 2)) or 1.0
    for b, leaf in enumerate(leaf_nodes(forest, problem.X, 1).T):
        each = [np.sqrt(np.sum(np.ptp(X[:, leaf == node], axis=1) ** 2)) for node in leaf]
        np.testing.assert_allclose(found[:, b], np.array(each) / whole, atol=1e-12)


def test_diameters_shrink_as_trees_grow():
    X = np.random.default_rng(0).random((2, 400))
    y = np.sin(6 * X[0]) + X[1]
    sizes = [
        leaf_diameters(plain(X, y, max_leaves=t).grow(), X.astype("f4"), 1).mean()
        for t in (1, 8, 64)
    ]
    assert sizes[0] == pytest.approx(1)
    assert sizes[0] > sizes[1] > sizes[2]


@settings(deadline=None, max_examples=40)
@given(problems(), st.integers(1, 3))
def test_predictors_of_each_split_are_counted(problem, n_trees):
    forest = problem.grow(n_trees)
    found = predictors_per_split(forest, problem.feature_groups.first)
    owners = np.repeat(
        np.arange(len(problem.feature_groups.types)), np.diff(problem.feature_groups.first)
    )
    counts = [
        len({int(owners[column]) for column in forest.index[forest.start[i] : forest.start[i + 1]]})
        for i in np.flatnonzero(forest.left >= 0)
    ]
    np.testing.assert_array_equal(found, np.bincount(counts, minlength=1)[1:])
