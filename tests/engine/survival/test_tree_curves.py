"""Survival and incidences of each tree against the formula for the leaf that a row reaches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from odrf.engine.resamples import SUBSAMPLE, Sampling
from odrf.engine.survival.curves import (
    incidence_of_trees,
    leaf_curves,
    mean_curves,
    mean_incidences,
    survival_of_trees,
)
from odrf.engine.trees.routing import leaf_nodes
from reference.incidence import incidence
from reference.survival import survival
from survival_rows import grown_survival_trees, survival_rows


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
