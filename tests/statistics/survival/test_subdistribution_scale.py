"""The scale of times on which the subdistribution hazard of one cause is constant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.errors import InputError
from odrf.statistics.survival.time_scales import exponential_scale, subdistribution_scale
from reference.exponential import subdistribution_exposures

quick = settings(deadline=None)


@st.composite
def observed(draw):
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
@given(observed())
def test_exposures_are_those_of_the_twin(rows):
    time, event, weights = rows
    found = subdistribution_scale(time, event, 1, weights).exposure(time, event == 2)
    expected = subdistribution_exposures(time, event, 1, weights)
    counted = weights > 0
    np.testing.assert_allclose(found[counted], expected[counted], rtol=1e-9)
    assert np.sum(weights * found) == pytest.approx(weights[event == 1].sum())
    assert (found > 0).all() and np.isfinite(found).all()


@quick
@given(observed())
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
