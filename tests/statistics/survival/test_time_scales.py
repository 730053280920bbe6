"""The scale of times on which the hazard of all rows is constant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.errors import InputError
from odrf.statistics.survival.time_scales import exponential_scale, subdistribution_scale
from reference.exponential import exposures, subdistribution_exposures

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
