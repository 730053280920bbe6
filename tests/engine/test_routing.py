"""Rows sent down the trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.parallel import ROWS_PER_BLOCK
from odrf.engine.routing import leaf_nodes, predict
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


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 3))
def test_training_rows_end_in_the_leaves_that_counted_them(problem, n_trees):
    forest = problem.grow(n_trees)
    reached = leaf_nodes(forest, problem.X, 1)
    for b, state in enumerate(problem.streams(n_trees)):
        counts = draw_counts(Stream(state), problem.weights, problem.sampling)
        ended = np.bincount(reached[:, b], weights=counts, minlength=forest.n_nodes)
        own = slice(forest.root[b], forest.root[b + 1])
        expected = np.where(forest.is_leaf(), forest.count, 0)
        assert ended[own].tolist() == expected[own].tolist()
        assert ended.sum() == counts.sum()


def test_each_row_of_a_fully_grown_tree_is_predicted_by_itself():
    problem = noisy(n=500, n_projections=3)
    np.testing.assert_array_equal(predict(problem.grow(), problem.X, 1)[:, 0], problem.y)


@pytest.mark.parametrize("n", [1, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 1])
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
