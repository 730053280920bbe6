"""Breslow's baseline hazard and the curves of scores against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.survival.score_curves import (
    ProportionalHazards,
    breslow_baseline,
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
