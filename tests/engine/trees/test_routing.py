"""Rows sent down the trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from odrf.design.missing import LARGEST
from odrf.design.scaling import FARTHEST, Scaling
from odrf.engine.running import ROWS_PER_BLOCK
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.packing import pack
from odrf.engine.trees.routing import (
    FEW,
    FEWEST_ROWS,
    leaf_nodes,
    leaves_of,
    predict,
    predict_row,
    scale_row,
    walk,
)
from problems import noisy, problems
from reference.forests import leaf
from reference.forests import predict as twin_predict
from reference.randomness import Stream, draw_counts
from reference.walking import end, records


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


# ------------------------------------------------------------------------------------------------
# One row alone, against the same row among others.
# ------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 4), st.data())
def test_a_row_alone_gets_the_same_bits(problem, n_trees, data):
    forest = problem.grow(n_trees)
    kept = data.draw(st.lists(st.booleans(), min_size=forest.n_nodes, max_size=forest.n_nodes))
    for trees in [forest, forest.keeping(np.array(kept)), forest.keeping(forest.order < 0)]:
        found = [predict_row(trees.packed, trees.value, x.copy()) for x in problem.X.T]
        assert np.array(found).tobytes() == predict(trees, problem.X, 1).tobytes()
        np.testing.assert_allclose(found, twin_predict(trees, problem.X), rtol=1e-12)


@pytest.mark.parametrize("n_trees", [1, 300])
def test_few_trees_and_many(n_trees):
    problem = noisy(n=60, n_projections=2)
    forest = problem.grow(n_trees)
    expected = predict(forest, problem.X, 1)
    for i in [0, 59]:
        found = predict_row(forest.packed, forest.value, np.ascontiguousarray(problem.X[:, i]))
        assert found.tobytes() == expected[i].tobytes()


def scaled(raw, mixture, level, low, width):
    """The scaled columns, and whether all are finite."""
    x = np.empty(len(mixture), dtype=np.float32)
    columns = np.array(mixture, np.int32), np.array(level, np.int32)
    fine = scale_row(
        np.array(raw, float), *columns, np.array(low, float), np.array(width, float), LARGEST,
        FARTHEST, x,
    )  # fmt: skip
    return x, fine


numbers = st.floats(-1e300, 1e300)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(numbers, numbers, st.floats(0, 1e300)), min_size=1, max_size=6))
def test_numbers_are_scaled_as_many_rows_are(columns):
    raw, low, width = map(list, zip(*columns, strict=True))
    x, fine = scaled(raw, range(len(raw)), [-1] * len(raw), low, width)
    assert fine
    with np.errstate(over="ignore"):
        expected = Scaling(np.array(low), np.array(width), np.zeros(len(low), dtype=bool)).apply(
            np.array(raw)[:, np.newaxis]
        )
    assert x.tobytes() == expected[:, 0].tobytes()


def test_indicators_mark_their_level():
    x, fine = scaled([0.5, 2.0], [0, 1, 1, 1], [-1, 0, 1, 2], [0, 0, 0, 0], [1, 1, 1, 0])
    assert fine
    # the last level's column was constant in training
    assert x.tolist() == [0.5, 0, 0, 0]
    assert scaled([0.5, 1.0], [0, 1, 1], [-1, 0, 1], [0, 0, 0], [1, 1, 1])[0].tolist() == [
        0.5,
        0,
        1,
    ]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e301])
@pytest.mark.parametrize("width", [0.0, 1.0])
def test_what_is_not_finite_is_told(value, width):
    assert not scaled([1.0, value], [0, 1], [-1, -1], [0, 0], [1, width])[1]


# ------------------------------------------------------------------------------------------------
# Walkers end where each alone would.
# ------------------------------------------------------------------------------------------------


@njit
def walked(rows, stride, walkers, starts, words, floats, leaves):
    n = np.uint64(len(walkers))
    walk(rows, np.uint64(stride), walkers, starts, n, words, floats, None, None, leaves)


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans(), st.data())
def test_walkers_end_where_the_twin_does(problem, one_row, data):
    packed = problem.grow(3).packed
    places = [place for root in packed.root.tolist() for place in records(packed, root)]
    if not places:
        return
    p, n = problem.X.shape
    starts = data.draw(st.lists(st.sampled_from(places), min_size=n, max_size=n))
    walkers = data.draw(st.permutations(range(n)))
    rows = np.ascontiguousarray(problem.X.T)
    leaves = np.full(n, -1, dtype=np.int32)
    walked(
        rows.ravel(), 0 if one_row else p, np.array(walkers, np.uint32),
        np.array(starts, np.uint64), packed.words, packed.floats, leaves,
    )  # fmt: skip
    for walker, place in zip(walkers, starts, strict=True):
        assert leaves[walker] == end(packed, place, rows[0 if one_row else walker])


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.integers(0, 2**32 - 1))
def test_records_of_any_number_of_terms(n_terms, seed):
    """A root with two splits as its children; the last record ends where the array does."""
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(n_terms), np.full(4, sum(n_terms))])
    packed = pack(
        np.array([0, 7]),
        np.array([1, 3, 5, -1, -1, -1, -1]),
        rng.normal(size=7).astype(np.float32),
        start,
        rng.integers(0, 4, start[-1]),
        rng.normal(size=start[-1]).astype(np.float32),
    )
    rows = rng.normal(size=(20, 4)).astype(np.float32)
    leaves = np.full(20, -1, dtype=np.int32)
    walked(
        rows.ravel(), 4, np.arange(20, dtype=np.uint32), np.zeros(20, np.uint64), packed.words,
        packed.floats, leaves,
    )  # fmt: skip
    assert leaves.tolist() == [end(packed, 0, row) for row in rows]


def test_nobody_walks():
    none = np.empty(0, dtype=np.float32)
    leaves = np.array([7], dtype=np.int32)
    walked(
        none, 0, np.empty(0, np.uint32), np.empty(0, np.uint64), none.view(np.int32), none, leaves
    )
    assert leaves[0] == 7
