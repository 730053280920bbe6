"""Log-rank scores of nodes, and the splits that are searched on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.rows import rows_at
from odrf.engine.survival.event_ranks import null_residuals
from odrf.engine.survival.log_rank import risk_sums_for, write_scores
from odrf.engine.trees.routing import leaf_nodes
from problems import plain
from reference.impurity import cuts, gain
from reference.survival import cumulative_hazard
from survival_rows import SurvivalRows, survival_rows


def scores_by_definition(table, rows):
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
    sums = risk_sums_for(ranks.n_times, n, table.start is not None)
    keys = np.empty(n, dtype=np.uint64)
    write_scores(rows, lo, m, ranks._replace(n_times=said), keys, sums, 0)
    expected = scores_by_definition(table, order[lo : lo + m])
    np.testing.assert_allclose(rows.y[lo : lo + m], expected, atol=1e-12)
    outside = np.r_[rows.y[:lo], rows.y[lo + m :]]
    assert (outside == 0).all()


@given(survival_rows())
def test_null_residuals_are_the_scores_of_all_rows(table):
    found = null_residuals(table.ranks, table.weights)
    expected = scores_by_definition(table, np.arange(len(table.time)))
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
    sums = risk_sums_for(n, n, False)
    sums.cumulative[:] = np.nan
    for m in (5, 6):
        write_scores(rows, 0, m, table.ranks, np.empty(n, dtype=np.uint64), sums, 0)
        called.append(bool(np.isfinite(sums.cumulative).all()))
        np.testing.assert_allclose(rows.y[:m], scores_by_definition(table, np.arange(m)))
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
        y, w = scores_by_definition(table, rows), table.weights[rows]
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
