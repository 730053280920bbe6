"""Intervals from out-of-bag residuals against their definition, and what they cover."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from odrf.engine.oob import out_of_bag
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE
from odrf.statistics.conformal import (
    calibrating,
    fewest_rows,
    jackknife_plus,
    leave_one_out,
    upper_bounds,
)
from reference import inference as twin
from resampled import forests


@settings(max_examples=60, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.sampled_from(["0.5", "0.8", "0.9"]))
def test_ends_are_those_of_the_definition(grown, level):
    problem = grown.problem
    unseen = grown.draws(2).all_unseen()
    rows = calibrating(unseen, problem.weights)
    assume(len(rows))
    value = out_of_bag(grown.forest, problem.X, problem.y, grown.draws()).value[:, 0]
    given = (
        grown.forest, grown.new, unseen[:, rows], np.abs(problem.y - value)[rows],
        problem.weights[rows], float(level),
    )  # fmt: skip
    ends = np.array(jackknife_plus(*given, n_jobs=1))
    assert np.array_equal(ends, np.array(jackknife_plus(*given, n_jobs=2)))
    counts = twin.draws(*grown.draws()[:3])
    for x, found in zip(grown.new.T, ends.T, strict=True):
        by_definition = twin.conformal(
            grown.forest, counts, problem.X, problem.y, problem.weights, x, Fraction(level)
        )
        np.testing.assert_allclose(found, by_definition, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.sampled_from(["0.5", "0.8", "0.9"]))
def test_ends_for_training_rows_are_those_of_a_forest_without_the_row(grown, level):
    problem, draws = grown.problem, grown.draws()
    unseen = draws.all_unseen()
    rows = calibrating(unseen, problem.weights)
    assume(len(rows))
    given = (
        grown.forest, problem.X, problem.y, problem.weights, unseen, rows, float(level),
    )  # fmt: skip
    ends = np.array(leave_one_out(*given, n_jobs=1))
    assert np.array_equal(ends, np.array(leave_one_out(*given, n_jobs=2)), equal_nan=True)
    counts = twin.draws(*draws[:3])
    for i, found in enumerate(ends.T):
        by_definition = twin.conformal_of_training_row(
            grown.forest, counts, problem.X, problem.y, problem.weights, i, Fraction(level)
        )
        np.testing.assert_allclose(found, by_definition, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 99), st.integers(0, 99))
@example(24, 28, 0)  # .28 × 25 is a little more than 7
def test_bounds_are_order_statistics_rounded_up(m, percent, seed):
    values = np.random.default_rng(seed).permutation(m)[None].astype(float)
    k = -(-(m + 1) * percent // 100)
    wanted = k - 1 if k <= m else np.inf
    for weights in (np.ones(m), np.full(m, 0.3)):
        assert upper_bounds(values, weights, percent / 100)[0] == wanted
    assert (m >= fewest_rows(percent / 100)) == (k <= m)


def test_a_weight_of_three_is_three_rows_but_for_the_new_one():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=(4, 300)), rng.integers(1, 4, 300)
    tripled = np.repeat(values, weights, axis=1)
    weighted = upper_bounds(values, weights.astype(float), 0.9)
    np.testing.assert_allclose(
        weighted, upper_bounds(tripled, np.ones(weights.sum()), 0.9), atol=0.1
    )


def test_very_many_rows_are_thinned_out_evenly():
    unseen, weights = np.ones((2, 50_000), dtype=bool), np.ones(50_000)
    unseen[:, :10_000], weights[-10_000:] = False, 0.0
    rows = calibrating(unseen, weights)
    assert len(rows) == 10_000
    assert (rows[0], rows[-1]) == (10_000, 39_999)
    assert np.diff(rows).min() >= 2


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_the_next_of_exchangeable_values_is_covered(level):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(4000, 40))
    bounds = upper_bounds(values[:, 1:], np.ones(39), level)
    assert np.mean(values[:, 0] <= bounds) == pytest.approx(level, abs=0.02)
