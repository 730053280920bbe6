"""Competing causes and restricted means against the twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lifetimes import lifetimes
from odrf.errors import InputError
from odrf.statistics.survival.aalen_johansen import aalen_johansen, cumulative_incidence
from odrf.statistics.survival.kaplan_meier import kaplan_meier
from odrf.statistics.survival.restricted_mean import (
    difference_of_restricted_means,
    restricted_mean,
)
from reference import survival as twin

AT = np.array([0.5, 1, 2, 3, 4, 5, 6, 7])


@given(lifetimes())
def test_incidences_and_their_variances_are_those_of_the_twin(of):
    found = aalen_johansen(of.time, of.event, of.weights, of.start)
    for cause, each in found.items():
        np.testing.assert_allclose(
            each.curve(AT), [twin.incidence(of.rows, (cause,), t) for t in AT], atol=1e-12
        )
        expected = [twin.variance_of_incidence(of.rows, (cause,), t) for t in each.times]
        np.testing.assert_allclose(each.variance, expected, atol=1e-12)
        expected = [twin.aalen_variance(of.rows, (cause,), t) for t in each.times]
        np.testing.assert_allclose(each.aalen_variance, expected, atol=1e-12)
        for t, variance in zip(each.times, each.robust_variance, strict=True):
            by_row = twin.influence(
                lambda rows, t=t, c=cause: twin.incidence(rows, (c,), t), of.rows
            )
            np.testing.assert_allclose(each.influence(t), by_row, rtol=1e-9, atol=1e-12)
            assert variance == pytest.approx(np.sum(np.square(by_row)), abs=1e-12)
        low, high = each.limits()
        known = each.incidence < 1
        assert (low[known] <= each.incidence[known]).all()
        assert (high[known] >= each.incidence[known]).all()
    assert set(found) == set(of.event) - {0}


@given(lifetimes())
def test_all_causes_together_are_the_complement_of_survival(of):
    given_to = of.time, of.event
    options = {"weights": of.weights, "start": of.start}
    survival, together = (
        kaplan_meier(*given_to, **options),
        cumulative_incidence(*given_to, **options),
    )
    np.testing.assert_allclose(together.incidence, 1 - survival.survival, atol=1e-12)
    alive = survival.survival > 0
    np.testing.assert_allclose(together.variance[alive], survival.variance[alive], atol=1e-12)
    np.testing.assert_allclose(
        together.robust_variance[alive], survival.robust_variance[alive], atol=1e-12
    )
    causes = aalen_johansen(*given_to, **options).values()
    total = sum((each.incidence for each in causes), np.zeros(len(together.times)))
    np.testing.assert_allclose(total, together.incidence, atol=1e-12)


@given(lifetimes())
def test_restricted_means_are_those_of_the_twin(of):
    last = of.time[of.weights > 0].max()
    for horizon in (last, last / 2, last / 3):
        found = restricted_mean(of.time, of.event, horizon, of.weights, of.start)
        assert found.estimate == pytest.approx(twin.restricted_mean(of.rows, horizon))
        by_row = twin.influence(lambda rows, h=horizon: twin.restricted_mean(rows, h), of.rows)
        np.testing.assert_allclose(found.influence, by_row, rtol=1e-9, atol=1e-12)
        curve, parts = kaplan_meier(of.time, of.event, of.weights, of.start), 0.0
        for t, n, d in zip(curve.times, curve.sets.at_risk, curve.sets.events, strict=True):
            if t < horizon and n - d > 1e-12:
                rest = twin.restricted_mean(of.rows, horizon) - twin.restricted_mean(of.rows, t)
                parts += rest**2 * d / (n * (n - d))
        assert found.variance == pytest.approx(parts, abs=1e-12)


def test_a_difference_of_restricted_means_is_that_of_independent_groups():
    time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 0])
    first, second = (restricted_mean(time[:k], event[:k], 2.0) for k in (4, 3))
    found = difference_of_restricted_means(first, second)
    assert found.estimate == pytest.approx(first.estimate - second.estimate)
    assert found.std_error**2 == pytest.approx(first.std_error**2 + second.std_error**2)
    assert found.variance == pytest.approx(first.variance + second.variance)
    with pytest.raises(InputError, match="use the same"):
        difference_of_restricted_means(first, restricted_mean(time, event, 1.0))
    with pytest.raises(InputError, match="at most 4"):
        restricted_mean(time, event, 5.0)
    assert restricted_mean(time[:2], event[:2], 5.0).estimate == 1.5
