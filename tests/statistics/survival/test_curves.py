"""Risk sets, Kaplan–Meier curves and their variances against the twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lifetimes import incidence_by_cause, lifetimes
from odrf.statistics.survival.curves import (
    StepCurve,
    cumulative_incidence,
    kaplan_meier,
    limits_of_probability,
    number_at_risk,
    risk_sets,
)
from odrf.statistics.survival.observation import censoring_curve
from reference import survival as twin

AT = np.array([0.5, 1, 1.5, 2, 3, 4, 5, 6, 7])


def given_to(function, of):
    return function(of.time, of.event, of.weights, of.start)


@given(lifetimes())
def test_risk_sets_are_those_of_the_twin(of):
    sets = given_to(risk_sets, of)
    assert sets.times.tolist() == of.rows.event_times()
    np.testing.assert_allclose(sets.at_risk, [of.rows.at_risk(t) for t in sets.times])
    np.testing.assert_allclose(sets.events, [of.rows.events(t) for t in sets.times])
    np.testing.assert_allclose(
        number_at_risk(AT, of.time, of.weights, of.start),
        [of.rows.at_risk(t) for t in AT],
        atol=1e-12,
    )


@given(lifetimes())
def test_survival_and_its_variance_are_those_of_the_twin(of):
    found = given_to(kaplan_meier, of)
    np.testing.assert_allclose(
        found.curve(AT), [twin.survival(of.rows, t) for t in AT], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(found.variance, [twin.greenwood(of.rows, t) for t in found.times])


@given(lifetimes())
def test_the_curve_of_censoring_is_that_of_the_twin(of):
    found = given_to(censoring_curve, of)
    np.testing.assert_allclose(found(AT), [twin.observed(of.rows, t, True) for t in AT])
    before = [twin.observed(of.rows, t, False) for t in AT]
    np.testing.assert_allclose(found.just_before(AT), before)
    # a sum of logarithms where the curve is not 0
    parts = np.where(np.array(before) > 0, np.arange(1.0, len(AT) + 1), 0.0)

    def product(rows):
        values = [twin.observed(rows, t, False) for t in AT]
        # the derivative of a logarithm is that of the value, divided by it
        return sum(
            part * value / value.real for part, value in zip(parts, values, strict=True) if part
        )

    np.testing.assert_allclose(
        found.influence(found.passed(AT), parts),
        twin.influence(lambda rows: product(rows) + 0j, of.rows),
        rtol=1e-9,
        atol=1e-12,
    )


@given(lifetimes(weights=(1.0, 2.0, 3.0)))
def test_a_weight_counts_rows(of):
    copies = np.repeat(np.arange(len(of.time)), of.weights.astype(int))
    apart = of.part(copies)._replace(weights=np.ones(len(copies)))
    once, again = given_to(kaplan_meier, of), given_to(kaplan_meier, apart)
    np.testing.assert_allclose(once.variance, again.variance)
    np.testing.assert_allclose(once.limits(), again.limits())


@given(lifetimes())
def test_limits_are_around_the_estimates(of):
    found = given_to(kaplan_meier, of)
    low, high = found.limits(0.9)
    known = ~np.isnan(found.variance)
    assert (low[known] <= found.survival[known] + 1e-12).all()
    assert (high[known] >= found.survival[known] - 1e-12).all()
    assert np.isnan(low[~known]).all()
    assert np.isnan(high[~known]).all()


def test_limits_by_hand():
    low, high = limits_of_probability(np.array([1.0, 0.5]), np.array([0.0, 0.01]))
    assert low[0] == high[0] == 1
    reach = 1.959964 * 0.1 / (0.5 * np.log(2))
    away = np.log(-np.log([high[1], low[1]])) - np.log(np.log(2))
    np.testing.assert_allclose(away, [-reach, reach], rtol=1e-6)


def test_limits_near_0_and_1_are_numbers():
    near = np.array([1e-11, 1 - 1e-11])
    with np.errstate(all="raise", under="ignore"):
        low, high = limits_of_probability(near, np.array([1e-6, 1e-6]))
    np.testing.assert_allclose([low, high], [[0, 0], [1, 1]], atol=1e-9)


def test_curves_are_constant_between_steps():
    curve = StepCurve(np.array([1.0, 2.0]), np.array([0.6, 0.1]), 1.0)
    fine = np.linspace(0, 3, 300_001)
    assert curve.integral(3.0) == pytest.approx(np.mean(curve(fine)) * 3, abs=1e-4)
    np.testing.assert_allclose(curve.integral([[0.0, 0.5], [1.0, 2.5]]), [[0, 0.5], [1, 1.65]])
    assert curve.first_at_most(0.6) == 1
    assert curve.first_at_most(0.05) == np.inf
    nothing = StepCurve(np.empty(0), np.empty(0), 1.0)
    assert nothing(3.0) == nothing.just_before(3.0) == 1
    assert nothing.integral(3.0) == 3


# ------------------------------------------------------------------------------------------------
# Competing causes against the twins.
# ------------------------------------------------------------------------------------------------

AT_OF_INCIDENCE = np.array([0.5, 1, 2, 3, 4, 5, 6, 7])


@given(lifetimes())
def test_incidences_and_their_variances_are_those_of_the_twin(of):
    found = incidence_by_cause(of.time, of.event, of.weights, of.start)
    for cause, each in found.items():
        np.testing.assert_allclose(
            each.curve(AT_OF_INCIDENCE),
            [twin.incidence(of.rows, (cause,), t) for t in AT_OF_INCIDENCE],
            atol=1e-12,
        )
        expected = [twin.variance_of_incidence(of.rows, (cause,), t) for t in each.times]
        np.testing.assert_allclose(each.variance, expected, atol=1e-12)
        for t, variance in zip(each.times, each.robust_variance, strict=True):
            by_row = twin.influence(
                lambda rows, t=t, c=cause: twin.incidence(rows, (c,), t), of.rows
            )
            np.testing.assert_allclose(each.influence(t), by_row, rtol=1e-9, atol=1e-12)
            assert variance == pytest.approx(np.sum(np.square(by_row)), abs=1e-12)
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
    causes = incidence_by_cause(*given_to, **options).values()
    total = sum((each.incidence for each in causes), np.zeros(len(together.times)))
    np.testing.assert_allclose(total, together.incidence, atol=1e-12)
