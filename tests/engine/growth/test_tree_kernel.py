"""Growth against Algorithm 1 written out with lists, split by split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from numba import typeof

from following import Following, grows_as_the_twin
from odrf.engine.directions.candidates import INDICATORS, PLAIN, feature_groups_of
from odrf.engine.growth import tree_builder
from odrf.engine.growth.node_values import buffers_for
from odrf.engine.growth.tree_builder import ScratchPool, with_room
from odrf.engine.growth.tree_kernel import NODE
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Sampling, draw_halves
from odrf.engine.splits.impurity import GINI, ORDINAL, SQUARED_ERROR
from odrf.engine.splits.splitter import SORTED_TOGETHER, as_searched, scratch_for
from odrf.engine.trees.forest import ARRAYS, Forest
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.projections.axis import Axis
from odrf.projections.mixture import Mixture, Share
from odrf.projections.patch import Patch
from odrf.projections.regression import LDA, LEAST_SQUARES, LOGISTIC, ProjectionPursuit
from odrf.projections.sparse import RandomCombination
from problems import CART, cart, grow_one, indicators, noisy, plain, problems
from reference.best_first import BestOpen, decrease, grow_best_first
from reference.forests import direction, goes_left
from reference.growing import FirstBest, grow
from reference.randomness import Stream


@settings(max_examples=200, deadline=None)
@given(problems(max_rows=72))
def test_every_split_is_the_best_of_the_same_candidates(problem):
    grows_as_the_twin(problem)


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_ordered_classes_are_split_so_too(problem):
    assume(problem.settings.n_classes > 1)
    ordinal = replace(problem, settings=problem.settings._replace(criterion=ORDINAL))
    grows_as_the_twin(ordinal)
    assert ordinal.grow().ordered and not problem.grow().ordered


def test_without_ties_the_twin_grows_the_same_tree_alone():
    problem = noisy(n=150, n_projections=3, max_leaves=15, min_leaf=5, n_singles=2)
    forest = problem.grow()
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, Stream(problem.streams()[0]), FirstBest(problem.X, problem.settings),
    )  # fmt: skip
    assert len(nodes) > 20
    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    value = [np.average(node.y, weights=node.w) for node in nodes]
    np.testing.assert_allclose(forest.value[:, 0], value, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_what_a_split_divides_is_conserved(problem):
    forest = problem.grow()
    split = np.flatnonzero(forest.left >= 0)
    left = forest.left[split]
    assert (forest.count[left] + forest.count[left + 1] == forest.count[split]).all()
    mass = forest.weight
    sums = mass[:, None] * forest.value
    total = mass * forest.impurity
    np.testing.assert_allclose(mass[left] + mass[left + 1], mass[split])
    np.testing.assert_allclose(sums[left] + sums[left + 1], sums[split], atol=1e-9)
    np.testing.assert_allclose(
        total[left] + total[left + 1] + mass[split] * forest.gain[split], total[split], atol=1e-9
    )
    removed = np.sum(mass[split] * forest.gain[split])
    assert total[0] - total[forest.is_leaf()].sum() == pytest.approx(removed, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_a_smaller_budget_gives_the_beginning_of_the_same_tree(problem):
    full = problem.but(max_leaves=1000).grow()
    for t_n in range(1, min(int(full.leaves()[0]), 9) + 1):
        tree = problem.but(max_leaves=t_n).grow()
        n = tree.n_nodes
        assert tree.leaves().tolist() == [t_n]
        assert tree.order.tolist() == np.where(full.order[:n] < t_n, full.order[:n], 0).tolist()
        assert tree.value.tobytes() == full.value[:n].tobytes()
        begun = full.keeping((full.left >= 0) & (full.order < t_n))
        assert (leaf_nodes(tree, problem.X, 1) == leaf_nodes(begun, problem.X, 1)).all()


# ------------------------------------------------------------------------------------------------
# What must not change a tree, what a tree must find, and data at the edge.
# ------------------------------------------------------------------------------------------------


def assert_same_splits(one: Forest, other: Forest, rtol: float = 1e-9) -> None:
    assert one.left.tolist() == other.left.tolist()
    assert one.index.tolist() == other.index.tolist()
    np.testing.assert_allclose(one.threshold, other.threshold, rtol=rtol)
    np.testing.assert_allclose(one.coef, other.coef, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("seed", range(5))
def test_for_0_and_1_a_gini_tree_is_a_regression_tree_with_twice_the_gains(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.random((4, 200)), rng.uniform(0.5, 2.0, 200)
    y = (X[0] + X[1] + rng.normal(size=200) / 3 > 1).astype(float)
    regression = plain(X, y, weights, min_leaf=8).grow()
    classes = plain(X, y, weights, min_leaf=8, criterion=GINI, n_classes=2).grow()
    assert regression.leaves()[0] > 8
    assert_same_splits(classes, regression)
    np.testing.assert_allclose(classes.gain, 2 * regression.gain, rtol=1e-9)
    np.testing.assert_allclose(classes.impurity, 2 * regression.impurity, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(classes.value[:, 1], regression.value[:, 0], atol=1e-12)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_a_weight_of_3_is_a_row_three_times(n_classes):
    rng = np.random.default_rng(n_classes)
    X, y = rng.random((3, 100)), rng.integers(0, n_classes, 100).astype(float)
    y = y if n_classes > 1 else X[0] + rng.normal(size=100)
    weights = rng.choice([1.0, 2.0, 3.0], 100)
    rows = np.repeat(np.arange(100), weights.astype(int))
    options = {"n_classes": n_classes, "criterion": GINI if n_classes > 1 else SQUARED_ERROR}
    # Leaves of few rows would tie everywhere; the budget stops before.
    weighted = plain(X, y, weights, max_leaves=9, **options).grow()
    repeated = plain(X[:, rows], y[rows], max_leaves=9, **options).grow()
    assert weighted.leaves().tolist() == [9]
    assert_same_splits(weighted, repeated)
    np.testing.assert_allclose(weighted.weight, repeated.count)
    np.testing.assert_allclose(weighted.gain, repeated.gain, rtol=1e-9)
    np.testing.assert_allclose(weighted.value, repeated.value, rtol=1e-9, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_a_weight_of_0_is_a_row_deleted(problem):
    kept = problem.weights > 0
    without = replace(
        problem, X=np.ascontiguousarray(problem.X[:, kept]), y=problem.y[kept],
        weights=problem.weights[kept],
    )  # fmt: skip
    for one, other in zip(
        (getattr(problem.grow(2), name) for name in ARRAYS),
        (getattr(without.grow(2), name) for name in ARRAYS),
        strict=True,
    ):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("shift", [-30, 20])
def test_a_common_factor_of_the_weights_changes_nothing(family, shift):
    problem = noisy(n=120, n_projections=4, min_leaf=5, family=family, criterion=GINI, n_classes=2)
    problem = replace(problem, y=(problem.y > 0.7).astype(float))
    scaled = replace(problem, weights=problem.weights * 2.0**shift)
    assert_same_splits(scaled.grow(), problem.grow(), rtol=1e-6)


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES])
@pytest.mark.parametrize("shift", [-300, -40, 40, 300])
def test_the_unit_of_the_response_changes_no_split(family, shift):
    problem = noisy(n=150, n_projections=4, family=family)
    scaled = replace(problem, y=problem.y * 2.0**shift)
    one, other = scaled.grow(), problem.grow()
    assert_same_splits(one, other, rtol=0)
    np.testing.assert_array_equal(one.value, other.value * 2.0**shift)
    np.testing.assert_array_equal(one.gain, other.gain * 4.0**shift)


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_planted_oblique_split_is_recovered(family, noise):
    rng = np.random.default_rng(3)
    planted = np.array([0.6, -0.7, 0.4])
    planted /= np.linalg.norm(planted)
    X = 0.5 + rng.normal(size=(3, 1000)) / 8
    side = planted @ X > planted.sum() / 2
    y = (side ^ (rng.random(1000) < noise)).astype(float)
    tree = plain(
        X, y, criterion=GINI, n_classes=2, family=family, n_singles=0, n_projections=1,
        subset_size=3, max_leaves=2, exact_rows=SORTED_TOGETHER,
    ).grow()  # fmt: skip
    found = np.zeros(3)
    found[tree.index] = tree.coef
    assert np.degrees(np.arccos(abs(found @ planted))) < 5
    assert tree.threshold[0] == pytest.approx(found.sum() / 2, abs=0.05)
    fitted = predict(tree, X.astype(np.float32), 1)
    assert (fitted.argmax(axis=1) == side).mean() > 0.95


def test_a_planted_ridge_function_is_recovered_from_a_numeric_response():
    rng = np.random.default_rng(4)
    X = rng.random((2, 1000))
    y = np.tanh(6 * (X[0] - X[1])) + rng.normal(size=1000) / 10
    for family in [LOGISTIC, LEAST_SQUARES]:
        tree = plain(X, y, family=family, n_projections=1, subset_size=2, max_leaves=2).grow()
        found = np.zeros(2)
        found[tree.index] = tree.coef
        assert np.abs(found @ [1, -1]) / np.sqrt(2) > np.cos(np.radians(3))
        assert tree.threshold[0] == pytest.approx(0, abs=0.05)


def test_each_node_is_routed_by_its_own_direction():
    """The same two columns throughout, yet a different direction at every node."""
    problem = noisy(n=200, n_singles=0, n_projections=1, subset_size=5, min_leaf=10)
    tree = problem.grow()
    split = np.flatnonzero(tree.left >= 0)
    directions = [tuple(np.round(direction(tree, node)[1], 6)) for node in split]
    assert len(split) > 5
    assert len(set(directions)) == len(split)
    rows = {0: np.arange(200)}
    for node in split:
        at = goes_left(problem.X[:, rows[node]], *direction(tree, node), tree.threshold[node])
        child = tree.left[node]
        rows[child], rows[child + 1] = rows[node][at], rows[node][~at]
    means = [problem.y[rows[node]].mean() for node in range(tree.n_nodes)]
    np.testing.assert_allclose(tree.value[:, 0], means, rtol=1e-12)


rng = np.random.default_rng(0)
APART = {
    "one row": (rng.random((2, 1)), [1]),
    "two rows": ([[0, 1]], [1, 3]),
    "one predictor": (rng.random((1, 20)), np.arange(20) % 3),
    "two predictors": (rng.random((2, 20)), np.arange(20) % 3),
    "more predictors than rows": (rng.random((30, 5)), [0, 1, 2, 3, 4]),
    "adjacent floats": ([[0.5, np.nextafter(np.float32(0.5), np.float32(1)), 0.5]], [0, 1, 0]),
    "nearly constant response": (rng.random((2, 20)), 1 + 1e-12 * np.arange(20)),
}
TOGETHER = {
    "constant predictors": (np.full((3, 20), 0.3), np.arange(20)),
    "constant response": (rng.random((2, 20)), np.full(20, 0.1)),
    "equal rows": (np.repeat([[0.2], [0.4]], 10, axis=1), np.arange(10)),
}


def grow_odd(X, y, family):
    """Grow a full tree, for LDA on as many classes as there are values of y."""
    y = np.asarray(y, dtype=float)
    if family == LDA:
        codes = np.unique(y, return_inverse=True)[1]
        return plain(
            np.array(X), codes, family=LDA, n_projections=3, criterion=GINI, n_classes=20
        ).grow(), codes
    return plain(np.array(X), y, family=family, n_projections=3).grow(), y


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("name", APART)
def test_rows_that_differ_are_told_apart(family, name):
    tree, y = grow_odd(*APART[name], family)
    fitted = predict(tree, np.array(APART[name][0], dtype=np.float32), 1)
    fitted = fitted.argmax(axis=1) if family == LDA else fitted[:, 0]
    np.testing.assert_allclose(fitted, y, rtol=1e-15)
    assert np.isfinite(tree.coef).all()


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("name", TOGETHER)
def test_a_node_that_nothing_divides_is_a_leaf(family, name):
    tree, y = grow_odd(*TOGETHER[name], family)
    assert tree.n_nodes == 1
    expected = np.bincount(y, minlength=20) / len(y) if family == LDA else [y.mean()]
    np.testing.assert_allclose(tree.value[0], expected)


def test_a_column_constant_in_the_resample_only():
    X = np.zeros((2, 40))
    X[0, 0], X[1] = 1.0, np.linspace(0, 1, 40)
    problem = plain(X, X[1], n_projections=2, subset_size=2)
    forest = replace(problem, sampling=Sampling(BOOTSTRAP, 0.3)).grow(20)
    assert np.isfinite(predict(forest, problem.X, 1)).all()


def test_a_level_absent_from_a_node_follows_the_overall_mean():
    levels = np.repeat([0, 1], 10)
    feature_groups = feature_groups_of(np.array([0, 3]), np.array([INDICATORS], dtype=np.int8))
    y = np.repeat([0.0, 1.0], 10) + np.tile([0.0, 0.001], 10)
    tree = cart(indicators(levels, 3), y, feature_groups).grow()
    assert tree.leaves().tolist() == [2]
    assert sorted(leaf_nodes(tree, np.eye(3, dtype=np.float32), 1)[:2, 0]) == [1, 2]


# ------------------------------------------------------------------------------------------------
# Best-first growth against its definition, split by split.
# ------------------------------------------------------------------------------------------------


class FollowingBest(Following):
    """Follow the engine in which split is made next, and check that none decreases more."""

    def chosen(self, nodes, open_splits, leaves):
        number = int(np.flatnonzero(self.forest.order == leaves)[0])
        most = max(decrease(nodes[i], split) for i, split in open_splits.items())
        assert decrease(nodes[number], open_splits[number]) >= most * (1 - 1e-9) - 1e-12
        return number


@settings(max_examples=200, deadline=None)
@given(problems(max_rows=72))
def test_the_split_with_the_largest_decrease_is_made_next(problem):
    # in a full tree no open split is left
    full = problem.but(best_first=True, max_leaves=1000)
    grows_as_the_twin(full, grow_best_first, FollowingBest)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_fewer_leaves_are_the_beginning_of_the_same_tree(problem):
    problem = problem.but(best_first=True)
    full = problem.but(max_leaves=1000).grow()
    for t_n in range(1, min(int(full.leaves()[0]), 9) + 1):
        tree = problem.but(max_leaves=t_n).grow()
        n, made = tree.n_nodes, full.order < t_n
        assert tree.leaves().tolist() == [t_n]
        for name in ("order", "gain"):
            assert (
                getattr(tree, name).tolist() == np.where(made, getattr(full, name), 0)[:n].tolist()
            )
        assert np.isnan(tree.threshold).tolist() == (tree.left < 0).tolist()
        assert tree.value.tobytes() == full.value[:n].tobytes()
        assert (np.diff(tree.start)[tree.left < 0] == 0).all()
        begun = full.keeping((full.left >= 0) & made)
        assert (leaf_nodes(tree, problem.X, 1) == leaf_nodes(begun, problem.X, 1)).all()


def test_without_ties_the_twin_grows_the_same_tree_alone_of_best_first_kernel():
    problem = noisy(n=150, n_projections=3, max_leaves=12, min_leaf=5, n_singles=2, best_first=True)
    forest = problem.grow()
    nodes = grow_best_first(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, Stream(problem.streams()[0]), BestOpen(problem.X, problem.settings),
    )  # fmt: skip
    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.order.tolist() == [node.order for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    breadth_first = problem.but(best_first=False).grow()
    assert breadth_first.depth().max() < forest.depth().max()


def test_growth_in_many_calls_gives_the_same_tree(monkeypatch):
    problem = noisy(n=400, n_projections=3, n_singles=5, best_first=True, max_leaves=60)
    once = grow_one(*problem.growth, problem.streams()[0], True)
    monkeypatch.setattr(tree_builder, "BUDGET", NODE)
    often = grow_one(*problem.growth, problem.streams()[0], False)
    for name in ("left", "threshold", "start", "index", "coef", "value", "gain", "order"):
        assert getattr(once, name).tobytes() == getattr(often, name).tobytes()


@pytest.mark.parametrize("best_first", [False, True])
@pytest.mark.parametrize("exact_rows", [64, 10**9])
@pytest.mark.parametrize("n_thresholds", [0, 3])
def test_every_leaf_has_the_least_weight(best_first, exact_rows, n_thresholds):
    rng = np.random.default_rng(3)
    problem = noisy(
        n=600, n_projections=2, n_singles=5, best_first=best_first, exact_rows=exact_rows,
        n_thresholds=n_thresholds,
    )  # fmt: skip
    weights = rng.uniform(0.1, 2.0, 600)
    problem = type(problem)(**{**vars(problem), "weights": weights})
    free = problem.grow()
    held = problem.but(min_weight=7.5).grow()
    assert problem.settings.criterion == SQUARED_ERROR
    assert free.weight[free.is_leaf()].min() < 7.5 <= held.weight[held.is_leaf()].min()
    assert held.leaves()[0] > 20


@settings(max_examples=100, deadline=None)
@given(problems(max_rows=72))
def test_splits_are_the_best_of_those_with_enough_weight(problem):
    # of a numeric response; criteria of classes do not read the weight
    numbers = problem.but(criterion=SQUARED_ERROR, n_classes=1, min_weight=2.0)
    if numbers.settings.family == LDA:
        numbers = numbers.but(family=LEAST_SQUARES)
    grows_as_the_twin(numbers)


# ------------------------------------------------------------------------------------------------
# Scratch that has grown a tree grows the next one as new scratch does.
# ------------------------------------------------------------------------------------------------

TREES = 3
# eight predictors of four channels
CHANNELS = Patch((1, 2), (1, 1), (1, 2), channels=4)


def growth(problem, sampling, mixture):
    data = problem.X, problem.y, problem.weights, problem.feature_groups
    return *data, sampling, problem.settings.settings, mixture


def bits(arguments, streams, pool=None):
    """The trees of these streams, and where their streams end."""
    grown = []
    for stream in streams:
        state = stream.copy()
        tree = grow_one(*arguments, state, True, pool=pool)
        grown.append(([getattr(tree, name).tobytes() for name in ARRAYS], state.tolist()))
    return grown


def pool_for(problem, mixture):
    return ScratchPool(problem.feature_groups, problem.settings.settings, mixture)


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=72))
def test_used_equipment_changes_no_bit(problem):
    mixture, streams = problem.settings.mixture, problem.streams(TREES)
    for sampling in (problem.sampling, Sampling(BOOTSTRAP, 1.0), Sampling(SUBSAMPLE, 0.5)):
        arguments = growth(problem, sampling, mixture)
        used = pool_for(problem, mixture)
        assert bits(arguments, streams, used) == bits(arguments, streams)


@pytest.mark.parametrize("family", [RandomCombination(), ProjectionPursuit(), CHANNELS])
def test_used_samplers_of_other_families_change_no_bit(family):
    rng = np.random.default_rng(1)
    problem = plain(rng.random((8, 60)), rng.normal(size=60))
    mixture = Mixture((Share(Axis(), 2), Share(family, 4)))
    arguments, streams = growth(problem, problem.sampling, mixture), problem.streams(TREES)
    used = pool_for(problem, mixture)
    assert bits(arguments, streams, used) == bits(arguments, streams)


def test_trees_at_the_same_time_have_equipment_of_their_own():
    problem = noisy(n=60)
    pool = pool_for(problem, problem.settings.mixture)
    first, second = pool.take(60, 60), pool.take(60, 60)
    assert not np.shares_memory(first.scratch.values, second.scratch.values)
    pool.give_back(first)
    assert pool.take(60, 60).scratch.values is first.scratch.values


def test_equipment_for_other_numbers_of_rows_is_new():
    problem = noisy(n=60)
    pool = pool_for(problem, problem.settings.mixture)
    small = pool.take(30, 60)
    pool.give_back(small)
    large = pool.take(30, 90)
    assert len(large.scratch.values) == large.n == 90


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=72))
def test_growth_tells_the_leaf_of_each_row(problem):
    leaf = np.full(len(problem.y), -1, dtype=np.int32)
    state = problem.streams()[0]
    drawn = draw_halves(state.copy(), problem.weights, problem.sampling)[0] > 0
    tree = grow_one(*problem.growth, state, False, leaf=leaf)
    assert (leaf[drawn] == leaf_nodes(tree, problem.X, 1)[drawn, 0]).all()
    assert (leaf[~drawn] == -1).all()


def test_buffers_that_are_longer_than_a_tree_needs_keep_their_length():
    buffers = buffers_for(40, 8, 1)
    found = with_room(buffers, np.array([0, 3, 1, 8]), 4, 20)
    assert len(found.left) == 40 and len(found.column) == 16
    assert with_room(found, np.array([0, 3, 1, 8]), 4, 20) is found


# ------------------------------------------------------------------------------------------------
# For how many kinds of tables the kernel that grows trees is compiled.
# ------------------------------------------------------------------------------------------------

NUMBERS, FACTOR = np.array([PLAIN, PLAIN]), np.array([PLAIN, INDICATORS])
NO_HOLES, HOLES = np.array([False, False]), np.array([True, False])


def types_of(types, holes, n_classes, exact_rows):
    """The types of what the kernel is given that differ between tables."""
    widths = np.where(types == INDICATORS, 3, 1) + holes
    groups = feature_groups_of(np.cumsum([0, *widths]), types.astype(np.int8), holes)
    criterion = SQUARED_ERROR if n_classes == 1 else GINI
    recipe = CART._replace(n_classes=n_classes, criterion=criterion, exact_rows=exact_rows)
    groups = as_searched(groups, recipe.settings)
    scratch = scratch_for(50, 50, groups, recipe.settings, recipe.mixture)
    samplers = recipe.mixture.samplers(groups, recipe.settings, 50)
    return typeof((groups, scratch, samplers))


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_all_tables_but_plain_ones_without_exact_cuts_share_one_kernel(n_classes):
    others = [(FACTOR, NO_HOLES), (NUMBERS, HOLES), (FACTOR, HOLES)]
    shared = {types_of(*one, n_classes, exact) for one in others for exact in (0, 1000)}
    shared.add(types_of(NUMBERS, NO_HOLES, n_classes, 1000))
    plain = types_of(NUMBERS, NO_HOLES, n_classes, 0)
    assert len(shared) == 1 and plain not in shared
