"""Guided trees whose planes are evaluated on a device, here by NumPy, against the compiled ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from devices import numpy_device
from guided_problems import guided_problems, sampled
from odrf import simulate
from odrf.engine.trees.routing import leaf_nodes

WEIGHTS = {
    "equal": lambda rng, n: np.ones(n),
    "of few bits": lambda rng, n: rng.integers(0, 9, n) / 8,
    "any": lambda rng, n: rng.random(n) + 0.5,
}


@pytest.mark.parametrize("weights", list(WEIGHTS))
@pytest.mark.parametrize(
    "problem",
    [
        simulate.hypercube(4),
        simulate.hypercube(3, labels="ones"),
        simulate.pie(classes=3, number=6),
        simulate.random_rbf(classes=5),
        simulate.friedman1(5),
    ],
    ids=lambda problem: f"{problem.name} {problem.kind}",
)
def test_trees_are_the_same(problem, weights):
    for seed in range(2):
        grown = sampled(problem, 150, seed, from_region=bool(seed), min_split=5)
        grown.weights[:] = WEIGHTS[weights](np.random.default_rng(seed), 150)
        one, other = grown.grow(n_trees=3), grown.grow(n_trees=3, n_jobs=2, device=numpy_device())
        assert one.n_planes.min() > 5
        assert one.left.tobytes() == other.left.tobytes()
        assert one.coef.tobytes() == other.coef.tobytes()
        assert one.threshold.tobytes() == other.threshold.tobytes()
        assert one.value.tobytes() == other.value.tobytes()


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_an_impure_leaf_has_few_rows_or_equal_ones(problem):
    forest = problem.grow(device=numpy_device())
    X = problem.X[forest.columns][:, problem.weights > 0]
    leaves = leaf_nodes(forest.unshared, problem.X[:, problem.weights > 0], 1)[:, 0]
    impure = (forest.impurity > 0) & (forest.count >= problem.settings.min_split)
    for leaf in np.flatnonzero(impure & (forest.left < 0)):
        assert (np.ptp(X[:, leaves == leaf], axis=1) < 1e-5).all()


def test_the_columns_of_the_caller_are_left_as_they_are():
    grown = sampled(simulate.hypercube(3), 60, 1)
    before = grown.X.copy()
    grown.grow(device=numpy_device())
    assert (before == grown.X).all()
