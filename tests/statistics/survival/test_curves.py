"""Risk sets, Kaplan–Meier curves and their variances against the twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifetimes import incidence_by_cause, lifetimes
from odrf.errors import InputError
from odrf.statistics.survival.curves import (
    StepCurve,
    cumulative_incidence,
    kaplan_meier,
    limits_of_probability,
    number_at_risk,
    risk_sets,
)
from odrf.statistics.survival.observation import (
    censoring_curve,
    exponential_scale,
    subdistribution_scale,
)
from reference import survival as twin
from reference.exponential import exposures, subdistribution_exposures

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


# ------------------------------------------------------------------------------------------------
# The scale of times on which the hazard of all rows is constant.
# ------------------------------------------------------------------------------------------------


quick = settings(deadline=None)


@st.composite
def observed(draw):
    """Times with ties, events of two causes, whole and other weights, and late rows."""
    n = draw(st.integers(1, 25))
    steps = draw(st.sampled_from([3, 8, 10**6]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    start = rng.integers(0, steps, n) / 4 * draw(st.sampled_from([0, 1]))
    time = start + rng.integers(1, steps + 1, n) / 4
    event = rng.integers(0, 3, n)
    event[rng.integers(n)] = 1
    weights = draw(st.sampled_from([np.ones(n), rng.integers(1, 4, n) * 1.0, rng.random(n) + 0.1]))
    return time, event, weights, start


@quick
@given(observed())
def test_exposures_are_those_of_the_twin(rows):
    time, event, weights, start = rows
    scale = exponential_scale(time, event, weights, start)
    found = scale.exposure(time, start)
    np.testing.assert_allclose(found, exposures(*rows), rtol=1e-9)
    assert np.sum(weights * found) == pytest.approx(weights[event > 0].sum())
    assert (found > 0).all()


@quick
@given(observed(), st.integers(-20, 20))
def test_the_unit_of_time_and_copies_of_rows_do_not_matter(rows, shift):
    time, event, _, start = rows
    times = np.arange(len(time)) % 3 + 1
    once = exponential_scale(time, event, times * 1.0, start).exposure(time, start)
    long_time, long_event, long_start = (np.repeat(part, times) for part in (time, event, start))
    unit = 2.0**shift
    scale = exponential_scale(long_time * unit, long_event, start=long_start * unit)
    np.testing.assert_allclose(scale.exposure(time * unit, start * unit), once, rtol=1e-9)


def test_it_is_linear_between_event_times_and_beyond_them():
    time, event = np.array([1.0, 2.0, 6.0, 8.0]), np.array([0, 1, 1, 0])
    scale = exponential_scale(time, event)
    first, last = 1 / 7, 1 / 10
    expected = [0.0, first, 2 * first, 2 * first + last, 2 * first + 8 * last]
    np.testing.assert_allclose(scale.cumulative(np.array([-1.0, 1.0, 2.0, 3.0, 10.0])), expected)
    ahead = scale.exposure(np.array([0.5, 10.0]), np.array([-0.5, 9.0]))
    np.testing.assert_allclose(ahead, [first, last])


def test_a_moment_of_observation_is_not_lost_beside_an_edge():
    time, event = np.array([1.0, 2.0, 3.0]), np.array([1, 1, 1])
    scale, beside = exponential_scale(time, event), np.nextafter(np.array([1.0, 2.0]), 0.0)
    assert (scale.exposure(np.array([1.0, 2.0]), beside) > 0).all()
    assert (scale.exposure(np.nextafter(np.array([1.0, 2.0]), 9.0), beside) > 0).all()


def test_rows_of_weight_0_have_no_part():
    time, event = np.array([1.0, 2.0, 3.0, 9.0]), np.array([1, 1, 0, 1])
    weights = np.array([1.0, 0.0, 1.0, 1.0])
    with_them = exponential_scale(time, event, weights).cumulative(time)
    without = exponential_scale(time[weights > 0], event[weights > 0]).cumulative(time)
    np.testing.assert_allclose(with_them, without)


def test_a_hazard_below_the_smallest_number_is_positive():
    time, weights = np.array([1e50, 2e50, 5e49]), np.array([1e-300, 1.0, 1.0])
    exposure = exponential_scale(time, np.array([1, 1, 0]), weights).exposure(time)
    assert (exposure > 0).all()
    assert exposure[1] == 1


def test_a_weight_that_is_lost_beside_others_has_a_hazard():
    time = np.array([8.0, 6.0, 12.0, 4.0, 7.0])
    weights = np.array([1e-300, 1e-300, 1e-300, 0.3116, 0.625])
    scale = exponential_scale(time, np.ones(5, dtype=np.int64), weights)
    # the last three pieces have but the rows whose events end them
    np.testing.assert_allclose(np.diff(scale.hazard)[2:], 1)


def test_there_must_be_an_event():
    with pytest.raises(InputError, match="no row has an event"):
        exponential_scale(np.ones(3), np.zeros(3, dtype=int))


# ------------------------------------------------------------------------------------------------
# The scale of times on which the subdistribution hazard of one cause is constant.
# ------------------------------------------------------------------------------------------------


@st.composite
def observed_of_subdistribution_scale(draw):
    """Times with ties, events of two causes, whole and other weights, and some of 0."""
    n = draw(st.integers(1, 25))
    steps = draw(st.sampled_from([3, 8, 10**6]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    time = rng.integers(1, steps + 1, n) / 4
    event = rng.integers(0, 3, n)
    weights = draw(st.sampled_from([np.ones(n), rng.integers(0, 4, n) * 1.0, rng.random(n) + 0.1]))
    one = rng.integers(n)
    event[one], weights[one] = 1, 1.0
    return time, event, weights


@quick
@given(observed_of_subdistribution_scale())
def test_exposures_are_those_of_the_twin_of_subdistribution_scale(rows):
    time, event, weights = rows
    found = subdistribution_scale(time, event, 1, weights).exposure(time, event == 2)
    expected = subdistribution_exposures(time, event, 1, weights)
    counted = weights > 0
    np.testing.assert_allclose(found[counted], expected[counted], rtol=1e-9)
    assert np.sum(weights * found) == pytest.approx(weights[event == 1].sum())
    assert (found > 0).all() and np.isfinite(found).all()


@quick
@given(observed_of_subdistribution_scale())
def test_without_other_causes_it_is_the_exponential_scale(rows):
    time, event, weights = rows
    event = (event == 1).astype(np.int64)
    found = subdistribution_scale(time, event, 1, weights).exposure(time, event == 2)
    np.testing.assert_allclose(found, exponential_scale(time, event, weights).exposure(time))


def test_rows_of_other_causes_that_are_never_censored_stay_to_the_end():
    rng = np.random.default_rng(1)
    time, event = rng.random(40), rng.integers(1, 3, 40)
    found = subdistribution_scale(time, event, 1).exposure(time, event == 2)
    staying, own = np.where(event == 2, time.max(), time), (event == 1).astype(np.int64)
    np.testing.assert_allclose(found, exponential_scale(staying, own).exposure(staying))


def test_later_times_than_those_of_training_add_nothing_to_rows_that_stay():
    scale = subdistribution_scale(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 1)
    later = np.array([4.0, 4.0])
    stays, leaves = scale.exposure(later, np.array([True, False]))
    assert stays == leaves


def test_there_must_be_an_event_of_the_cause():
    with pytest.raises(InputError, match="no row has an event"):
        subdistribution_scale(np.ones(3), np.array([0, 2, 2]), 1)
