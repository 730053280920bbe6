"""Losses against their definitions, derivatives against differences of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from odrf.engine.boosting.losses import (
    LEAST_CURVATURE,
    Cox,
    Huber,
    LeafRows,
    Poisson,
    huber_values,
    median_values,
    newton_values,
    weighted_quantile,
)
from odrf.engine.boosting.losses import LOSSES as EVERY_LOSS
from reference import boosting as twin
from reference import survival_losses

STEP = 1e-4
# Losses of survival times have tests of their own.
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


# ------------------------------------------------------------------------------------------------
# Cox's loss against its definition and differences of it.
# ------------------------------------------------------------------------------------------------

SEEDS = st.integers(0, 2**32 - 1)


def problem_of_survival_losses(seed, n=30, late=True):
    """Times with ties, events, starts and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 12, n).astype(float)
    event = rng.random(n) < 0.6
    start = np.where(rng.random(n) < 0.5, 0.0, np.floor(time * rng.random(n)))
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.choice([0.5, 1.0, 2.0], n))
    return time, event, start if late else None, weights, rng.normal(size=n)


def log_likelihood(time, event, start, weights, scores):
    begin = np.zeros(len(time)) if start is None else start
    return survival_losses.partial_log_likelihood(time, event, begin, weights, scores)


@given(seed=SEEDS, late=st.booleans())
def test_the_loss_is_minus_the_log_partial_likelihood(seed, late):
    time, event, start, weights, scores = problem_of_survival_losses(seed, late=late)
    loss = Cox().knowing(time, event, start)
    losses = loss.losses(np.arange(30.0), scores[None, :], weights)
    expected = log_likelihood(time, event, start, weights, scores)
    assert -weights @ losses == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert not losses[~event].any()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_derivatives_are_limits_of_differences_of_survival_losses(seed, late):
    time, event, start, weights, scores = problem_of_survival_losses(seed, late=late)
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
    time, event, start, weights, scores = problem_of_survival_losses(seed, late=late)
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
    time, event, start, weights, scores = problem_of_survival_losses(5)
    loss, y = Cox().knowing(time, event, start), np.arange(30.0)
    here = loss.derivatives(y, scores[None, :], weights)
    assert weights @ here.first[0] == pytest.approx(0.0, abs=1e-12)
    moved = loss.derivatives(y, scores[None, :] + 1e3, weights)
    assert moved.first == pytest.approx(here.first, abs=1e-10)
    assert loss.start(y, weights, 1, scores) == 0


@pytest.mark.parametrize("size", [50.0, 700.0, 1e5, 1e200])
def test_scores_of_any_size_give_numbers(size):
    time, event, start, weights, scores = problem_of_survival_losses(6)
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
    time, event, start, weights, scores = problem_of_survival_losses(7)
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


# ------------------------------------------------------------------------------------------------
# Losses of accelerated failure times against their definitions and differences of them.
# ------------------------------------------------------------------------------------------------

NAMES = ["lognormal", "loglogistic", "weibull"]


def problem_of_failure_time_losses(seed, n=40, late=True):
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
        survival_losses.failure_time_loss(name, *row, scale)
        for row in zip(time, event, start, scores, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@given(seed=SEEDS, late=st.booleans())
def test_losses_are_minus_log_likelihoods_at_the_best_scale(name, seed, late):
    *rows, weights, scores = problem_of_failure_time_losses(seed, late=late)
    loss, y = EVERY_LOSS[name]().knowing(*rows), np.arange(40.0)
    scale = loss.scale(y, scores[None, :], weights)
    found = loss.losses(y, scores[None, :], weights)
    assert found == pytest.approx(losses_at(name, rows, scores, scale), rel=1e-9, abs=1e-9)
    for factor in (0.99, 1.01):
        other = losses_at(name, rows, scores, factor * scale)
        assert weights @ found <= weights @ other


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("late", [False, True])
def test_derivatives_are_limits_of_differences_of_failure_time_losses(name, late):
    *rows, weights, scores = problem_of_failure_time_losses(1, late=late)
    loss, y = EVERY_LOSS[name]().knowing(*rows), np.arange(40.0)
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
    time, event, _, weights, scores = problem_of_failure_time_losses(2)
    loss, y = EVERY_LOSS[name]().knowing(time, event, None), np.arange(40.0)
    first, second = loss.derivatives(y, scores[None, :], weights)
    aim = scores - first[0] / second[0]
    near = event & ((name != "weibull") | (np.log(time) < scores))
    assert near.sum() > 5
    assert aim[near] == pytest.approx(np.log(time)[near], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0.0, 1.0])
def test_boosting_starts_where_a_constant_loses_least_of_failure_time_losses(name, size):
    *rows, weights, scores = problem_of_failure_time_losses(3)
    loss, y, offset = EVERY_LOSS[name]().knowing(*rows), np.arange(40.0), size * scores

    def total(at):
        return weights @ losses_at(name, rows, at[0] + offset, np.exp(at[1]))

    best = minimize(total, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9}).fun
    (start,) = loss.start(y, weights, 1, offset)
    found = weights @ loss.losses(y, start + offset[None, :], weights)
    assert found == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_the_rows_knows_nothing_of_the_others_of_failure_time_losses(name):
    time, event, start, weights, scores = problem_of_failure_time_losses(4)
    some = np.random.default_rng(4).permutation(40)[:20]
    of_all = EVERY_LOSS[name]().knowing(time, event, start)
    alone = EVERY_LOSS[name]().knowing(time[some], event[some], start[some])
    given = scores[None, some], weights[some]
    one, other = of_all.losses(some.astype(float), *given), alone.losses(np.arange(20.0), *given)
    assert (one == other).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [30.0, 1e4])
