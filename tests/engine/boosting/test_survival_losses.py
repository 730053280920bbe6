"""Cox's loss against its definition and differences of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.boosting.losses import LEAST_CURVATURE, Cox, LeafRows
from reference import survival_losses as twin

STEP = 1e-4
SEEDS = st.integers(0, 2**32 - 1)


def problem(seed, n=30, late=True):
    """Times with ties, events, starts and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 12, n).astype(float)
    event = rng.random(n) < 0.6
    start = np.where(rng.random(n) < 0.5, 0.0, np.floor(time * rng.random(n)))
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.choice([0.5, 1.0, 2.0], n))
    return time, event, start if late else None, weights, rng.normal(size=n)


def log_likelihood(time, event, start, weights, scores):
    begin = np.zeros(len(time)) if start is None else start
    return twin.partial_log_likelihood(time, event, begin, weights, scores)


@given(seed=SEEDS, late=st.booleans())
def test_the_loss_is_minus_the_log_partial_likelihood(seed, late):
    time, event, start, weights, scores = problem(seed, late=late)
    loss = Cox().knowing(time, event, start)
    losses = loss.losses(np.arange(30.0), scores[None, :], weights)
    expected = log_likelihood(time, event, start, weights, scores)
    assert -weights @ losses == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert not losses[~event].any()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_derivatives_are_limits_of_differences(seed, late):
    time, event, start, weights, scores = problem(seed, late=late)
    loss = Cox().knowing(time, event, start)
    first, second = loss.derivatives(np.arange(30.0), scores[None, :], weights)
    for i in np.flatnonzero(weights):
        low, here, high = (
            -log_likelihood(time, event, start, weights, scores + step * (np.arange(30) == i))
            for step in (-STEP, 0.0, STEP)
        )
        assert weights[i] * first[0, i] == pytest.approx((high - low) / (2 * STEP), abs=1e-6)
        curvature = (high - 2 * here + low) / STEP**2
        assert weights[i] * second[0, i] == pytest.approx(curvature, abs=1e-5)


@given(seed=SEEDS, late=st.booleans())
def test_a_part_of_the_rows_knows_nothing_of_the_others(seed, late):
    time, event, start, weights, scores = problem(seed, late=late)
    rng = np.random.default_rng(seed)
    some = rng.permutation(30)[:17]
    of_all = Cox().knowing(time, event, start)
    alone = Cox().knowing(time[some], event[some], None if start is None else start[some])
    given = scores[None, some], weights[some]
    one, other = of_all.losses(some.astype(float), *given), alone.losses(np.arange(17.0), *given)
    assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
    one = of_all.derivatives(some.astype(float), *given)
    other = alone.derivatives(np.arange(17.0), *given)
    counted = weights[some] > 0
    assert one.first[0, counted] == pytest.approx(other.first[0, counted], rel=1e-9, abs=1e-11)
    assert one.second[0, counted] == pytest.approx(other.second[0, counted], rel=1e-9, abs=1e-11)


def test_residuals_sum_to_zero_and_a_constant_changes_nothing():
    time, event, start, weights, scores = problem(5)
    loss, y = Cox().knowing(time, event, start), np.arange(30.0)
    here = loss.derivatives(y, scores[None, :], weights)
    assert weights @ here.first[0] == pytest.approx(0.0, abs=1e-12)
    moved = loss.derivatives(y, scores[None, :] + 1e3, weights)
    assert moved.first == pytest.approx(here.first, abs=1e-10)
    assert loss.start(y, weights, 1, scores) == 0


@pytest.mark.parametrize("size", [50.0, 700.0, 1e5, 1e200])
def test_scores_of_any_size_give_numbers(size):
    time, event, start, weights, scores = problem(6)
    loss, y = Cox().knowing(time, event, start), np.arange(30.0)
    first, second = loss.derivatives(y, size * scores[None, :], weights)
    assert np.isfinite(first).all()
    assert np.isfinite(loss.losses(y, size * scores[None, :], weights)).all()
    assert ((second >= LEAST_CURVATURE) & np.isfinite(second)).all()


def test_a_huge_risk_that_leaves_or_enters_late_spares_the_digits_of_the_others():
    time = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 2.5])
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.5])
    scores = np.array([60.0, 0.1, 0.3, -0.2, 0.0, 60.0])
    event, ones = np.ones(6, dtype=bool), np.ones(6)
    loss = Cox().knowing(time, event, start)
    losses = loss.losses(np.arange(6.0), scores[None, :], ones)
    assert losses[2] == pytest.approx(np.log(np.exp([0.3, -0.2, 0.0]).sum()) - 0.3, rel=1e-12)
    first, _ = loss.derivatives(np.arange(6.0), scores[None, :], ones)
    later = np.exp(-0.2) / np.exp([0.3, -0.2, 0.0]).sum() + 1 / (1 + np.exp(0.2)) - 1
    assert first[0, 3] == pytest.approx(later, rel=1e-12)


def test_rows_without_events_have_no_loss():
    time, event, start, weights, scores = problem(7)
    loss, rows = Cox().knowing(time, event, start), np.flatnonzero(~event)
    given = rows.astype(float), scores[None, rows], weights[rows]
    assert not loss.losses(*given).any()
    assert not loss.derivatives(*given).first.any()


def test_steps_upwards_are_shortened_to_the_optimum():
    rows = LeafRows(
        np.array([0, 0, 1, 1], dtype=np.int32), 2, np.zeros(4),
        np.array([-0.9, -0.9, 0.5, 0.5]), np.array([0.1, 0.1, 0.5, 0.5]), np.ones(4),
    )  # fmt: skip
    assert Cox().leaf_values(rows, 0.0) == pytest.approx([np.log(10.0), -1.0])
