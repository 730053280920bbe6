"""Curves of leaves, numbers of them, and their means over trees, against the formulas."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Sampling
from odrf.engine.survival.curve_numbers import (
    hazard_at,
    incidence_at,
    mortality,
    quantile_at,
    restricted_mean_at,
    survival_at,
    time_lost_at,
    with_means_above,
)
from odrf.engine.survival.curves import (
    curves_of_groups,
    incidence_of_trees,
    leaf_curves,
    mean_curves,
    mean_incidences,
    node_curves,
    survival_of_trees,
)
from odrf.engine.survival.likelihoods import (
    ExtremeValueError,
    LogisticError,
    NormalError,
)
from odrf.engine.trees.routing import leaf_nodes
from reference.incidence import incidence, time_lost
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


# ------------------------------------------------------------------------------------------------
# Survival and incidences of each tree against the formula for the leaf that a row reaches.
# ------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(table=survival_rows(), seed=st.integers(0, 99))
def test_survival_of_trees(table, seed):
    X, forest, draws = grown_survival_trees(table, seed, Sampling(SUBSAMPLE, 0.6))
    curves = leaf_curves(forest, X, table.ranks, draws)
    times, rng = table.event_times, np.random.default_rng(seed)
    grid = np.unique(rng.integers(0, len(times) + 1, 3))
    n, B = X.shape[1], forest.n_trees
    wanted = rng.random((B, n)) < 0.8
    block = slice(1, n)
    found = survival_of_trees(forest, curves, X, grid, block, wanted)
    assert found.shape == (B, n - 1, len(grid))
    leaves = leaf_nodes(forest, X, 1)
    for b in range(B):
        counts = draws.filling(b) * draws.weights
        for i in range(1, n):
            if not wanted[b, i]:
                assert (found[b, i - 1] == 0).all()
                continue
            inside = np.flatnonzero((leaves[:, b] == leaves[i, b]) & (counts > 0))
            if len(inside) == 0:
                continue  # a leaf without rows has the curve of a node above
            rows = table.twin(inside)
            rows = rows._replace(weights=counts[inside].tolist())
            for g, rank in enumerate(grid):
                t = times[rank - 1] if rank > 0 else 0.0
                assert found[b, i - 1, g] == pytest.approx(survival(rows, t), abs=1e-12)
    means = mean_curves(forest, curves, X, grid, True, 1)
    every = survival_of_trees(forest, curves, X, grid, slice(0, n))
    np.testing.assert_allclose(every.mean(axis=0), means, rtol=1e-12, atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(rows=competing_rows(), seed=st.integers(0, 99))
def test_incidence_of_trees(rows, seed):
    X, forest, draws = grown_survival_trees(rows.table, seed, Sampling(SUBSAMPLE, 0.6))
    curves = leaf_curves(forest, X, rows.ranks, draws)
    times, rng = rows.table.event_times, np.random.default_rng(seed)
    grid = np.unique(rng.integers(0, len(times) + 1, 3))
    n, B = X.shape[1], forest.n_trees
    wanted = rng.random((B, n)) < 0.8
    cause = int(rng.integers(rows.n_causes))
    found = incidence_of_trees(forest, curves, X, grid, cause, slice(1, n), wanted)
    leaves = leaf_nodes(forest, X, 1)
    for b in range(B):
        counts = draws.filling(b) * draws.weights
        for i in range(1, n):
            if not wanted[b, i]:
                assert (found[b, i - 1] == 0).all()
                continue
            inside = np.flatnonzero((leaves[:, b] == leaves[i, b]) & (counts > 0))
            if len(inside) == 0:
                continue  # a leaf without rows has the curve of a node above
            twin = rows.twin(inside)._replace(weights=counts[inside].tolist())
            for g, rank in enumerate(grid):
                t = times[rank - 1] if rank > 0 else 0.0
                expected = incidence(twin, cause + 1, t)
                assert found[b, i - 1, g] == pytest.approx(expected, abs=1e-12)
    means = mean_incidences(forest, curves, X, grid, np.array([cause]), 1)[:, 0]
    every = incidence_of_trees(forest, curves, X, grid, cause, slice(0, n))
    np.testing.assert_allclose(every.mean(axis=0), means, rtol=1e-12, atol=1e-14)


# ------------------------------------------------------------------------------------------------
# Curves of all nodes of a tree, and the times by which shares of them had the event.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# Incidences of causes in leaves, numbers of them, and their means, against the formulas.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# Laws of errors: slopes and curvatures against differences of logarithms.
# ------------------------------------------------------------------------------------------------


LAWS = {
    "lognormal": NormalError(),
    "loglogistic": LogisticError(),
    "weibull": ExtremeValueError(),
}


@pytest.mark.parametrize("name", LAWS)
@given(z=st.floats(-12, 12))
def test_slopes_and_curvatures_are_those_of_the_logarithms(name, z):
    law = LAWS[name]
    at, step = np.array([z]), 1e-4
    density = [law.log_density(at + d)[0] for d in (-step, 0, step)]
    survival = [law.log_survival(at + d)[0] for d in (-step, 0, step)]
    size = 1 + np.exp(z) * (name == "weibull")
    assert law.pull(at)[0] == pytest.approx((density[0] - density[2]) / (2 * step), abs=1e-6 * size)
    slope = (survival[0] - survival[2]) / (2 * step)
    assert law.hazard(at)[0] == pytest.approx(slope, abs=1e-6 * size)
    bent = (2 * density[1] - density[0] - density[2]) / step**2
    assert law.event_curvature(at)[0] >= bent - 1e-5 * size
    bent = (2 * survival[1] - survival[0] - survival[2]) / step**2
    assert law.censored_curvature(at)[0] >= bent - 1e-5 * size


@pytest.mark.parametrize("name", LAWS)
def test_far_errors_give_numbers(name):
    law = LAWS[name]
    z = np.array([-1e6, -40.0, 0.0, 40.0, 1e6])
    terms = (law.log_density, law.pull, law.event_curvature, law.log_survival, law.hazard,
             law.censored_curvature)  # fmt: skip
    for term in terms:
        assert np.isfinite(term(z)).all()


def test_of_widely_spread_normal_errors_the_partial_mean_is_a_number():
    found = NormalError().partial_mean(np.array([-1e4, 0.0]), 40.0)
    # exp(40²/2) is beyond the range of floats; Φ(-40) is φ(40)/40 (1 - 1/40² + 3/40⁴ - …)
    expected = (1 - 1 / 40**2 + 3 / 40**4) / (40 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(found, [0.0, expected], rtol=1e-8)
