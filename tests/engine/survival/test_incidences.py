"""Incidences of causes in leaves, numbers of them, and their means, against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from engine.survival.test_leaf_curves import below, orders
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Sampling
from odrf.engine.survival.curve_numbers import (
    incidence_at,
    restricted_mean_at,
    survival_at,
    time_lost_at,
)
from odrf.engine.survival.curves import curves_of_groups, leaf_curves, mean_curves, mean_incidences
from odrf.engine.trees.routing import leaf_nodes
from reference.incidence import incidence, time_lost
from survival_rows import grown_survival_trees, survival_rows


@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_incidences_of_groups_and_their_numbers(rows, seed):
    rng, ranks, times = np.random.default_rng(seed), rows.ranks, rows.table.event_times
    group = rng.integers(-1, 3, len(rows.cause))
    at, horizon = int(rng.integers(len(times) + 1)), float(rng.uniform(0.1, 12))
    curves = curves_of_groups(group, 3, rows.table.weights, ranks, orders(ranks))
    np.testing.assert_allclose(curves.of_cause.sum(axis=1), curves.hazard, atol=1e-12)
    sums = np.zeros((2, 3))
    for k in range(rows.n_causes):
        shares = incidence_at(curves, k, at)
        lost = time_lost_at(curves, k, times, horizon)
        sums += shares, lost
        for g in range(3):
            twin = rows.twin(np.flatnonzero(group == g))
            t = times[at - 1] if at > 0 else 0.0
            assert shares[g] == pytest.approx(incidence(twin, k + 1, t), abs=1e-10)
            assert lost[g] == pytest.approx(time_lost(twin, k + 1, horizon), abs=1e-10)
    np.testing.assert_allclose(sums[0], 1 - survival_at(curves, at), atol=1e-12)
    rest = horizon - restricted_mean_at(curves, times, horizon)
    np.testing.assert_allclose(sums[1], rest, atol=1e-12)


@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_causes_change_no_bit_of_what_holds_for_all_of_them(rows, seed):
    group = np.random.default_rng(seed).integers(-1, 3, len(rows.cause))
    several, one = rows.ranks, rows.table.ranks
    found = curves_of_groups(group, 3, rows.table.weights, several, orders(several))
    alone = curves_of_groups(group, 3, rows.table.weights, one, orders(one))
    assert alone.of_cause.size == 0
    for a, b in zip(found[:3], alone[:3], strict=True):
        assert a.tobytes() == b.tobytes()


@given(table=survival_rows(), seed=st.integers(0, 99))
def test_the_incidence_of_the_only_cause_is_that_of_no_survival(table, seed):
    group = np.random.default_rng(seed).integers(-1, 3, len(table.time))
    curves = curves_of_groups(group, 3, table.weights, table.ranks, orders(table.ranks))
    for at in range(table.ranks.n_times + 1):
        found = incidence_at(curves, 0, at)
        np.testing.assert_allclose(found, 1 - survival_at(curves, at), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    rows=competing_rows(),
    seed=st.integers(0, 99),
    resample=st.sampled_from([BOOTSTRAP, SUBSAMPLE]),
    honest=st.booleans(),
)
def test_incidences_of_a_forest_are_those_of_the_rows_in_each_leaf(rows, seed, resample, honest):
    sampling = Sampling(resample, 0.7 if resample == SUBSAMPLE else 1.0, honest)
    X, forest, draws = grown_survival_trees(rows.table, seed, sampling)
    times = rows.table.event_times
    curves = leaf_curves(forest, X, rows.ranks, draws)
    leaves, grid = leaf_nodes(forest, X, 1), np.arange(len(times) + 1)
    causes = np.random.default_rng(seed).permutation(rows.n_causes)
    expected = np.zeros((*leaves.shape, len(causes), len(grid)))
    for b in range(forest.n_trees):
        counts, tree = draws.filling(b) * rows.table.weights, forest.tree(b)
        parents, here = tree.parents(), leaves[:, b] - forest.root[b]
        for leaf in np.unique(here):
            node = leaf
            members = below(tree, node, here, counts)
            while not len(members):  # an honest leaf has the curves of the nearest node with rows
                node = parents[node]
                members = below(tree, node, here, counts)
            weighted = rows._replace(table=rows.table._replace(weights=counts)).twin(members)
            for k, cause in enumerate(causes):
                curve = [incidence(weighted, cause + 1, t) for t in times]
                expected[here == leaf, b, k, 1:] = curve
    found = mean_incidences(forest, curves, X, grid, causes, 1)
    np.testing.assert_allclose(found, expected.mean(axis=1), atol=1e-10)
    survival = mean_curves(forest, curves, X, grid, True, 1)
    np.testing.assert_allclose(found.sum(axis=1) + survival, 1.0, atol=1e-10)
    unseen = draws.all_unseen()
    found = mean_incidences(forest, curves, X, grid, causes, 1, unseen)
    for i in range(X.shape[1]):
        of_row = expected[i, unseen[:, i]]
        mean = of_row.mean(axis=0) if len(of_row) else np.full(of_row.shape[1:], np.nan)
        np.testing.assert_allclose(found[i], mean, atol=1e-10)


@settings(max_examples=10, deadline=None)
@given(rows=competing_rows(most=60))
def test_threads_change_no_bit(rows):
    X, forest, draws = grown_survival_trees(rows.table, 1, Sampling(BOOTSTRAP, 1.0))
    curves = leaf_curves(forest, X, rows.ranks, draws)
    again = leaf_curves(forest, X, rows.ranks, draws._replace(n_jobs=3))
    assert curves.of_cause.tobytes() == again.of_cause.tobytes()
    grid, causes = np.arange(rows.ranks.n_times + 1), np.arange(rows.n_causes)
    found = [mean_incidences(forest, curves, X, grid, causes, jobs) for jobs in (1, 3)]
    assert found[0].tobytes() == found[1].tobytes()
