"""Curves calibrated by other rows: slopes are those of the largest likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.survival.likelihoods import (
    ExtremeValueError,
    LogisticError,
    NormalError,
    log_times,
)
from odrf.statistics.survival.score_curves import (
    breslow_baseline,
    calibrated_failure_times,
    calibrated_hazards,
)
from reference import survival_losses as twin

LAWS = {
    "lognormal": NormalError(),
    "loglogistic": LogisticError(),
    "weibull": ExtremeValueError(),
}


def problem(seed, n=40):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    time = np.ceil(8 * np.exp(-scores) * rng.exponential(size=n))
    event = rng.random(n) < 0.7
    start = np.where(rng.random(n) < 0.7, 0.0, np.floor(time * rng.random(n)))
    return scores, time, event, start, rng.choice([0.5, 1.0, 2.0], n)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_the_slope_of_hazards_has_the_largest_partial_likelihood(seed):
    scores, time, event, start, weights = problem(seed)
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
    scores, time, event, start, weights = problem(1)
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
    scores, time, event, start, weights = problem(2)
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
