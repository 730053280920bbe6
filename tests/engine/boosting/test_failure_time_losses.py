"""Losses of accelerated failure times against their definitions and differences of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from odrf.engine.boosting.losses import LOSSES
from reference import survival_losses as twin

NAMES = ["lognormal", "loglogistic", "weibull"]
STEP = 1e-4
SEEDS = st.integers(0, 2**32 - 1)


def problem(seed, n=40, late=True):
    """Times, events, starts, whole weights, some of them 0, and scores."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    time = np.exp(scores + rng.normal(size=n))
    event = rng.random(n) < 0.6
    start = np.where(rng.random(n) < 0.5, 0.0, time * rng.random(n))
    return time, event, start if late else None, rng.integers(0, 4, n).astype(float), scores


def losses_at(name, rows, scores, scale):
    time, event, start = rows
    start = np.zeros(len(time)) if start is None else start
    return np.array([
        twin.failure_time_loss(name, *row, scale)
        for row in zip(time, event, start, scores, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@given(seed=SEEDS, late=st.booleans())
def test_losses_are_minus_log_likelihoods_at_the_best_scale(name, seed, late):
    *rows, weights, scores = problem(seed, late=late)
    loss, y = LOSSES[name]().knowing(*rows), np.arange(40.0)
    scale = loss.scale(y, scores[None, :], weights)
    found = loss.losses(y, scores[None, :], weights)
    assert found == pytest.approx(losses_at(name, rows, scores, scale), rel=1e-9, abs=1e-9)
    for factor in (0.99, 1.01):
        other = losses_at(name, rows, scores, factor * scale)
        assert weights @ found <= weights @ other


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("late", [False, True])
def test_derivatives_are_limits_of_differences(name, late):
    *rows, weights, scores = problem(1, late=late)
    loss, y = LOSSES[name]().knowing(*rows), np.arange(40.0)
    scale = loss.scale(y, scores[None, :], weights)
    first, second = loss.derivatives(y, scores[None, :], weights)
    low, here, high = (losses_at(name, rows, scores + step, scale) for step in (-STEP, 0, STEP))
    assert first[0] == pytest.approx((high - low) / (2 * STEP), abs=1e-6)
    exact = (high - 2 * here + low) / STEP**2
    assert (second[0] >= exact - 1e-5).all()
    if name == "lognormal" and not late:
        assert second[0] == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_newton_steps_of_events_lead_to_their_times(name):
    time, event, _, weights, scores = problem(2)
    loss, y = LOSSES[name]().knowing(time, event, None), np.arange(40.0)
    first, second = loss.derivatives(y, scores[None, :], weights)
    aim = scores - first[0] / second[0]
    near = event & ((name != "weibull") | (np.log(time) < scores))
    assert near.sum() > 5
    assert aim[near] == pytest.approx(np.log(time)[near], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0.0, 1.0])
def test_boosting_starts_where_a_constant_loses_least(name, size):
    *rows, weights, scores = problem(3)
    loss, y, offset = LOSSES[name]().knowing(*rows), np.arange(40.0), size * scores

    def total(at):
        return weights @ losses_at(name, rows, at[0] + offset, np.exp(at[1]))

    best = minimize(total, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9}).fun
    (start,) = loss.start(y, weights, 1, offset)
    found = weights @ loss.losses(y, start + offset[None, :], weights)
    assert found == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_the_rows_knows_nothing_of_the_others(name):
    time, event, start, weights, scores = problem(4)
    some = np.random.default_rng(4).permutation(40)[:20]
    of_all = LOSSES[name]().knowing(time, event, start)
    alone = LOSSES[name]().knowing(time[some], event[some], start[some])
    given = scores[None, some], weights[some]
    one, other = of_all.losses(some.astype(float), *given), alone.losses(np.arange(20.0), *given)
    assert (one == other).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [30.0, 1e4])
def test_scores_far_away_give_numbers(name, size):
    *rows, weights, scores = problem(5)
    loss, y = LOSSES[name]().knowing(*rows), np.arange(40.0)
    first, second = loss.derivatives(y, size * scores[None, :], weights)
    assert np.isfinite(first).all()
    assert ((second > 0) & np.isfinite(second)).all()
    assert np.isfinite(loss.losses(y, size * scores[None, :], weights)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_fit_has_the_least_scale(name):
    time, _, _, weights, _ = problem(6)
    loss, y = LOSSES[name]().knowing(time, np.ones(40, dtype=bool), None), np.arange(40.0)
    assert loss.scale(y, np.log(time)[None, :], weights) == pytest.approx(1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_logarithms_of_times(name):
    assert LOSSES[name]().means(np.array([[0.0, np.log(3.0)]])) == pytest.approx(
        np.array([[1.0], [3.0]])
    )
