"""Breslow's baseline hazard and the curves of scores against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.survival.likelihoods import (
    ExtremeValueError,
    LogisticError,
    NormalError,
    log_times,
)
from odrf.statistics.survival.score_curves import (
    FailureTimes,
    ProportionalHazards,
    breslow_baseline,
    calibrated_failure_times,
    calibrated_hazards,
)
from reference import survival_losses as twin


def problem(seed, n=30):
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 12, n).astype(float)
    event = rng.random(n) < 0.6
    start = np.where(rng.random(n) < 0.5, 0.0, np.floor(time * rng.random(n)))
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.choice([0.5, 1.0, 2.0], n))
    return time, event, start, weights, rng.normal(size=n)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_baseline_is_the_sum_of_events_over_risks(seed):
    time, event, start, weights, scores = problem(seed)
    curves = breslow_baseline(scores, time, event, start, weights)
    times, hazards = twin.breslow(time, event, start, weights, scores)
    assert curves.times.tolist() == times
    at_zero = curves.hazards(np.zeros(1), curves.times)[0]
    assert at_zero == pytest.approx(hazards, rel=1e-12)
    assert curves.centre == pytest.approx(np.average(scores, weights=weights))


def test_by_default_rows_count_once_and_from_the_beginning():
    time, event, _, _, scores = problem(1)
    ones, zeros = np.ones(30), np.zeros(30)
    one = breslow_baseline(scores, time, event)
    other = breslow_baseline(scores, time, event, zeros, ones)
    assert one.baseline == pytest.approx(other.baseline, rel=1e-14)


def test_curves_are_steps_and_their_quantiles_the_first_times_so_low():
    curves = ProportionalHazards(np.array([1.0, 2.0, 4.0]), np.array([0.1, 0.5, 1.0]), 0.5)
    scores, at = np.array([0.5, 1.5, -9.0]), np.array([0.0, 1.0, 3.9, 9.0])
    hazards = curves.hazards(scores, at)
    assert hazards[0] == pytest.approx([0.0, 0.1, 0.5, 1.0])
    assert hazards[1] == pytest.approx(np.e * hazards[0])
    assert curves.survivals(scores, at) == pytest.approx(np.exp(-hazards))
    assert curves.risks(scores).tolist() == scores.tolist()
    level = 1 - np.exp(-0.5)
    assert curves.time_quantiles(scores, level).tolist() == [2.0, 2.0, np.inf]
    assert curves.time_quantiles(scores, 1 - np.exp(-0.11)).tolist() == [2.0, 1.0, np.inf]


@pytest.mark.parametrize("horizon", [0.5, 2.0, 3.0, 7.0])
def test_restricted_means_are_areas_under_the_curves(horizon):
    curves = ProportionalHazards(np.array([1.0, 2.0, 4.0]), np.array([0.1, 0.5, 1.0]), 0.0)
    scores = np.array([-1.0, 0.0, 2.0])
    middles = (np.arange(70_000) + 0.5) * horizon / 70_000
    areas = curves.survivals(scores, middles).mean(axis=1) * horizon
    assert curves.restricted_means(scores, horizon) == pytest.approx(areas, rel=1e-4)


def test_many_restricted_means_are_those_of_their_rows():
    rng = np.random.default_rng(2)
    times = np.arange(1.0, 2001.0)
    curves = ProportionalHazards(times, np.cumsum(rng.random(2000)) / 1000, 0.0)
    scores = rng.normal(size=1200)
    means = curves.restricted_means(scores, 1500.5)
    assert means[777] == pytest.approx(curves.restricted_means(scores[777:778], 1500.5)[0])


@pytest.mark.parametrize("size", [100.0, 1e5, 1e200])
def test_scores_of_any_size_give_curves(size):
    time, event, start, weights, scores = problem(3)
    curves = breslow_baseline(size * scores, time, event, start, weights)
    survival = curves.survivals(size * scores, np.arange(13.0))
    assert ((survival >= 0) & (survival <= 1)).all()
    assert (np.diff(survival, axis=1) <= 0).all()


# ------------------------------------------------------------------------------------------------
# Curves calibrated by other rows: slopes are those of the largest likelihood.
# ------------------------------------------------------------------------------------------------

LAWS = {
    "lognormal": NormalError(),
    "loglogistic": LogisticError(),
    "weibull": ExtremeValueError(),
}


def problem_of_calibrated_scores(seed, n=40):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    time = np.ceil(8 * np.exp(-scores) * rng.exponential(size=n))
    event = rng.random(n) < 0.7
    start = np.where(rng.random(n) < 0.7, 0.0, np.floor(time * rng.random(n)))
    return scores, time, event, start, rng.choice([0.5, 1.0, 2.0], n)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_the_slope_of_hazards_has_the_largest_partial_likelihood(seed):
    scores, time, event, start, weights = problem_of_calibrated_scores(seed)
    curves = calibrated_hazards(scores, time, event, start, weights)

    def likelihood(slope):
        return twin.partial_log_likelihood(time, event, start, weights, slope * scores)

    near = [likelihood(curves.slope + step) for step in (-0.01, 0.0, 0.01)]
    if curves.slope > 0:
        assert near[1] >= near[0] - 1e-9
    if curves.slope < 4:
        assert near[1] >= near[2] - 1e-9
    same = breslow_baseline(curves.slope * scores, time, event, start, weights)
    at = np.arange(1.0, 30.0)
    expected = same.hazards(curves.slope * scores, at)
    assert curves.hazards(scores, at) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_lines_of_failure_times_have_the_largest_likelihood(name):
    scores, time, event, start, weights = problem_of_calibrated_scores(1)
    times = log_times(time, event, start)
    curves = calibrated_failure_times(LAWS[name], times, -3 * scores, weights)

    def loss(constant, slope, scale):
        rows = zip(time, event, start, constant - 3 * slope * scores, strict=True)
        return weights @ [twin.failure_time_loss(name, *row, scale) for row in rows]

    found = curves.constant, curves.slope, curves.scale
    best = loss(*found)
    assert 0.1 < curves.slope < 0.6
    for part in range(3):
        for step in (-0.01, 0.01):
            other = list(found)
            other[part] += step
            assert best <= loss(*other)


def test_scores_that_tell_nothing_or_the_contrary_have_flat_curves():
    scores, time, event, start, weights = problem_of_calibrated_scores(2)
    contrary = calibrated_hazards(-scores, time, event, start, weights)
    assert contrary.slope == 0
    constant = calibrated_hazards(np.ones(40), time, event, start, weights)
    plain = breslow_baseline(np.ones(40), time, event, start, weights)
    assert constant.baseline == pytest.approx(plain.baseline)
    times = log_times(time, event, start)
    contrary = calibrated_failure_times(LAWS["weibull"], times, scores, weights)
    assert contrary.slope == 0
    constant = calibrated_failure_times(LAWS["weibull"], times, np.ones(40), weights)
    assert constant.slope == 1
    assert constant.constant + 1 == pytest.approx(contrary.constant)


def test_rows_in_perfect_order_have_the_steepest_slope():
    time = np.arange(1.0, 9.0)
    assert calibrated_hazards(-time, time, np.ones(8, dtype=bool)).slope == 4


# ------------------------------------------------------------------------------------------------
# Curves of accelerated failure times against SciPy's laws and numerical integrals.
# ------------------------------------------------------------------------------------------------

LAWS_OF_FAILURE_TIMES = {
    "lognormal": (NormalError(), lambda f, s: scipy.stats.lognorm(s, scale=np.exp(f))),
    "loglogistic": (LogisticError(), lambda f, s: scipy.stats.fisk(1 / s, scale=np.exp(f))),
    "weibull": (ExtremeValueError(), lambda f, s: scipy.stats.weibull_min(1 / s, scale=np.exp(f))),
}
TIMES = np.array([0.0, 0.1, 0.7, 1.0, 2.0, 11.0])


@pytest.mark.parametrize("name", LAWS_OF_FAILURE_TIMES)
@pytest.mark.parametrize("scale", [0.2, 0.7, 1.0, 1.6])
def test_curves_are_those_of_the_law(name, scale):
    law, theirs = LAWS_OF_FAILURE_TIMES[name]
    curves, scores = FailureTimes(law, scale), np.array([-1.0, 0.0, 0.8])
    for i, f in enumerate(scores):
        known = theirs(f, scale)
        assert curves.survivals(scores, TIMES)[i] == pytest.approx(known.sf(TIMES), rel=1e-10)
        for p in (0.01, 0.5, 0.9):
            assert curves.time_quantiles(scores, p)[i] == pytest.approx(known.ppf(p), rel=1e-10)
        for horizon in TIMES:
            area, _ = scipy.integrate.quad(known.sf, 0, horizon, epsabs=1e-12, limit=200)
            found = curves.restricted_means(scores, horizon)[i]
            assert found == pytest.approx(area, rel=1e-7, abs=1e-12)
    assert (curves.hazards(scores, TIMES)[:, 0] == 0).all()
    assert curves.risks(scores).tolist() == (-scores).tolist()
