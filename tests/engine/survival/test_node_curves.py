"""Curves of all nodes of a tree, and the times by which shares of them had the event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.survival.curve_numbers import quantile_at
from odrf.engine.survival.curves import leaf_curves, node_curves
from odrf.engine.trees.routing import leaf_nodes
from reference.survival import survival
from survival_rows import grown_survival_trees, survival_rows


def rows_of_node(tree, node, leaf, counts):
    """Rows that count below a node; if there are none, those of the nearest above with some."""
    parents = tree.parents()
    while True:
        below = {node}
        for i in range(tree.n_nodes):
            if parents[i] in below:
                below.add(i)
        rows = [i for i in range(len(leaf)) if leaf[i] in below and counts[i] > 0]
        if rows:
            return rows
        node = parents[node]


@settings(max_examples=40, deadline=None)
@given(table=survival_rows(), seed=st.integers(0, 99), honest=st.booleans())
def test_every_node_has_the_curve_of_its_rows(table, seed, honest):
    X, tree, draws = grown_survival_trees(table, seed, Sampling(ALL_ROWS, 1.0, honest), 1)
    curves = node_curves(tree, X, table.ranks, draws)
    leaf, counts = leaf_nodes(tree, X, 1)[:, 0], draws.filling(0) * table.weights
    share = float(np.random.default_rng(seed).uniform(0.05, 0.95))
    times = quantile_at(curves, table.event_times, share)
    for node in range(tree.n_nodes):
        twin = table._replace(weights=counts).twin(rows_of_node(tree, node, leaf, counts))
        span = slice(curves.start[node], curves.start[node + 1])
        expected = [survival(twin, t) for t in table.event_times]
        steps = np.ones(len(table.event_times))
        steps[curves.rank[span] - 1] -= curves.hazard[span]
        np.testing.assert_allclose(np.cumprod(steps), expected, atol=1e-10)
        reached = [t for t, s in zip(table.event_times, expected, strict=True) if s <= 1 - share]
        assert times[node] == pytest.approx(min(reached, default=np.inf))


@settings(max_examples=20, deadline=None)
@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_leaves_have_the_same_curves_as_in_a_forest(rows, seed):
    X, tree, draws = grown_survival_trees(rows.table, seed, Sampling(ALL_ROWS, 1.0), 1)
    of_nodes = node_curves(tree, X, rows.ranks, draws)
    of_leaves = leaf_curves(tree, X, rows.ranks, draws)
    for leaf in np.flatnonzero(tree.left < 0):
        spans = [slice(each.start[leaf], each.start[leaf + 1]) for each in (of_nodes, of_leaves)]
        assert (of_nodes.rank[spans[0]] == of_leaves.rank[spans[1]]).all()
        assert (of_nodes.hazard[spans[0]] == of_leaves.hazard[spans[1]]).all()
        assert (of_nodes.by_cause[spans[0]] == of_leaves.by_cause[spans[1]]).all()
