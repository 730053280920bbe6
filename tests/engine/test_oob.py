"""Out-of-bag results against loops over rows and trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine import oob as stages
from odrf.engine.oob import (
    out_of_bag,
    permutation_loss,
    stage_losses,
    write_out_of_bag_values,
    write_own_values,
)
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Draws, Sampling
from odrf.engine.trees.routing import predict
from problems import noisy, problems
from reference import forests as twin

N_TREES = 4


def arguments(problem, n_trees=N_TREES):
    return (
        problem.grow(n_trees),
        problem.X,
        problem.y,
        Draws(problem.weights, [problem.sampling] * n_trees, problem.streams(n_trees), 1),
    )


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=24))
def test_predictions_votes_and_error_path_are_those_of_the_twin(problem):
    forest, X, y, draws = arguments(problem)
    found = out_of_bag(forest, X, y, draws)
    value, votes, path = twin.out_of_bag(forest, X, y, *draws[:3])
    np.testing.assert_allclose(found.value, value, rtol=1e-12, atol=1e-15)
    assert found.votes.tolist() == votes.tolist()
    np.testing.assert_allclose(found.error_path, path, rtol=1e-9, atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=24))
def test_increase_of_the_loss_is_that_of_the_twin(problem):
    forest, X, y, draws = arguments(problem)
    first = problem.feature_groups.first
    found = permutation_loss(forest, X, y, first, draws)
    weights, samplings, streams = draws[:3]
    expected = twin.permutation_loss(forest, X, y, weights, first, samplings, streams)
    np.testing.assert_allclose(found.of_tree, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.of_row, expected[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.share, expected[2], rtol=1e-12)
    np.testing.assert_allclose(
        found.of_row.sum(axis=1), found.of_tree.mean(axis=0), rtol=1e-4, atol=1e-5
    )


def test_rows_that_every_tree_drew_have_no_prediction():
    problem = noisy(n=30)
    found = out_of_bag(*arguments(replace(problem, sampling=Sampling(ALL_ROWS, 1.0))))
    assert np.isnan(found.value).all()
    assert np.isnan(found.error_path).all()
    assert not found.votes.any()


def test_a_bootstrap_leaves_out_every_third_row():
    problem = replace(noisy(n=500), sampling=Sampling(BOOTSTRAP, 1.0))
    found = out_of_bag(*arguments(problem, 100))
    assert found.votes.mean() == pytest.approx(100 / np.e, rel=0.02)


def test_each_tree_has_its_own_way_of_drawing():
    problem = noisy(n=500)
    forest, X, y, draws = arguments(problem, 2)
    few, all_rows = Sampling(SUBSAMPLE, 0.3), Sampling(ALL_ROWS, 1.0)
    for samplings in ([few, all_rows], [few, few]):
        redrawn = draws._replace(samplings=samplings)
        found = out_of_bag(forest, X, y, redrawn)
        assert (found.votes > 0).sum() >= 350
        assert found.votes.sum() == 350 * samplings.count(few)
        increase = permutation_loss(forest, X, y, problem.feature_groups.first, redrawn).of_tree
        # trees without out-of-bag rows are left out
        assert increase.any(axis=1).tolist() == [True] * samplings.count(few)


def test_the_predictor_that_matters_has_the_largest_increase():
    problem = replace(noisy(n=300, n_projections=3), sampling=Sampling(BOOTSTRAP, 1.0))
    y = 3 * problem.X[2] + problem.X[4] + np.random.default_rng(1).normal(size=300) / 10
    forest, X, y, draws = arguments(replace(problem, y=y), 20)
    found = permutation_loss(forest, X, y, problem.feature_groups.first, draws)
    increase = found.of_tree.mean(axis=0)
    assert np.argsort(increase)[::-1][:2].tolist() == [2, 4]
    # E (f(X) - f(X'))² = 2 var(3·U) for a uniform predictor.
    assert increase[2] == pytest.approx(1.5, rel=0.2)


# ------------------------------------------------------------------------------------------------
# Losses of all stages in one walk against a walk for each.
# ------------------------------------------------------------------------------------------------

N_TREES_OF_STAGE_LOSSES = 3


def stage_case(problem, n_stages, share, seed):
    """A forest, stages at which its splits go, rows, and which trees are asked."""
    forest = problem.grow(N_TREES_OF_STAGE_LOSSES)
    rng = np.random.default_rng(seed)
    first = np.where(forest.is_split(), rng.integers(0, n_stages + 1, forest.n_nodes), 0)
    for node in np.flatnonzero(forest.is_split())[::-1]:
        left = forest.left[node]
        first[node] = max(first[node], first[left], first[left + 1])
    wanted = rng.random((N_TREES_OF_STAGE_LOSSES, len(problem.y))) < share
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


# ------------------------------------------------------------------------------------------------
# What trees say of rows that they did not draw, against loops over rows and trees.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of_each_row", [False, True])
@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32))
def test_values_count_where_a_tree_did_not_draw_the_row(of_each_row, m, b, K, seed):
    rng = np.random.default_rng(seed)
    table, leaves = rng.normal(size=(5, K)), rng.integers(5, size=(m, b)).astype(np.int32)
    unseen, code = rng.random((m, b)) < 0.5, rng.integers(K, size=m)
    centre, scale = rng.normal(size=(2, m if of_each_row else 1, K))
    values, own = np.full((m, b, K), np.nan), np.full((m, b), np.nan)
    cut = int(rng.integers(b + 1))
    for first, last in ((0, cut), (cut, b)):
        write_out_of_bag_values(table, leaves, unseen, centre, scale, first, last, values)
        write_own_values(table, leaves, unseen, code, first, last, own)
    for r, t in np.ndindex(m, b):
        row = r if of_each_row else 0
        said = table[leaves[r, t]]
        expected = (said - centre[row]) * scale[row] if unseen[r, t] else np.zeros(K)
        assert values[r, t].tolist() == expected.tolist()
        assert own[r, t] == (said[code[r]] if unseen[r, t] else 0.0)
