"""Curves of leaves, numbers of them, and their means over trees, against the formulas."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Sampling
from odrf.engine.survival.curve_numbers import (
    hazard_at,
    mortality,
    restricted_mean_at,
    survival_at,
    with_means_above,
)
from odrf.engine.survival.curves import curves_of_groups, leaf_curves, mean_curves
from odrf.engine.trees.routing import leaf_nodes
from reference.survival import cumulative_hazard, survival
from survival_rows import SurvivalRows, grown_survival_trees, survival_rows


def orders(ranks):
    return np.argsort(ranks.code, kind="stable"), np.argsort(ranks.entry, kind="stable")


@given(table=survival_rows(), seed=st.integers(0, 99))
def test_curves_of_groups_and_their_numbers(table, seed):
    rng, ranks, times = np.random.default_rng(seed), table.ranks, table.event_times
    n, R, horizon = len(table.time), ranks.n_times, float(rng.uniform(0.1, 12))
    group = rng.integers(-1, 3, n)
    curves = curves_of_groups(group, 3, table.weights, ranks, orders(ranks))
    at = int(rng.integers(R + 1))
    found = {
        "survival": survival_at(curves, at),
        "hazard": hazard_at(curves, at),
        "mortality": mortality(curves, R),
        "mean": restricted_mean_at(curves, times, horizon),
    }
    for g in range(3):
        rows = table.twin(np.flatnonzero(group == g))
        t = times[at - 1] if at > 0 else 0.0
        steps = np.unique([0.0, *times[times < horizon], horizon])
        expected = {
            "survival": survival(rows, t),
            "hazard": cumulative_hazard(rows, t),
            "mortality": sum(cumulative_hazard(rows, time) for time in times),
            "mean": sum(survival(rows, a) * (b - a) for a, b in pairwise(steps)),
        }
        for name, value in expected.items():
            assert found[name][g] == pytest.approx(value, abs=1e-10), name
        span = slice(curves.start[g], curves.start[g + 1])
        assert (np.diff(curves.rank[span]) > 0).all()
        assert (curves.hazard[span] > 0).all()


@settings(max_examples=30, deadline=None)
@given(
    table=survival_rows(),
    seed=st.integers(0, 99),
    resample=st.sampled_from([BOOTSTRAP, SUBSAMPLE]),
    honest=st.booleans(),
)
def test_curves_of_a_forest_are_those_of_the_rows_in_each_leaf(table, seed, resample, honest):
    sampling = Sampling(resample, 0.7 if resample == SUBSAMPLE else 1.0, honest)
    X, forest, draws = grown_survival_trees(table, seed, sampling)
    times = table.event_times
    curves = leaf_curves(forest, X, table.ranks, draws)
    leaves = leaf_nodes(forest, X, 1)
    grid = np.arange(len(times) + 1)
    survivals, hazards = np.empty((2, *leaves.shape, len(grid)))
    for b in range(forest.n_trees):
        counts, tree = draws.filling(b) * table.weights, forest.tree(b)
        parents = tree.parents()
        for leaf in np.unique(leaves[:, b]):
            node = leaf - forest.root[b]
            rows = below(tree, node, leaves[:, b] - forest.root[b], counts)
            while not len(rows):  # an honest leaf has the curve of the nearest node with rows
                node = parents[node]
                rows = below(tree, node, leaves[:, b] - forest.root[b], counts)
            twin = table._replace(weights=counts).twin(rows)
            here = leaves[:, b] == leaf
            survivals[here, b] = [1.0, *(survival(twin, t) for t in times)]
            hazards[here, b] = [0.0, *(cumulative_hazard(twin, t) for t in times)]
    for wanted, expected in ((True, survivals), (False, hazards)):
        found = mean_curves(forest, curves, X, grid, wanted, 1)
        np.testing.assert_allclose(found, expected.mean(axis=1), atol=1e-10)
        unseen = draws.all_unseen()
        found = mean_curves(forest, curves, X, grid, wanted, 1, unseen)
        for i in range(X.shape[1]):
            of_row = expected[i, unseen[:, i]]
            mean = of_row.mean(axis=0) if len(of_row) else np.full(len(grid), np.nan)
            np.testing.assert_allclose(found[i], mean, atol=1e-10)


def below(tree, node, leaf, counts):
    """The rows that count and end below a node."""
    inside = {int(node)}
    for i in range(tree.n_nodes):
        if i in inside and tree.left[i] >= 0:
            inside |= {int(tree.left[i]), int(tree.left[i]) + 1}
    return np.array([i for i in range(len(leaf)) if counts[i] > 0 and leaf[i] in inside], dtype=int)


def test_threads_and_groups_of_trees_change_no_bit(monkeypatch):
    rng = np.random.default_rng(1)
    time, event = rng.exponential(size=3000), rng.random(3000) < 0.6
    table = SurvivalRows(time, event, np.ones(3000), None)
    X, forest, draws = grown_survival_trees(table, 1, Sampling(BOOTSTRAP, 1.0), B=7)
    one = leaf_curves(forest, X, table.ranks, draws)
    monkeypatch.setattr("odrf.engine.survival.curves.TOGETHER", 2 * X.shape[1])
    other = leaf_curves(forest, X, table.ranks, draws._replace(n_jobs=3))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
    grid = np.arange(0, table.ranks.n_times, 7)
    means = [mean_curves(forest, one, X, grid, True, jobs) for jobs in (1, 3)]
    assert means[0].tobytes() == means[1].tobytes()


@settings(max_examples=20, deadline=None)
@given(table=survival_rows(), seed=st.integers(0, 99))
def test_nodes_above_leaves_have_the_means_of_the_leaves(table, seed):
    X, forest, draws = grown_survival_trees(table, seed, Sampling(BOOTSTRAP, 1.0))
    curves = leaf_curves(forest, X, table.ranks, draws)
    value = with_means_above(forest, survival_at(curves, 1))
    split = forest.left >= 0
    left, w = forest.left[split], forest.weight
    mean = (w[left] * value[left] + w[left + 1] * value[left + 1]) / (w[left] + w[left + 1])
    np.testing.assert_allclose(value[split], mean, atol=1e-12)
