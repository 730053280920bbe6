"""Intervals and simultaneous bands of curves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE
from odrf.statistics.curves import (
    CurveSpread,
    bands,
    curve_covariances,
    simultaneous_width,
    typical_df,
)
from odrf.statistics.effects import functional_covariance, limits_of_predicted_share
from odrf.statistics.jackknife import Variance, distinguishes_rows, rows_of_trees
from resampled import forests

COVARIANCE = 0.01 * np.array([[1.0, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, 1.0]])


def spread(share=0.4, n=100, most=np.inf):
    """Variances that are a share of what they were before the bias was subtracted."""
    return CurveSpread(COVARIANCE, COVARIANCE / share, n, most)


def test_degrees_of_freedom_are_those_of_single_predictions():
    raw = np.diagonal(COVARIANCE) / 0.4
    known = Variance(raw, raw * 0.6, np.zeros(3), 100)
    # the total differs by what keeps it from being negative, which is little here
    assert spread().df == pytest.approx(16.0)
    assert spread().df == pytest.approx(np.median(known.df), rel=0.2)
    assert spread(most=7.0).df == 7.0
    assert typical_df(np.array([np.nan, np.nan])) == np.inf


def test_a_combination_of_points_has_its_own():
    D = np.array([[1.0, -1.0, 0.0]])
    raw = np.diag([0.05, 0.05, 0.05])
    found = CurveSpread(COVARIANCE, raw, 50, np.inf).combined(D)
    variance = COVARIANCE[0, 0] + COVARIANCE[1, 1] - 2 * COVARIANCE[0, 1]
    assert found.covariance[0, 0] == pytest.approx(variance)
    assert found.df == pytest.approx(50 * (variance / 0.1) ** 2)


def test_bands_are_those_of_a_multivariate_t():
    estimate = np.array([1.0, 5.0, -3.0])
    found = bands(estimate, spread(), 0.95, False, 1)
    rng = np.random.default_rng(5)
    Z = rng.multivariate_normal(np.zeros(3), COVARIANCE, 200_000) / found.std_error
    t = np.abs(Z).max(axis=1) / np.sqrt(rng.chisquare(16.0, 200_000) / 16.0)
    reach = np.quantile(t, 0.95) * found.std_error
    np.testing.assert_allclose(found.band_high - estimate, reach, rtol=0.03)
    np.testing.assert_allclose(estimate - found.band_low, reach, rtol=0.03)
    alone = scipy.special.ndtri(0.975) * np.sqrt(np.diagonal(COVARIANCE))
    np.testing.assert_allclose(found.conf_high - estimate, alone)
    wider = simultaneous_width(COVARIANCE, 0.95, 1, 16.0) / simultaneous_width(COVARIANCE, 0.95, 1)
    assert 1.05 < wider < 1.2


def test_the_quantile_covers_where_variances_are_estimated():
    """Of 12 degrees of freedom, as with few trees: by a normal quantile bands are too narrow."""
    rng, samples = np.random.default_rng(3), 4000
    Z = rng.multivariate_normal(np.zeros(3), COVARIANCE, samples)
    scale = np.sqrt(rng.chisquare(12.0, samples) / 12.0)[:, None]
    off = np.abs(Z) / (np.sqrt(np.diagonal(COVARIANCE)) * scale)
    by_t, normal = (
        (off <= simultaneous_width(COVARIANCE, 0.95, 1, nu)).all(axis=1).mean()
        for nu in (12.0, np.inf)
    )
    assert by_t == pytest.approx(0.95, abs=0.015)
    assert normal < 0.93


def test_bands_of_probabilities_stay_between_0_and_1():
    estimate = np.array([0.02, 0.5, 0.99])
    found = bands(estimate, spread(), 0.95, True, 1)
    reach = simultaneous_width(COVARIANCE, 0.95, 1, spread().df) * found.std_error
    low, high = limits_of_predicted_share(estimate, reach)
    np.testing.assert_allclose(found.band_low, low)
    np.testing.assert_allclose(found.band_high, high)
    for ends in (found[1:3], found[3:]):
        assert (ends[0] >= 0).all() and (ends[1] <= 1).all()
        assert (ends[0] < estimate).all() and (ends[1] > estimate).all()
    assert found.band_high[0] == pytest.approx(0.02 + 2 * reach[0])


def test_without_a_spread_nothing_is_known():
    assert np.isnan(bands(np.zeros(2), None, 0.95, False, 1)).all()


# ------------------------------------------------------------------------------------------------
# Covariances of curves, all rows at once, are those of each row's functionals alone.
# ------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.integers(0, 99))
def test_curves_are_functionals(grown, seed):
    assume(distinguishes_rows(grown.draws()))
    values = np.random.default_rng(seed).normal(size=(len(grown.kinds), 3, 4))
    found = curve_covariances(values, rows_of_trees(grown.kinds, grown.draws(), False))
    for i, of_row in enumerate(found):
        alone = functional_covariance(values[:, i], grown.kinds, grown.draws())
        for name in ("raw", "bias", "of_trees"):
            np.testing.assert_allclose(
                getattr(of_row, name), getattr(alone, name), rtol=1e-9, atol=1e-12
            )
        assert (of_row.n_rows, of_row.n_trees) == (alone.n_rows, alone.n_trees)


@settings(max_examples=15, deadline=None)
@given(forests((SUBSAMPLE,)), st.integers(0, 99))
def test_trees_that_are_not_used_have_no_part(grown, seed):
    assume(distinguishes_rows(grown.draws()))
    rng = np.random.default_rng(seed)
    B = len(grown.kinds)
    values, used = rng.normal(size=(B, 2, 3)), rng.random((B, 2)) < 0.7
    rows = rows_of_trees(grown.kinds, grown.draws(), False)
    found = curve_covariances(values, rows, used)
    other = curve_covariances(np.where(used[:, :, None], values, 9.0), rows, used)
    for one, same in zip(found, other, strict=True):
        np.testing.assert_allclose(one.raw, same.raw, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.of_trees, same.of_trees, rtol=1e-9, atol=1e-12)
