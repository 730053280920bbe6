"""The log-rank statistics of splits against the twin, and against that of two groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.survival.event_ranks import event_ranks, subdistribution_ranks
from odrf.engine.survival.log_rank import split_log_ranks
from odrf.engine.trees.routing import leaf_nodes
from reference import survival as twin
from reference.exponential import rows_of_nodes
from survival_rows import SurvivalRows, grown_survival_trees, survival_rows


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
    found = split_log_ranks(tree, leaf, table.ranks, weights)
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
    found = split_log_ranks(tree, leaf, rows.ranks, rows.table.weights)
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
    found = split_log_ranks(tree, leaf, ranks, weights)
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
    found, compared = split_log_ranks(tree, leaf, ranks, table.weights), 0
    for node, rows, on_left in sides(tree, leaf):
        assert found[node] == pytest.approx(statistic(table.twin(rows), on_left), rel=1e-8)
        compared += 1
    assert compared > 20
