"""Scores of the subdistribution of one cause, and the splits that are searched on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.rows import rows_at
from odrf.engine.survival.event_ranks import subdistribution_ranks
from odrf.engine.survival.log_rank import risk_sums_for, write_subdistribution_scores
from problems import plain
from reference import survival as twin
from reference.impurity import cuts, gain


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
    sums = risk_sums_for(ranks.n_times, n, False, True)
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
