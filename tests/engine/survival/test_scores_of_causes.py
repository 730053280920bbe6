"""Scores of nodes whose events have several causes, and the splits that are searched on them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import CompetingRows, competing_rows
from engine.survival.test_node_scores import scores_by_definition
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.rows import rows_at
from odrf.engine.survival.event_ranks import null_residuals
from odrf.engine.survival.log_rank import risk_sums_for, write_scores
from odrf.engine.trees.routing import leaf_nodes
from problems import plain
from reference.impurity import cuts, gain
from survival_rows import SurvivalRows


def scores_of_causes(rows, members):
    """The scores (C, m) of each cause, those of others being censored."""
    return np.array([
        scores_by_definition(rows.table._replace(event=rows.cause == k + 1), members)
        for k in range(rows.n_causes)
    ])  # fmt: skip


@pytest.mark.parametrize("said", [0, 10**6], ids=["sums over ranks", "sorting"])
@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_scores_are_those_of_the_causes_added_up_with_their_signs(said, rows, seed):
    n, rng = len(rows.cause), np.random.default_rng(seed)
    order, lo = rng.permutation(n), int(rng.integers(n))
    m = int(rng.integers(1, n - lo + 1))
    moved = rows_at(
        order, np.zeros((1, n), dtype=np.float32), np.zeros(n), rows.table.weights,
        np.ones(n, dtype=np.int64), False,
    )  # fmt: skip
    ranks, keys = rows.ranks, np.empty(n, dtype=np.uint64)
    sums = risk_sums_for(ranks.n_times, n, rows.table.start is not None)
    bits = rng.integers(0, 2, 1 + rows.n_causes)
    signs = int(bits @ 2 ** np.arange(len(bits)))
    write_scores(moved, lo, m, ranks._replace(n_times=said), keys, sums, signs)
    expected = (1 - 2 * bits[1:]) @ scores_of_causes(rows, order[lo : lo + m])
    np.testing.assert_allclose(moved.y[lo : lo + m], expected, atol=1e-12)
    assert (np.r_[moved.y[:lo], moved.y[lo + m :]] == 0).all()


@settings(max_examples=40, deadline=None)
@given(rows=competing_rows(most=50), seed=st.integers(0, 99), min_leaf=st.integers(1, 6))
def test_every_split_is_the_best_for_some_signs(rows, seed, min_leaf):
    """A tree of single predictors and all cuts, node by node, against all cuts of all columns."""
    rng, n = np.random.default_rng(seed), len(rows.cause)
    X = rng.integers(0, 6, (3, n)) / 5
    weights = rows.table.weights
    problem = plain(X, null_residuals(rows.ranks, weights), weights, min_leaf=min_leaf)
    tree = TreeGrower(*problem.growth, 1, 1, ranks=rows.ranks)(problem.streams()[0])
    members, patterns = {0: np.arange(n)}, list(product([1, -1], repeat=rows.n_causes))
    for i in range(tree.n_nodes):
        here = members[i]
        scores, w = scores_of_causes(rows, here), weights[here]
        divided = [
            left
            for values in X[:, here]
            for left in cuts(values, np.ones(len(here), dtype=int), min_leaf, 1e-6)
        ]
        best = [
            max((gain(np.array(signs) @ scores, w, left, 0) for left in divided), default=0.0)
            for signs in patterns
        ]
        found = tree.gain[i] if tree.left[i] >= 0 else 0.0
        assert min(abs(found - each) for each in best) < 1e-9
        if tree.left[i] >= 0:
            span = slice(tree.start[i], tree.start[i + 1])
            goes_left = tree.coef[span] @ X[tree.index[span]][:, here] <= tree.threshold[i]
            members[tree.left[i]], members[tree.left[i] + 1] = here[goes_left], here[~goes_left]


def test_both_signs_are_drawn():
    """Two causes that a predictor pulls in opposite directions, and one that it pulls together."""
    n, rng = 400, np.random.default_rng(1)
    X = rng.integers(0, 2, (2, n)) * 1.0
    rates = np.exp(3 * X[1] + np.array([3, -3])[:, np.newaxis] * X[0])
    time = rng.exponential(1 / rates.sum(axis=0))
    cause = 1 + (rng.random(n) < rates[1] / rates.sum(axis=0))
    rows = CompetingRows(SurvivalRows(time, cause > 0, np.ones(n), None), cause, 2)
    weights = np.ones(n)
    problem = plain(X, null_residuals(rows.ranks, weights), weights, min_leaf=5, max_leaves=2)
    grow = TreeGrower(*problem.growth, 1, 1, ranks=rows.ranks)
    first = [grow(stream).index[0] for stream in problem.streams(60)]
    assert 15 < sum(first) < 45


def test_rows_with_equal_scores_in_their_parent_are_searched_in_their_own_columns():
    """Rows of one time have equal scores by equal signs, and others by the signs of their node."""
    n, rng = 24, np.random.default_rng(4)
    X = rng.random((2, n))
    cause = rng.integers(1, 3, n)
    table = SurvivalRows(np.where(X[0] > 0.35, 1.0, 2.0), np.full(n, True), np.ones(n), None)
    rows = CompetingRows(table, cause, 2)
    residuals = null_residuals(rows.ranks, table.weights)
    problem = plain(X, residuals, min_leaf=5, n_projections=4)
    grow = TreeGrower(*problem.growth, 1, 1, ranks=rows.ranks)
    assert grow._copied
    for stream in problem.streams(8):
        tree = grow(stream)
        leaves = np.bincount(leaf_nodes(tree, problem.X, 1)[:, 0], minlength=tree.n_nodes)
        assert (leaves == np.where(tree.left < 0, tree.count, 0)).all()
