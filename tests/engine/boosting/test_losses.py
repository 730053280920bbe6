"""Losses against their definitions, derivatives against differences of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

from odrf.engine.boosting.losses import LOSSES as EVERY_LOSS
from odrf.engine.boosting.losses import Huber
from reference import boosting as twin

STEP = 1e-4
# Losses of times to an event have tests of their own.
LOSSES = {name: loss for name, loss in EVERY_LOSS.items() if loss.kind != "survival"}
# Classes of the problems, and scores that a row then has where it has several.
CLASSES = {"logistic": 2, "multinomial": 3, "ordinal": 4}
SCORES = {"multinomial": 3, "ordinal": 3}


def problem(name, seed, n=40):
    """Responses, scores (K, n) and whole weights that suit the loss."""
    rng = np.random.default_rng(seed)
    K = SCORES.get(name, 1)
    y = rng.normal(size=n) * 2
    if name == "poisson":
        y = rng.poisson(2.0, n).astype(float)
    elif name in CLASSES:
        y = rng.integers(0, CLASSES[name], n).astype(float)
    return y, rng.normal(size=(K, n)), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1))
def test_losses_are_those_of_their_definitions(name, seed):
    y, scores, weights = problem(name, seed)
    loss = LOSSES[name]()
    delta = 1.0
    if isinstance(loss, Huber):
        centre = twin.median(y.tolist(), weights.tolist())
        delta = twin.quantile(abs(y - centre).tolist(), weights.astype(int).tolist(), 0.9)
    expected = [twin.loss(name, y[i], scores[:, i].tolist(), delta) for i in range(len(y))]
    assert loss.losses(y, scores, weights) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_limits_of_differences(name):
    y, scores, weights = problem(name, 1)
    loss = LOSSES[name]()
    derivatives = loss.derivatives(y, scores, weights)
    K, n = scores.shape
    delta = loss.delta(y - scores[0], weights) if isinstance(loss, Huber) else 1.0
    for k in range(K):
        for i in range(n):
            near = abs(y[i] - scores[0, i])
            if name in ("absolute", "huber") and min(near, abs(near - delta)) < 2 * STEP:
                continue  # the loss has a corner or a seam there
            at = [scores[:, i].copy() for _ in range(3)]
            at[0][k] -= STEP
            at[2][k] += STEP
            low, here, high = (twin.loss(name, y[i], list(values), delta) for values in at)
            assert derivatives.first[k, i] == pytest.approx((high - low) / (2 * STEP), abs=1e-6)
            if name in ("absolute", "huber"):
                assert derivatives.second[k, i] == 1.0
                continue
            curvature = (high - 2 * here + low) / STEP**2
            factor = K / (K - 1) if name == "multinomial" else 1.0
            assert derivatives.second[k, i] == pytest.approx(factor * curvature, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in SCORES])
@pytest.mark.parametrize("offset_scale", [0.0, 1.0])
def test_boosting_starts_where_a_constant_loses_least(name, offset_scale):
    y, scores, weights = problem(name, 2)
    loss, offset = LOSSES[name](), offset_scale * scores[0]

    def mean(score):
        return np.average(loss.losses(y, score + offset[None, :], weights), weights=weights)

    (start,) = loss.start(y, weights, 1, offset)
    best = minimize_scalar(mean, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).fun
    # Huber's starts at the median, as Friedman has it
    assert mean(start) <= best * (1.05 if name == "huber" else 1 + 1e-8)


def test_hubers_delta_is_that_of_residuals_that_are_not_0_if_nearly_all_are():
    residuals, ones = np.append(np.zeros(190), np.arange(1.0, 11.0)), np.ones(200)
    assert Huber().delta(residuals, ones) == Huber().delta(residuals[190:], ones[190:]) == 9.5
    assert Huber().delta(residuals[170:], ones[170:]) == 7.5
    assert Huber().delta(np.zeros(5), np.ones(5)) == 0.0


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in SCORES])
@pytest.mark.parametrize("constant", [-1e15, -800.0, 0.1, 3.0, 800.0, 1e15])
@pytest.mark.parametrize("spread", [0.0, 1e-16, 1e-300])
def test_a_constant_offset_moves_the_start(name, constant, spread):
    y, scores, weights = problem(name, 3)
    loss = LOSSES[name]()
    (plain,) = loss.start(y, weights, 1, np.zeros(len(y)))
    (moved,) = loss.start(y, weights, 1, constant + spread * np.sign(scores[0]))
    assert moved == pytest.approx(plain - constant, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in SCORES])
@pytest.mark.parametrize("spread", [10.0, 500.0, 1e6, 1e60])
def test_offsets_of_any_spread_have_a_start(name, spread):
    y, scores, weights = problem(name, 4)
    (start,) = LOSSES[name]().start(y, weights, 1, spread * scores[0])
    assert np.isfinite(start)


def test_classes_start_at_their_shares():
    y, weights = np.array([0.0, 1.0, 2.0, 2.0]), np.array([1.0, 2.0, 1.0, 0.0])
    loss = LOSSES["multinomial"]()
    start = loss.start(y, weights, 4, np.zeros(4))
    assert loss.means(start[:, None])[0] == pytest.approx([0.25, 0.5, 0.25, 0.0], abs=1e-5)
    assert np.isfinite(start).all()


def test_ordered_classes_start_at_their_shares_and_their_probabilities_never_fall_below_zero():
    y, weights = np.array([0.0, 1.0, 2.0, 2.0]), np.array([1.0, 2.0, 1.0, 0.0])
    loss = LOSSES["ordinal"]()
    start = loss.start(y, weights, 3, np.zeros(4))
    assert loss.means(start[:, None])[0] == pytest.approx([0.25, 0.5, 0.25, 0.0], abs=1e-5)
    crossed = loss.means(np.array([[0.0, -1.0], [2.0, 0.0], [-3.0, 1.0]]))
    assert (crossed >= 0).all()
    assert crossed.sum(axis=1) == pytest.approx([1.0, 1.0])
    # being above the second class cannot be likelier than being above the first
    assert crossed[0] == pytest.approx([0.5, 0.0, 0.5 - expit(-3.0), expit(-3.0)])


def test_certain_beginnings_are_finite():
    ones = np.ones(3)
    for name, y in [("logistic", ones), ("poisson", 0 * ones), ("ordinal", ones)]:
        assert np.isfinite(LOSSES[name]().start(y, ones, SCORES.get(name, 1), 0 * ones)).all()


@pytest.mark.parametrize("name", ["logistic", "multinomial", "ordinal", "poisson"])
def test_extreme_scores_give_numbers(name):
    loss = LOSSES[name]()
    scores = np.zeros((SCORES.get(name, 1), 2))
    scores[0] = [-700.0, 700.0]
    y, ones = np.array([1.0, 0.0]), np.ones(2)
    derivatives = loss.derivatives(y, scores, ones)
    assert np.isfinite(derivatives.first).all()
    assert (derivatives.second > 0).all()
    assert np.isfinite(loss.losses(y, scores, ones)).all()
    if name != "poisson":
        assert loss.means(scores).sum(axis=1) == pytest.approx([1.0, 1.0])


def test_means_of_classes_are_in_their_order():
    loss = LOSSES["logistic"]()
    assert loss.means(np.array([[np.log(3.0)]]))[0] == pytest.approx([0.25, 0.75])
    assert LOSSES["poisson"]().means(np.array([[0.0]]))[0] == pytest.approx([1.0])
