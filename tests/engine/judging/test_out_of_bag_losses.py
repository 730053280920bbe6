"""Out-of-bag results against loops over rows and trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.oob import out_of_bag, permutation_loss
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Draws, Sampling
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
