"""Calibration maps: what they make of probabilities that are too extreme, and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from odrf.statistics.calibration import METHODS, recalibration_map


def sample(seed, n=4000, times=2.0, shift=0.5):
    """Probabilities whose log odds are too large by a factor, and shifted."""
    rng = np.random.default_rng(seed)
    truth = expit(rng.normal(size=n))
    return expit(times * logit(truth) + shift), (rng.random(n) < truth).astype(float), truth


@pytest.mark.parametrize("method", METHODS)
def test_maps_lead_back_to_the_truth(method):
    p, event, truth = sample(1)
    found = recalibration_map(method, p, event, np.ones(len(p)))(p)
    assert np.abs(found - truth).mean() < np.abs(p - truth).mean() / 3


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(METHODS), st.integers(5, 60))
def test_maps_increase_and_stay_within_0_and_1(seed, method, n):
    p, event, _ = sample(seed, n)
    weights = np.random.default_rng(seed).choice([0.5, 3.0], n)
    if event.min() == event.max():
        event[0] = 1 - event[0]
    at = np.linspace(0, 1, 50)
    found = recalibration_map(method, p, event, weights)(at)
    assert (np.diff(found) >= -1e-12).all()
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_isotonic_maps_are_those_of_scikit_learn():
    p, event, _ = sample(2, 300)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, event)
    at = np.linspace(0, 1, 77)
    np.testing.assert_allclose(
        recalibration_map("isotonic", p, event, np.ones(300))(at), theirs.predict(at), atol=1e-12
    )


def test_a_weight_of_two_is_a_row_twice():
    p, event, _ = sample(3, 200)
    twice = np.arange(200) % 3 == 0
    both = np.concatenate([np.arange(200), np.flatnonzero(twice)])
    at = np.linspace(0.05, 0.95, 20)
    weighted = recalibration_map("isotonic", p, event, 1.0 + twice)(at)
    repeated = recalibration_map("isotonic", p[both], event[both], np.ones(len(both)))(at)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


@pytest.mark.parametrize("method", ["platt", "beta"])
def test_rows_that_are_told_apart_are_not_sure(method):
    p, event = np.r_[np.full(10, 0.1), np.full(10, 0.9)], np.repeat([0.0, 1.0], 10)
    found = recalibration_map(method, p, event, np.ones(20))(p)
    np.testing.assert_allclose(found, np.r_[np.full(10, 1 / 12), np.full(10, 11 / 12)], atol=1e-3)
