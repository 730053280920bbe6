"""Intervals of estimates that lie between 0 and 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.discrimination import area_under_roc
from odrf.statistics.effects import limits_of_predicted_share, limits_of_share
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    dynamic_areas,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.pseudo_values import (
    RowwiseShare,
    difference_of_estimates,
)
from odrf.statistics.survival.scores import brier_scores

SAMPLES = 2000


def on_log_odds(p, reach):
    """The delta method, number by number."""
    odds = math.log(p / (1 - p))
    ends = (odds + sign * reach / (p * (1 - p)) for sign in (-1, 1))
    return tuple(1 / (1 + math.exp(-end)) for end in ends)


@given(st.floats(0.001, 0.999), st.floats(0, 0.3))
def test_they_are_those_of_the_log_odds_by_the_delta_method(p, reach):
    if reach / (p * (1 - p)) > 500:
        return
    low, high = limits_of_share(p, reach)
    assert (float(low), float(high)) == pytest.approx(on_log_odds(p, reach), rel=1e-9)
    assert 0 <= low <= p + 1e-12 and p - 1e-12 <= high <= 1


def test_the_ends_of_the_scale_have_none():
    low, high = limits_of_share(np.array([0.0, 1.0, 1 - 1e-15, 1.2, np.nan]), 0.1)
    assert np.isnan(low).all() and np.isnan(high).all()


def nearly_separated():
    """Times that a score orders but for few pairs."""
    rng = np.random.default_rng(4)
    score = np.sort(rng.normal(size=16))[::-1]
    time, event = np.arange(1.0, 17.0), np.ones(16, dtype=np.int64)
    event[[5, 11]] = 0
    score[[2, 3]] = score[[3, 2]]
    return time, event, score


def test_concordances_areas_and_scores_stay_within_0_and_1():
    time, event, score = nearly_separated()
    risk = np.where(time[:, None] <= 8, 0.999, [[0.0005] * 3]) + np.zeros((16, 3))
    risk[3] = 0.5
    found = {
        "harrell": harrells_c(time, event, score),
        "uno": unos_c(time, event, score),
        "cause": concordance_of_cause(time, event, score, 1),
        "area": dynamic_areas(time, event, score, np.array([3.5])).mean,
        "brier": brier_scores(time, event, risk, np.array([8.0, 8.3, 8.6])).integrated,
    }
    for name, share in found.items():
        assert isinstance(share, RowwiseShare), name
        low, high = share.interval(0.999)
        assert 0 < low < share.estimate < high < 1, name
        plain = share.estimate + np.array([-3.29, 3.29]) * share.std_error
        assert plain[0] < 0 or plain[1] > 1, name
        reach = 3.2905267 * share.std_error
        assert (low, high) == pytest.approx(on_log_odds(share.estimate, reach), rel=1e-5)


def test_a_difference_of_shares_is_none():
    time, event, score = nearly_separated()
    first, second = harrells_c(time, event, score), harrells_c(time, event, -score)
    difference = difference_of_estimates(first, second)
    low, high = difference.interval()
    assert (low + high) / 2 == pytest.approx(difference.estimate)


def test_all_areas_have_the_same_interval():
    """Time-dependent areas of uncensored rows, and C of two times, are areas of two classes."""
    rng = np.random.default_rng(2)
    event = rng.integers(0, 2, 40).astype(float)
    score = rng.normal(size=40) + event
    time, happened = np.where(event > 0, 1.0, 2.0), np.ones(40, dtype=np.int64)
    area = area_under_roc(score, event, np.ones(40), 0.95)
    dynamic = dynamic_areas(time, happened, score, np.array([1.0])).mean
    assert dynamic.estimate == pytest.approx(area.estimate)
    ends = on_log_odds(area.estimate, 1.959964 * dynamic.std_error)
    assert dynamic.interval() == pytest.approx(ends, rel=1e-6)
    # errors of the jackknife are those of DeLong but for m/(m - 1) in each class
    assert dynamic.interval() == pytest.approx((area.conf_low, area.conf_high), abs=0.01)


@pytest.mark.parametrize("shift", [0.7, 2.0])
def test_they_cover_the_concordance_at_least_as_often_as_plain_ones(shift):
    rng, truth = np.random.default_rng(7), None
    ends, plain = np.empty((2, SAMPLES, 2))
    for s in range(-1, SAMPLES):
        n = 20_000 if s < 0 else 40
        score = rng.normal(size=n)
        time, end = rng.exponential(np.exp(-shift * score)), rng.exponential(3.0, n)
        found = harrells_c(np.minimum(time, end), time <= end, score)
        if s < 0:
            truth = found.estimate
            continue
        ends[s] = found.interval()
        plain[s] = found.estimate + np.array([-1.96, 1.96]) * found.std_error
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    of_plain = ((plain[:, 0] <= truth) & (truth <= plain[:, 1])).mean()
    print(f"C {truth:.3f}: {covered:.3f} covered, {of_plain:.3f} by plain intervals")
    assert covered >= of_plain - 0.005
    assert 0.92 < covered < 0.97


@given(st.floats(0, 1), st.floats(0, 0.5))
def test_limits_of_predictions_are_at_most_twice_as_far_as_plain_ones(p, reach):
    low, high = (float(end) for end in limits_of_predicted_share(p, reach))
    assert 0 <= low <= p + 1e-12 and p - 1e-12 <= high <= 1
    if p < 1e-9 or p > 1 - 1e-9:
        return
    if reach / (p * (1 - p)) < 500:
        ends = on_log_odds(p, reach)
        assert low == pytest.approx(max(ends[0], p - 2 * reach), abs=1e-9)
        assert high == pytest.approx(min(ends[1], p + 2 * reach), abs=1e-9)


def test_predictions_of_0_and_1_have_plain_limits():
    low, high = limits_of_predicted_share(np.array([0.0, 1.0, 0.5]), np.array([0.1, 0.1, np.nan]))
    np.testing.assert_allclose(low, [0.0, 0.9, np.nan])
    np.testing.assert_allclose(high, [0.1, 1.0, np.nan])
