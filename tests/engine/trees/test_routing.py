"""Rows sent down the trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.running import ROWS_PER_BLOCK
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import FEW, FEWEST_ROWS, leaf_nodes, leaves_of, predict
from problems import noisy, problems
from reference.forests import leaf
from reference.forests import predict as twin_predict
from reference.randomness import Stream, draw_counts


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 3))
def test_leaves_and_predictions_are_those_of_the_twin(problem, n_trees):
    forest = problem.grow(n_trees)
    new = np.random.default_rng(problem.seed).integers(-1, 8, (len(problem.X), 12)) / 6
    for X in [problem.X, new.astype(np.float32)]:
        expected = [[leaf(forest, b, x) for b in range(n_trees)] for x in X.T]
        assert leaf_nodes(forest, X, 1).tolist() == expected
        np.testing.assert_allclose(predict(forest, X, 1), twin_predict(forest, X), rtol=1e-12)


def added_up(forest, leaves):
    """The mean of the leaves' values, added in the order of the trees."""
    total = np.zeros((len(leaves), forest.value.shape[1]))
    for b in range(forest.n_trees):
        total += forest.value[leaves[:, b]]
    return total / forest.n_trees


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(1, 12), st.integers(1, 300))
def test_many_rows_end_where_the_twin_does_bit_for_bit(problem, n_trees, n):
    forest = problem.grow(n_trees)
    X = np.random.default_rng(n).integers(-2, 9, (len(problem.X), n)).astype(np.float32) / 7
    X.flat[:: 2 * n + 1] = np.nan
    X.flat[n :: 3 * n + 1] = np.inf
    with np.errstate(invalid="ignore"):
        expected = np.array([[leaf(forest, b, x) for b in range(n_trees)] for x in X.T])
    assert (leaf_nodes(forest, X, 1) == expected).all()
    assert predict(forest, X, 2).tobytes() == added_up(forest, expected).tobytes()


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(1, 100), st.data())
def test_only_the_rows_wanted_are_sent(problem, n, data):
    forest = problem.grow(3)
    X = np.random.default_rng(n).random((len(problem.X), n), dtype=np.float32)
    wanted = np.random.default_rng(n + 1).random((3, n)) < data.draw(st.floats(0, 1))
    lo, hi = sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    block = slice(lo, hi + 1)
    every = leaf_nodes(forest, X, 1)[block].T
    assert (leaves_of(forest.packed, X, block) == every).all()
    assert (leaves_of(forest.packed, X, block, wanted) == every)[wanted[:, block]].all()


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("n", [1, FEW, FEW + 1, 3000])
def test_a_tree_as_deep_as_it_has_splits(side, n):
    depth = 2000
    step = np.arange(depth)
    # the split after each is its right child (0) or its left one, the other being a leaf
    split = np.maximum(2 * step - side, 0)
    left = np.full(2 * depth + 1, -1)
    left[split] = 2 * step + 1
    cuts = ((step if side == 0 else step[::-1]) / depth).astype(np.float32)
    threshold = np.full(len(left), np.nan, dtype=np.float32)
    threshold[split] = cuts
    zeros = np.zeros(len(left))
    forest = Forest(
        root=np.array([0, len(left)]),
        left=left,
        threshold=threshold,
        start=np.concatenate([[0], np.cumsum(left >= 0)]),
        index=np.zeros(depth, dtype=np.int64),
        coef=np.ones(depth, dtype=np.float32),
        value=zeros[:, np.newaxis],
        count=zeros, weight=zeros, impurity=zeros, gain=zeros, order=zeros,
        ordered=np.False_,
    )  # fmt: skip
    x = np.random.default_rng(n).uniform(-0.1, 1.1, n).astype(np.float32)
    goes_left = x[:, np.newaxis] <= cuts
    last = (goes_left if side == 1 else ~goes_left).sum(axis=1)
    expected = np.where(last == depth, 2 * depth - side, 2 * last + 1 + side)
    assert leaf_nodes(forest, x[np.newaxis], 1)[:, 0].tolist() == expected.tolist()


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 3))
def test_training_rows_end_in_the_leaves_that_counted_them(problem, n_trees):
    forest = problem.grow(n_trees)
    reached = leaf_nodes(forest, problem.X, 1)
    for b, state in enumerate(problem.streams(n_trees)):
        counts = draw_counts(Stream(state), problem.weights, problem.sampling)
        ended = np.bincount(reached[:, b], weights=counts, minlength=forest.n_nodes)
        nodes = slice(forest.root[b], forest.root[b + 1])
        expected = np.where(forest.is_leaf(), forest.count, 0)
        assert ended[nodes].tolist() == expected[nodes].tolist()
        assert ended.sum() == counts.sum()


def test_each_row_of_a_fully_grown_tree_is_predicted_by_itself():
    problem = noisy(n=500, n_projections=3)
    np.testing.assert_array_equal(predict(problem.grow(), problem.X, 1)[:, 0], problem.y)


@pytest.mark.parametrize("n", [1, FEWEST_ROWS, FEWEST_ROWS + 1, 2 * ROWS_PER_BLOCK + 1])
def test_blocks_of_rows_join_without_a_gap(n):
    forest = noisy(n=100, n_projections=3).grow(3)
    X = np.random.default_rng(0).random((5, n), dtype=np.float32)
    together = leaf_nodes(forest, X, 2)
    assert together.shape == (n, 3)
    some = np.unique([0, n // 2, n - 1])
    assert (together[some] == leaf_nodes(forest, np.ascontiguousarray(X[:, some]), 1)).all()
    np.testing.assert_array_equal(predict(forest, X, 2), np.mean(forest.value[together], axis=1))


def test_no_rows():
    forest = noisy(n=20).grow(2)
    assert leaf_nodes(forest, np.empty((5, 0), dtype=np.float32), 2).shape == (0, 2)
    assert predict(forest, np.empty((5, 0), dtype=np.float32), 2).shape == (0, 1)
