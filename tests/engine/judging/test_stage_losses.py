"""Losses of all stages in one walk against a walk for each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine import oob as stages
from odrf.engine.oob import stage_losses
from odrf.engine.trees.routing import predict
from problems import noisy, problems
from reference import forests as twin

N_TREES = 3


def stage_case(problem, n_stages, share, seed):
    """A forest, stages at which its splits go, rows, and which trees are asked."""
    forest = problem.grow(N_TREES)
    rng = np.random.default_rng(seed)
    first = np.where(forest.is_split(), rng.integers(0, n_stages + 1, forest.n_nodes), 0)
    for node in np.flatnonzero(forest.is_split())[::-1]:
        left = forest.left[node]
        first[node] = max(first[node], first[left], first[left + 1])
    wanted = rng.random((N_TREES, len(problem.y))) < share
    return forest, first, n_stages, problem.X, problem.y, problem.weights, wanted


@settings(max_examples=60, deadline=None)
@given(
    problems(max_rows=24), st.integers(1, 6), st.sampled_from([0.4, 1.0]), st.integers(0, 99)
)  # fmt: skip
def test_losses_are_those_of_the_twin(problem, n_stages, share, seed):
    *given, wanted = case = stage_case(problem, n_stages, share, seed)
    mass, sums = stage_losses(*given, 1, wanted)
    expected_mass, expected = twin.stage_losses(*case)
    np.testing.assert_allclose(mass, expected_mass, rtol=1e-12)
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("room", [1, 7, 2**21])
def test_blocks_and_threads_of_rows_add_up(monkeypatch, room):
    problem = noisy(n=100)
    forest = problem.grow(2)
    first = np.where(forest.is_split(), 3, 0)
    monkeypatch.setattr(stages, "ROOM", room)
    rows = problem.X, problem.y, problem.weights
    mass, sums = stage_losses(forest, first, 4, *rows, 1)
    loss = (problem.y - predict(forest, problem.X, 1)[:, 0]) ** 2
    root = (problem.y - forest.value[forest.root[:-1], 0].mean()) ** 2
    assert mass.tolist() == [100, 100]
    np.testing.assert_allclose(sums[0], [loss.sum()] * 3 + [root.sum()])
    np.testing.assert_allclose(sums[2], [(loss**2).sum()] * 3 + [(root**2).sum()])
    for again in stage_losses(forest, first, 4, *rows, 1), stage_losses(forest, first, 4, *rows, 3):
        np.testing.assert_array_equal(again[1], sums)
