"""Where levels go that a node does not have, if a factor is split alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nodes import CRITERIA, described, samples
from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, PLAIN, feature_groups_of
from odrf.engine.numeric import streams
from odrf.engine.rows import Rows
from odrf.engine.splits.factor_splits import (
    best_cut_of_levels,
    factor_of,
    level_sums_for,
    random_cut_of_levels,
)
from odrf.engine.splits.impurity import ENTROPY, GINI, SQUARED_ERROR, Node
from odrf.engine.trees.routing import leaf_nodes
from problems import cart, case_weights, indicators
from reference.absent_levels import settled
from reference.forests import direction
from reference.impurity import cuts, gain
from reference.randomness import Stream

FEW, MANY = 4, 9


def factor(n_levels):
    return feature_groups_of(np.array([0, n_levels]), np.array([INDICATORS], dtype=np.int8))


def stump(level, n_levels, y, a, K):
    """A tree of one split on a factor; rows of level -1 have none."""
    criterion = SQUARED_ERROR if K == 1 else GINI
    problem = cart(
        indicators(level, n_levels), y, factor(n_levels), a,
        criterion=criterion, n_classes=K, max_leaves=2,
    )  # fmt: skip
    return problem.grow()


def sides(tree, n_levels):
    """Whether rows of each level go left; and at last, a row without any."""
    X = np.hstack([np.eye(n_levels), np.zeros((n_levels, 1))]).astype(np.float32)
    return leaf_nodes(tree, X, 1)[:, 0] == tree.left[0]


@st.composite
def cases(draw):
    """Rows of some of the levels, clear effects, and weights."""
    n_levels, K, n = draw(st.sampled_from([FEW, MANY])), draw(st.integers(1, 4)), 60
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    present = rng.permutation(n_levels)[: draw(st.integers(2, n_levels))]
    level = rng.choice(present, n, p=rng.dirichlet(np.full(len(present), 1.0)))
    y = rng.integers(0, 3, n_levels)[level] + np.round(rng.random(n) / 2, 2)
    if K > 1:
        y = np.minimum(np.floor(y), K - 1)
    return level, n_levels, y, case_weights(n, rng), K


@settings(max_examples=300, deadline=None)
@given(cases())
def test_absent_levels_go_with_the_larger_side(case):
    level, n_levels, y, a, K = case
    tree = stump(level, n_levels, y, a, K)
    if tree.left[0] < 0:
        return
    goes = sides(tree, n_levels)
    heavier = a[goes[level]].sum() - a[~goes[level]].sum()
    has = np.isin(np.arange(n_levels), level[a > 0])
    assert goes[:-1][has].any() and not goes[:-1][has].all()
    absent = ~np.isin(np.arange(n_levels), level)
    assert (goes[:-1][absent] == goes[-1]).all()
    if abs(heavier) > 1e-9 * a.sum():
        assert goes[-1] == (heavier > 0)
    assert np.linalg.norm(tree.coef) == pytest.approx(1, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_coefficients_are_those_of_the_twin(case):
    level, n_levels, y, a, K = case
    tree = stump(level, n_levels, y, a, K)
    if tree.left[0] < 0:
        return
    columns, coefficients = direction(tree, 0)
    theta, goes = np.zeros(n_levels), sides(tree, n_levels)[:-1]
    theta[columns] = coefficients
    present = np.isin(np.arange(n_levels), level[a > 0])
    # shifted anywhere, they are what they are again
    for shift in (theta[goes & present].max() + 1e-3, theta[present & ~goes].min() - 1e-3):
        moved = np.where(present, theta - shift, 0.0)
        again, threshold = settled(moved, present, goes & present, bool(tree.threshold[0] >= 0))
        assert ((again <= threshold) == goes)[present].all()
        assert (threshold >= 0) == (tree.threshold[0] >= 0)
        step, other = np.ptp(again[present]), np.ptp(theta[present])
        np.testing.assert_allclose(
            (again[present] - again[present][0]) / step,
            (theta[present] - theta[present][0]) / other,
            atol=1e-5,
        )


def test_rows_without_a_level_stay_on_the_side_that_was_found_for_them():
    level = np.repeat([0, 1, -1], [30, 10, 8])
    y = np.repeat([0.0, 1.0, 1.0], [30, 10, 8])
    for n_levels in (FEW, MANY):
        tree = stump(level, n_levels, y, np.ones(48), 1)
        goes = sides(tree, n_levels)
        assert goes[0] and not goes[1] and not goes[-1]
        assert tree.gain[0] == pytest.approx(tree.impurity[0])


@pytest.mark.parametrize("n_levels", [FEW, MANY])
def test_a_level_whose_score_is_0_keeps_its_side(n_levels):
    """The mean of level 1 is that of the node, which has no rows of the levels from 3 on."""
    level = np.repeat([0, 1, 2], [6, 4, 24])
    y = np.concatenate([np.full(6, 2.0), [0, 1, 0, 1], np.full(24, 0.125)])
    assert y[level == 1].mean() == y.mean()
    tree = stump(level, n_levels, y, np.ones(34), 1)
    goes = sides(tree, n_levels)
    assert goes[1:].all() != goes[0] or goes[0] != goes[1]
    left = goes[level]
    assert goes[-1] == (left.sum() > 17)
    assert tree.count[tree.left[0]] == left.sum()


@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
def test_a_level_of_one_row_does_no_harm(criterion):
    """It gets a leaf; a row of a level that is absent gets the class of most rows."""
    level = np.repeat([0, 1, 2, 3], [1, 40, 40, 19])
    y = np.repeat([2.0, 0, 1, 1], [1, 40, 40, 19])
    X = np.vstack([indicators(level, 5), np.random.default_rng(1).random((1, 100))])
    groups = feature_groups_of(np.array([0, 5, 6]), np.array([INDICATORS, PLAIN], dtype=np.int8))
    tree = cart(X, y, groups, criterion=criterion, n_classes=3, max_leaves=3).grow()
    assert sorted(tree.count[tree.left < 0]) == [1, 40, 59]
    assert (tree.impurity[tree.left < 0] < 1e-12).all()
    alone = tree.index[tree.start[0] : tree.start[1]]
    assert sorted(alone) == [0, 1, 2, 3]
    absent = np.array([[0], [0], [0], [0], [1], [0.5]], dtype=np.float32)
    assert tree.value[leaf_nodes(tree, absent, 1)[0, 0]].argmax() == 1


def test_a_single_indicator_parts_a_level_from_all_others():
    """Sparse directions of one level: what is absent goes with the others, fewer or not."""
    rng = np.random.default_rng(2)
    level = rng.choice(3, 80, p=[0.8, 0.1, 0.1])
    problem = cart(
        indicators(level, FEW), (level == 0) * 1.0, factor(FEW), n_singles=0, n_sparse=3,
        density=1 / (3 * FEW), max_leaves=2,
    )  # fmt: skip
    met = [tree for tree in (replace(problem, seed=k).grow() for k in range(30)) if tree.index.size]
    assert all(tree.index.size == 1 for tree in met) and any(tree.index[0] == 0 for tree in met)
    for tree in met:
        goes, apart = sides(tree, FEW), tree.index[0]
        assert (np.delete(goes, apart) == goes[-1]).all() and goes[apart] != goes[-1]


# ------------------------------------------------------------------------------------------------
# Cuts along one factor against all cuts of its projection, by definition.
# ------------------------------------------------------------------------------------------------


@kernel
def factor_of_level_cuts(place, columns, c, size):
    """Call what only kernels can call."""
    return factor_of(place, columns, c, size, place)


class Case(NamedTuple):
    """A node whose rows have levels of factor 1, a direction along it, and its projection."""

    rows: Rows
    node: Node
    columns: NDArray[np.int64]
    theta: NDArray[np.float32]
    levels: Any
    values: NDArray[np.float32]
    weights: NDArray

    @property
    def left(self) -> NDArray | None:
        """Scratch for the classes, None where a moment is enough."""
        return None if self.node.factor > 0 else np.empty(len(self.node.value))


@st.composite
def cases_of_level_cuts(draw: st.DrawFn, criterion: int) -> Case:
    """Levels of few and of many rows, with equal coefficients among those of the direction."""
    _, y, w, counts, n_classes = draw(samples())
    n, L = len(y), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    level = rng.integers(draw(st.sampled_from([0, 1])), L + 1, n)
    size = draw(st.integers(1, L))
    chosen = rng.permutation(L)[:size]
    theta = rng.choice([-0.5, 0.0, 0.25, 1.0, 0.3], size).astype(np.float32)
    values = np.zeros(n, dtype=np.float32)
    for k, coefficient in zip(chosen, theta, strict=True):
        values[level == k + 1] = coefficient
    node = described(y, w, counts, criterion, n_classes)
    copied = draw(st.booleans())
    at = np.arange(n) if copied else rng.permutation(n)
    codes = np.zeros((2, n), dtype=np.int32)
    codes[1, at] = level
    rows = Rows(
        np.empty((1, n), dtype=np.float32), at.astype(np.int32), y, w, node.counts, copied,
        node.unit, codes, np.array([0, *[-2] * L], dtype=np.int32),
        np.arange(L + 1, dtype=np.int32), np.zeros(L + 1, dtype=np.float32),
    )  # fmt: skip
    groups = feature_groups_of(
        np.array([0, 1, 1 + L]), np.array([PLAIN, INDICATORS], dtype=np.int8)
    )
    scratch = level_sums_for(groups, len(node.value))
    return Case(rows, node, 1 + chosen[None, :], theta[None, :], scratch, values, w)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(st.data(), st.integers(1, 9))
def test_the_best_of_all_cuts_is_found(criterion, data, min_leaf):
    case = data.draw(cases_of_level_cuts(criterion))
    node, size = case.node, case.theta.shape[1]
    found, threshold = best_cut_of_levels(
        case.rows, 0, 1, node, case.columns, case.theta, 0, size, case.left, case.levels, min_leaf
    )
    all_cuts = list(cuts(case.values, node.counts, min_leaf))
    gains = [gain(node.y, case.weights, left, criterion) for left in all_cuts]
    assert found == pytest.approx(max(gains, default=0.0), abs=1e-12)
    if found > 1e-12:
        left = case.values <= threshold
        assert gain(node.y, case.weights, left, criterion) == pytest.approx(found, abs=1e-12)
    assert not case.levels.slot.any()


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32))
def test_the_best_of_the_same_random_cuts_is_found(criterion, data, n_thresholds, min_leaf, seed):
    case = data.draw(cases_of_level_cuts(criterion))
    node, values, state = case.node, case.values, streams(seed, 0, 1)[0]
    found, threshold = random_cut_of_levels(
        state, case.rows, 0, 1, node, case.columns, case.theta, 0, case.theta.shape[1], case.left,
        n_thresholds, case.levels, min_leaf,
    )  # fmt: skip
    stream, best = Stream(streams(seed, 0, 1)[0]), 0.0
    for _ in range(n_thresholds):
        drawn = np.float32(values.min() + np.float32(stream.uniform()) * np.ptp(values))
        left = values <= drawn
        if min(node.counts[left].sum(), node.counts[~left].sum()) >= min_leaf:
            best = max(best, gain(node.y, case.weights, left, criterion))
    assert state.tolist() == stream.state
    assert found == pytest.approx(best, abs=1e-12)
    if found > 1e-12:
        left = values <= threshold
        assert gain(node.y, case.weights, left, criterion) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [([1, 2], 0), ([3], 1), ([0], -1), ([1, 3], -1), ([1, 0, 2], -1), ([], -1)],
)
def test_a_direction_is_along_a_factor_if_all_its_columns_are(columns, expected):
    place = np.array([0, -1, -1, -2], dtype=np.int32)
    padded = np.array([[*columns, 0]], dtype=np.int64)
    assert factor_of_level_cuts(place, padded, 0, len(columns)) == expected
    assert factor_of_level_cuts(place[:0], padded, 0, len(columns)) == -1
