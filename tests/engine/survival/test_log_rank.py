"""Scores of the subdistribution of one cause, and the splits that are searched on them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import CompetingRows, competing_rows
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.rows import rows_at
from odrf.engine.survival.event_ranks import event_ranks, null_residuals, subdistribution_ranks
from odrf.engine.survival.log_rank import (
    pair_sums,
    risk_sums_for,
    split_log_ranks,
    write_scores,
    write_subdistribution_scores,
)
from odrf.engine.trees.routing import leaf_nodes
from problems import plain
from reference import survival as twin
from reference.exponential import rows_of_nodes
from reference.impurity import cuts, gain
from reference.survival import cumulative_hazard
from survival_rows import SurvivalRows, grown_survival_trees, survival_rows


def observed_before(rows, at):
    """G(t-) of all rows, at each of the times."""
    everybody = rows.twin(np.arange(len(rows.cause)))
    return np.array([twin.observed(everybody, t, False) for t in at])


def ranks_of(rows):
    """Ranks for the subdistribution of cause 1; all rows are there from the beginning."""
    time, weights = rows.table.time, rows.table.weights
    times = np.unique(time[(rows.cause == 1) & (weights > 0)])
    before = observed_before(rows, time), observed_before(rows, times)
    return subdistribution_ranks(time, rows.cause, 1, times, *before)


def scores_by_definition(rows, members):
    """By the twin, of some of the rows."""
    everybody = rows.twin(np.arange(len(rows.cause)))
    return np.array(twin.subdistribution_scores(rows.twin(members), 1, everybody))


def from_the_beginning(rows):
    return rows._replace(table=rows.table._replace(start=None))


def written(rows, ranks, order, lo, m, by_rank):
    """Scores that the kernel writes, in the order of the rows."""
    n = len(order)
    moved = rows_at(
        order, np.zeros((1, n), dtype=np.float32), np.zeros(n), rows.table.weights,
        np.ones(n, dtype=np.int64), False,
    )  # fmt: skip
    sums = risk_sums_for(ranks, n)
    write_subdistribution_scores(moved, lo, m, ranks, np.empty(n, dtype=np.uint64), sums, by_rank)
    return moved.y


@pytest.mark.parametrize("by_rank", [True, False], ids=["sums over ranks", "sorting"])
@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_scores_of_a_node_are_those_of_the_twin(by_rank, rows, seed):
    rows, rng = from_the_beginning(rows), np.random.default_rng(seed)
    n = len(rows.cause)
    order, lo = rng.permutation(n), int(rng.integers(n))
    m = int(rng.integers(1, n - lo + 1))
    found = written(rows, ranks_of(rows), order, lo, m, by_rank)
    expected = scores_by_definition(rows, order[lo : lo + m])
    np.testing.assert_allclose(found[lo : lo + m], expected, atol=1e-10)
    assert (np.r_[found[:lo], found[lo + m :]] == 0).all()
    assert abs(rows.table.weights[order[lo : lo + m]] @ expected) < 1e-9


@given(rows=competing_rows(), seed=st.integers(0, 99), by_rank=st.booleans())
def test_without_censoring_a_side_has_the_numerator_of_grays_test(rows, seed, by_rank):
    """Two groups of rows none of which is censored, and both of which last to the end.

    It is also that of the log-rank test of rows that never leave by another cause.
    """
    rows, rng = from_the_beginning(rows), np.random.default_rng(seed)
    n, time = len(rows.cause), rows.table.time.copy()
    group, cause = rng.integers(0, 2, n), np.where(rows.cause == 0, 2, rows.cause)
    group[:2], cause[:2], time[:2] = [0, 1], 2, time.max() + 1
    rows = rows._replace(table=rows.table._replace(time=time), cause=cause)
    weights = rows.table.weights
    scores = written(rows, ranks_of(rows), np.arange(n), 0, n, by_rank)
    sides = [(weights * scores)[group == g].sum() for g in (0, 1)]
    of = rows.twin(np.arange(n))._replace(event=np.minimum(cause, 2).tolist())
    score, _ = twin.grays_test(of, group.tolist(), 1, [0, 1])
    np.testing.assert_allclose(sides, score, atol=1e-9)
    never = np.where(cause == 1, time, time.max() + 1)
    usual = of.of((1,))._replace(time=never.tolist())
    difference, _ = twin.log_rank(usual, group.tolist(), [0] * n)
    np.testing.assert_allclose(sides, difference, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(rows=competing_rows(most=50), seed=st.integers(0, 99), min_leaf=st.integers(1, 6))
def test_every_split_is_the_best_for_these_scores(rows, seed, min_leaf):
    """A tree of single predictors and all cuts, node by node, against all cuts of all columns."""
    rows, rng = from_the_beginning(rows), np.random.default_rng(seed)
    n, weights, ranks = len(rows.cause), rows.table.weights, ranks_of(rows)
    X = rng.integers(0, 6, (3, n)) / 5
    problem = plain(X, np.zeros(n), weights, min_leaf=min_leaf)
    if ranks.n_times == 0:
        return
    tree = TreeGrower(*problem.growth, 1, 1, ranks=ranks)(problem.streams()[0])
    members = {0: np.arange(n)}
    for i in range(tree.n_nodes):
        here = members[i]
        scores = scores_by_definition(rows, here)
        best = max(
            (
                gain(scores, weights[here], left, 0)
                for values in X[:, here]
                for left in cuts(values, np.ones(len(here), dtype=int), min_leaf, 1e-6)
            ),
            default=0.0,
        )
        found = tree.gain[i] if tree.left[i] >= 0 else 0.0
        assert found == pytest.approx(best, abs=1e-9)
        if tree.left[i] >= 0:
            span = slice(tree.start[i], tree.start[i + 1])
            goes_left = tree.coef[span] @ X[tree.index[span]][:, here] <= tree.threshold[i]
            members[tree.left[i]], members[tree.left[i] + 1] = here[goes_left], here[~goes_left]


# ------------------------------------------------------------------------------------------------
# Log-rank scores of nodes, and the splits that are searched on them.
# ------------------------------------------------------------------------------------------------


def scores_by_definition_of_node_scores(table, rows):
    """Events less cumulative hazards of these rows, one row at a time."""
    twin = table.twin(rows)
    expected = [
        cumulative_hazard(twin, twin.time[i]) - cumulative_hazard(twin, twin.start[i])
        for i in twin.numbers
    ]
    return np.array(twin.event) - np.array(expected)


@pytest.mark.parametrize("said", [0, 10**6], ids=["sums over ranks", "sorting"])
@given(table=survival_rows(), seed=st.integers(0, 99))
def test_scores_of_a_node_are_events_less_its_cumulative_hazard(said, table, seed):
    """Of a node of some of the rows: the `said` number of event times decides how."""
    n, rng = len(table.time), np.random.default_rng(seed)
    order = rng.permutation(n)
    lo = int(rng.integers(n))
    m = int(rng.integers(1, n - lo + 1))
    rows = rows_at(
        order, np.zeros((1, n), dtype=np.float32), np.zeros(n), table.weights,
        np.ones(n, dtype=np.int64), False,
    )  # fmt: skip
    ranks = table.ranks
    sums = risk_sums_for(ranks, n)
    keys = np.empty(n, dtype=np.uint64)
    write_scores(rows, lo, m, ranks._replace(n_times=said), keys, sums, 0)
    expected = scores_by_definition_of_node_scores(table, order[lo : lo + m])
    np.testing.assert_allclose(rows.y[lo : lo + m], expected, atol=1e-12)
    outside = np.r_[rows.y[:lo], rows.y[lo + m :]]
    assert (outside == 0).all()


@given(survival_rows())
def test_null_residuals_are_the_scores_of_all_rows(table):
    found = null_residuals(table.ranks, table.weights)
    expected = scores_by_definition_of_node_scores(table, np.arange(len(table.time)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert abs(table.weights @ found) < 1e-9


def test_both_ways_are_used():
    """Nodes of more rows than an eighth of the event times add up over ranks, others are sorted."""
    n = 40
    time, called = np.arange(1.0, n + 1), []
    table = SurvivalRows(time, np.ones(n, dtype=bool), np.ones(n), None)
    rows = rows_at(
        np.arange(n), np.zeros((1, n), dtype=np.float32), np.zeros(n), np.ones(n),
        np.ones(n, dtype=np.int64), False,
    )  # fmt: skip
    sums = risk_sums_for(table.ranks, n)
    sums.cumulative[:] = np.nan
    for m in (5, 6):
        write_scores(rows, 0, m, table.ranks, np.empty(n, dtype=np.uint64), sums, 0)
        called.append(bool(np.isfinite(sums.cumulative).all()))
        np.testing.assert_allclose(
            rows.y[:m], scores_by_definition_of_node_scores(table, np.arange(m))
        )
    assert called == [False, True]


@settings(max_examples=40, deadline=None)
@given(table=survival_rows(most=60), seed=st.integers(0, 99), min_leaf=st.integers(1, 6))
def test_every_split_is_the_best_for_the_scores_of_its_node(table, seed, min_leaf):
    """A tree of single predictors and all cuts, node by node, against all cuts of all columns."""
    rng = np.random.default_rng(seed)
    n = len(table.time)
    X = rng.integers(0, 6, (3, n)) / 5
    problem = plain(X, null_residuals(table.ranks, table.weights), table.weights, min_leaf=min_leaf)
    grower = TreeGrower(*problem.growth, 1, 1, ranks=table.ranks)
    tree = grower(problem.streams()[0])
    members = {0: np.arange(n)}
    for i in range(tree.n_nodes):
        rows = members[i]
        y, w = scores_by_definition_of_node_scores(table, rows), table.weights[rows]
        gains = [
            gain(y, w, left, 0)
            for values in X[:, rows]
            for left in cuts(values, np.ones(len(rows), dtype=int), min_leaf, 1e-6)
        ]
        best = max(gains, default=0.0)
        assert tree.gain[i] == pytest.approx(best if tree.left[i] >= 0 else 0.0, abs=1e-9)
        if tree.left[i] < 0:
            assert best < 1e-9
            continue
        span = slice(tree.start[i], tree.start[i + 1])
        goes_left = tree.coef[span] @ X[tree.index[span]][:, rows] <= tree.threshold[i]
        members[tree.left[i]], members[tree.left[i] + 1] = rows[goes_left], rows[~goes_left]
    leaves = leaf_nodes(tree, problem.X, 1)[:, 0]
    for leaf in np.unique(leaves):
        assert sorted(np.flatnonzero(leaves == leaf)) == sorted(members[leaf])


# ------------------------------------------------------------------------------------------------
# The log-rank statistics of splits against the twin, and against that of two groups.
# ------------------------------------------------------------------------------------------------


def sides(tree, leaf):
    """Each split, its rows, and which of these are on its left."""
    below = rows_of_nodes(tree.left, 0, leaf)
    for node in np.flatnonzero(tree.is_split()):
        rows = np.sort(below[node])
        yield node, rows, np.isin(rows, below[tree.left[node]])


def statistic(rows, on_left):
    """Of one cause, by the twin; 0 where nothing varies."""
    groups = [int(left) for left in on_left]
    difference, covariance = twin.log_rank(rows, groups, [0] * len(groups))
    if len(difference) < 2 or covariance[0, 0] < 1e-12:
        return 0.0
    return difference[0] ** 2 / covariance[0, 0]


@settings(max_examples=60, deadline=None)
@given(table=survival_rows(), seed=st.integers(0, 99), honest=st.booleans())
def test_each_split_has_the_statistic_of_its_rows(table, seed, honest):
    X, tree, draws = grown_survival_trees(table, seed, Sampling(ALL_ROWS, 1.0, honest), 1)
    leaf, weights = leaf_nodes(tree, X, 1)[:, 0], draws.filling(0) * table.weights
    found = split_log_ranks(tree.left, leaf, table.ranks, weights)
    assert (found[~tree.is_split()] == 0).all()
    for node, rows, on_left in sides(tree, leaf):
        used = weights[rows] > 0
        here = table._replace(weights=weights).twin(rows[used])
        assert found[node] == pytest.approx(statistic(here, on_left[used]), rel=1e-8, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_statistics_of_causes_are_added_up(rows, seed):
    X, tree, _ = grown_survival_trees(rows.table, seed, Sampling(ALL_ROWS, 1.0), 1)
    leaf = leaf_nodes(tree, X, 1)[:, 0]
    found = split_log_ranks(tree.left, leaf, rows.ranks, rows.table.weights)
    for node, some, on_left in sides(tree, leaf):
        causes = [rows.twin(some).of((c,)) for c in range(1, rows.n_causes + 1)]
        expected = sum(statistic(of, on_left) for of in causes)
        assert found[node] == pytest.approx(expected, rel=1e-8, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_rows_with_other_causes_stay_at_risk_of_the_subdistribution(rows, seed):
    rows = rows._replace(table=rows.table._replace(start=None))
    if not (rows.cause == 1).any():
        return
    everybody = rows.twin(np.arange(len(rows.cause)))
    time, weights = rows.table.time, rows.table.weights
    at = np.unique(time[rows.cause == 1])
    before = (np.array([twin.observed(everybody, t, False) for t in of]) for of in (time, at))
    ranks = subdistribution_ranks(time, rows.cause, 1, at, *before)
    X, tree, _ = grown_survival_trees(rows.table, seed, Sampling(ALL_ROWS, 1.0), 1)
    leaf = leaf_nodes(tree, X, 1)[:, 0]
    found = split_log_ranks(tree.left, leaf, ranks, weights)
    for node, some, on_left in sides(tree, leaf):
        of = rows.twin(some), on_left.tolist(), 1, everybody
        difference, variance = twin.subdistribution_log_rank(*of)
        expected = 0.0 if variance < 1e-12 else difference**2 / variance
        assert found[node] == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("truncated", [False, True])
def test_many_rows_have_the_statistics_of_the_test_of_two_groups(truncated):
    rng, n = np.random.default_rng(1), 800
    time, event = np.ceil(rng.exponential(300, n)) / 2, rng.random(n) < 0.7
    start = np.floor(time * rng.random(n)) if truncated else None
    if truncated:
        time += 0.5
    table = SurvivalRows(time, event, rng.integers(1, 4, n) * 1.0, start)
    X, tree, _ = grown_survival_trees(table, 1, Sampling(ALL_ROWS, 1.0), 1)
    leaf = leaf_nodes(tree, X, 1)[:, 0]
    ranks = event_ranks(time, event, start, table.event_times)
    found, compared = split_log_ranks(tree.left, leaf, ranks, table.weights), 0
    for node, rows, on_left in sides(tree, leaf):
        assert found[node] == pytest.approx(statistic(table.twin(rows), on_left), rel=1e-8)
        compared += 1
    assert compared > 20


# ------------------------------------------------------------------------------------------------
# Sums over pairs against a loop over all of them.
# ------------------------------------------------------------------------------------------------


@st.composite
def compared(draw):
    n, positions, ranks = (draw(st.integers(1, most)) for most in (12, 6, 4))

    def column(least, most):
        return np.array(draw(st.lists(st.integers(least, most), min_size=n, max_size=n)))

    first = column(0, positions)
    last = np.minimum(first + column(0, positions), positions)
    return column(-1, positions - 1), first, last, column(0, ranks - 1), column(0, 8), column(0, 8)


@given(compared())
def test_sums_are_those_of_all_pairs(given):
    at, first, last, rank, case_weight, weight = given
    n = len(at)
    cases = np.flatnonzero(at >= 0)
    others = np.flatnonzero((first < last) & (weight > 0))
    found, expected = np.zeros((2, 5, n))
    pair_sums(
        cases[np.argsort(at[cases], kind="stable")],
        others[np.argsort(first[others], kind="stable")],
        others[np.argsort(last[others], kind="stable")],
        at, first, last, rank, case_weight / 8, weight / 8,
        np.zeros(rank.max() + 2), np.zeros(rank.max() + 1), found,
    )  # fmt: skip
    for i in cases:
        for j in others:
            if first[j] <= at[i] < last[j]:
                below, same = rank[j] < rank[i], rank[j] == rank[i]
                expected[:3, i] += np.array([below, same, True]) * weight[j] / 8
                expected[3:, j] += np.array([below + same / 2, True]) * case_weight[i] / 8
    # eighths add up exactly
    np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------------------------------------------
# Scores of nodes whose events have several causes, and the splits that are searched on them.
# ------------------------------------------------------------------------------------------------


def scores_of_causes(rows, members):
    """The scores (C, m) of each cause, those of others being censored."""
    return np.array([
        scores_by_definition_of_node_scores(rows.table._replace(event=rows.cause == k + 1), members)
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
    sums = risk_sums_for(ranks, n)
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
    assert grow._builder.copied
    for stream in problem.streams(8):
        tree = grow(stream)
        leaves = np.bincount(leaf_nodes(tree, problem.X, 1)[:, 0], minlength=tree.n_nodes)
        assert (leaves == np.where(tree.left < 0, tree.count, 0)).all()
