"""What guided trees grow from, and where they stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guided_problems import CLASSES, NUMBERS, guided_problems, of_rows, sampled
from odrf import simulate
from odrf.engine.numeric import streams
from odrf.engine.trees.routing import leaf_nodes
from reference import guided as twin


@pytest.mark.parametrize("from_region", [False, True])
@pytest.mark.parametrize(
    "problem",
    [simulate.hypercube(4), simulate.hypercube(3, labels="ones"), simulate.friedman1(5)],
    ids=lambda problem: f"{problem.name} {problem.kind}",
)
def test_planes_evaluated_together_are_the_same(problem, from_region):
    for seed in range(3):
        grown = sampled(problem, 150, seed, from_region=from_region)
        one, other = grown.grow(n_trees=4), grown.grow(n_trees=4, n_jobs=2, batched=True)
        assert one.n_planes.min() > 5
        assert one.left.tobytes() == other.left.tobytes()
        assert one.coef.tobytes() == other.coef.tobytes()
        assert one.threshold.tobytes() == other.threshold.tobytes()
        assert one.value.tobytes() == other.value.tobytes()


@settings(max_examples=60, deadline=None)
@given(guided_problems(), st.booleans())
def test_an_impure_leaf_has_few_rows_or_equal_ones(problem, batched):
    forest = problem.grow(batched=batched)
    X = problem.X[forest.columns][:, problem.weights > 0]
    leaves = leaf_nodes(forest.unshared, problem.X[:, problem.weights > 0], 1)[:, 0]
    impure = (forest.impurity > 0) & (forest.count >= problem.settings.min_split)
    for leaf in np.flatnonzero(impure & (forest.left < 0)):
        assert (np.ptp(X[:, leaves == leaf], axis=1) < 1e-5).all()


@pytest.mark.parametrize("batched", [False, True])
def test_trees_grow_until_their_regions_are_pure(batched):
    for problem in (simulate.hypercube(4), simulate.hypercube(3, labels="ones")):
        forest = sampled(problem, 200, 1).grow(n_trees=3, batched=batched)
        assert (forest.impurity[forest.left < 0] == 0).all()
    forest = sampled(simulate.friedman1(5), 100, 1).grow(n_trees=3, batched=batched)
    assert (forest.count[forest.left < 0] == 1).all()


@settings(max_examples=40, deadline=None)
@given(guided_problems(), st.integers(0, 2**32 - 1))
def test_rows_without_weight_change_nothing(problem, seed):
    rng = np.random.default_rng(seed)
    y = np.where(problem.weights > 0, problem.y, rng.permutation(problem.y))
    X = np.where(problem.weights > 0, problem.X, 2 * rng.random(problem.X.shape))
    other = replace(problem, X=X.astype(np.float32), y=y).grow(n_trees=2)
    one = problem.grow(n_trees=2)
    assert other.coef.tobytes() == one.coef.tobytes()
    assert other.value.tobytes() == one.value.tobytes()


@pytest.mark.parametrize("options", [CLASSES, NUMBERS])
def test_nothing_to_divide(options):
    rng = np.random.default_rng(0)
    y = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    same, constant, one = np.full((2, 5), 0.3), np.zeros((1, 5)), rng.random((2, 5))
    for problem in (
        of_rows(same, y, options),
        of_rows(constant, y, options),
        of_rows(one, np.ones(5), options),
        of_rows(one, y, options._replace(min_split=6)),
        of_rows(one[:, :1], y[:1], options),
    ):
        forest = problem.grow(n_trees=2)
        assert forest.left.tolist() == [-1, -1]
        assert forest.n_planes.tolist() == [0, 0]
        assert forest.sizes.tolist() == [1, 1]


def test_rows_that_no_plane_tells_apart_stay_together():
    """The mean of two neighbours in float32 is one of them: a plane through it may not cut."""
    x = np.array([1.0, np.nextafter(np.float32(1), np.float32(0))])
    problem = of_rows([x], [0.0, 1.0], CLASSES._replace(subspace=1, trials=1))
    forest = problem.grow(n_trees=40)
    whole = forest.n_leaves == 1
    assert 0 < whole.sum() < 40
    assert (forest.n_planes == ~whole).all()
    assert (forest.impurity[forest.root[:-1]] > 0).all()


def test_a_division_can_raise_the_impurity():
    """Z(Ω) ≥ Z(Ω₀) + Z(Ω₁), as Gupta et al. state, holds for equally frequent classes only."""
    y = np.repeat([0.0, 1.0], [1000, 10])
    # 10 rows of each class, 5 of the rare one apart: equation (8) gives 0.39, its parts 0.58
    x = np.concatenate([np.full(990, 0.0), np.full(10, 0.8), np.full(5, 0.8), np.full(5, 1.0)])
    problem = of_rows([x], y, CLASSES._replace(subspace=1, trials=1))
    forest = problem.grow().unshared
    region = np.flatnonzero(forest.count == 20)[0]
    total = forest.weight * forest.impurity
    assert total[region] == pytest.approx(20 * (1 - (0.01**2 + 1) / 1.01**2))
    parts = total[forest.left[region]] + total[forest.left[region] + 1]
    assert parts == pytest.approx(15 * (1 - (0.01**2 + 0.5**2) / 0.51**2))
    assert forest.gain[region] < 0


def test_a_shift_of_a_numeric_response_shifts_its_leaves():
    rng = np.random.default_rng(3)
    X, y, weights = rng.random((3, 60)), rng.normal(size=60), rng.random(60) + 0.5
    here = of_rows(X, y, NUMBERS._replace(min_split=5), weights).grow(n_trees=2)
    there = of_rows(X, y + 1000, NUMBERS._replace(min_split=5), weights).grow(n_trees=2)
    assert here.n_planes.min() > 5
    assert there.coef.tobytes() == here.coef.tobytes()
    np.testing.assert_allclose(there.value, here.value + 1000, rtol=1e-14)
    np.testing.assert_allclose(there.impurity, here.impurity, rtol=1e-9, atol=1e-12)
    assert here.value[0, 0] == pytest.approx(np.average(y, weights=weights))


# ------------------------------------------------------------------------------------------------
# Guided growth against Algorithm 1 written out with lists of rows.
# ------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(guided_problems())
def test_trees_are_those_that_project_every_region(problem):
    forest = problem.grow()
    tree = twin.grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.settings,
        streams(problem.seed, 0, 1)[0],
    )  # fmt: skip
    sample = twin.sample_of(problem.X, problem.y, problem.weights, problem.settings.n_classes)

    assert forest.columns.tolist() == tree.columns
    assert forest.left.tolist() == [region.left for region in tree.regions]
    assert forest.plane.tolist() == [region.plane for region in tree.regions]
    assert forest.count.tolist() == [len(region.rows) for region in tree.regions]
    assert forest.threshold.tolist() == [plane.threshold for plane in tree.planes]
    assert forest.coef.tolist() == [each for plane in tree.planes for each in plane.theta]
    assert forest.weight.tolist() == [sample.w[region.rows].sum() for region in tree.regions]
    impurities = [twin.impurity(sample, region.rows) for region in tree.regions]
    np.testing.assert_allclose(forest.weight * forest.impurity, impurities, rtol=1e-12, atol=0)
    votes = [twin.votes(sample, region.rows) for region in tree.regions]
    np.testing.assert_allclose(forest.value, votes, rtol=1e-12, atol=1e-14)