def test_scores_far_away_give_numbers(name, size):
    *rows, weights, scores = problem_of_failure_time_losses(5)
    loss, y = EVERY_LOSS[name]().knowing(*rows), np.arange(40.0)
    first, second = loss.derivatives(y, size * scores[None, :], weights)
    assert np.isfinite(first).all()
    assert ((second > 0) & np.isfinite(second)).all()
    assert np.isfinite(loss.losses(y, size * scores[None, :], weights)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_fit_has_the_least_scale(name):
    time, _, _, weights, _ = problem_of_failure_time_losses(6)
    loss, y = EVERY_LOSS[name]().knowing(time, np.ones(40, dtype=bool), None), np.arange(40.0)
    assert loss.scale(y, np.log(time)[None, :], weights) == pytest.approx(1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_logarithms_of_times(name):
    assert EVERY_LOSS[name]().means(np.array([[0.0, np.log(3.0)]])) == pytest.approx(
        np.array([[1.0], [3.0]])
    )


# ------------------------------------------------------------------------------------------------
# Leaf values against their definitions.
# ------------------------------------------------------------------------------------------------


@st.composite
def leaf_rows(draw):
    """Some rows in up to five leaves, ties among the residuals, whole or other weights."""
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 30))
    rng = np.random.default_rng([seed, n])
    residuals = rng.integers(-4, 5, n) / 2 if rng.random() < 0.5 else rng.normal(size=n)
    weights = rng.integers(1, 4, n) * (1.0 if rng.random() < 0.5 else 0.1)
    return LeafRows(
        rng.integers(0, 5, n), 5, residuals, rng.normal(size=n), rng.random(n) + 0.1, weights
    )


@given(rows=leaf_rows(), l2=st.sampled_from([0.0, 1.0, 7.5]))
def test_newton_steps(rows, l2):
    for leaf, value in enumerate(newton_values(rows, l2)):
        in_leaf = rows.leaf == leaf
        negative_gradient = sum(
            -w * g for w, g in zip(rows.weights[in_leaf], rows.first[in_leaf], strict=True)
        )
        curvature = sum(
            w * h for w, h in zip(rows.weights[in_leaf], rows.second[in_leaf], strict=True)
        )
        assert value == pytest.approx(
            negative_gradient / (curvature + l2) if in_leaf.any() else 0.0, abs=1e-12
        )


@given(rows=leaf_rows())
def test_medians(rows):
    found = median_values(rows)
    for leaf in range(5):
        in_leaf = rows.leaf == leaf
        if not in_leaf.any():
            assert found[leaf] == 0.0
            continue
        # tenths add up with rounding: as whole numbers they do not
        whole = np.rint(rows.weights[in_leaf] * 10).tolist()
        assert found[leaf] == twin.median(rows.residuals[in_leaf].tolist(), whole)


def test_a_leaf_of_little_weight_has_the_median_of_its_own_rows():
    residuals, ones = np.array([1.0, 5.0, 9.0]), np.ones(3)
    rows = LeafRows(np.array([0, 1, 2]), 3, residuals, ones, ones, np.array([1.0, 1e-13, 1.0]))
    assert median_values(rows).tolist() == residuals.tolist()


@given(rows=leaf_rows(), delta=st.sampled_from([0.0, 0.3, 100.0]))
def test_huber_steps(rows, delta):
    for leaf, value in enumerate(huber_values(rows, delta)):
        in_leaf = rows.leaf == leaf
        if not in_leaf.any():
            assert value == 0.0
            continue
        weights, residuals = rows.weights[in_leaf], rows.residuals[in_leaf]
        centre = twin.median(residuals.tolist(), np.rint(weights * 10).tolist())
        clipped = [max(-delta, min(delta, r - centre)) for r in residuals]
        expected = centre + np.average(clipped, weights=weights)
        assert value == pytest.approx(expected, abs=1e-12)


@given(
    values=st.lists(st.integers(-5, 5), min_size=1, max_size=20),
    share=st.sampled_from([0.25, 0.5, 0.9, 1.0]),
    seed=st.integers(0, 99),
)
def test_quantiles_of_weighted_rows_are_those_of_rows_written_out(values, share, seed):
    weights = np.random.default_rng(seed).integers(1, 4, len(values))
    found = weighted_quantile(np.array(values, dtype=float), weights.astype(float), share)
    assert found == twin.quantile([float(v) for v in values], weights.tolist(), share)


def test_poisson_steps_stop_at_the_mean_of_the_leaf():
    y, mean = np.array([10.0, 30.0, 0.0]), np.array([0.1, 0.1, 2.0])
    rows = LeafRows(np.array([0, 0, 1]), 2, y, mean - y, mean, np.ones(3))
    up, down = Poisson().leaf_values(rows, 0.0)
    assert mean[0] * np.exp(up) == pytest.approx(20.0)
    assert down == pytest.approx(-1.0)
