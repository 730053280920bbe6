"""Knockoffs: their covariance, their thresholds, their exchange with predictors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf

from odrf.statistics.importance_tests import (
    entropy_knockoff_gaps,
    gaussian_knockoffs,
    knockoff_covariance,
    knockoff_threshold,
    knockoff_values,
    shrunken_covariance,
)
from reference.importance_tests import entropy_slope, joint_covariance, selected_by_knockoffs


def correlation_of(seed, p):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(p, p + 2))
    S = A @ A.T
    scale = np.sqrt(np.diag(S))
    return S / np.outer(scale, scale)


@given(seed=st.integers(0, 10**6), n=st.integers(3, 30), p=st.integers(1, 8))
def test_the_covariance_is_shrunk_as_by_scikit_learn(seed, n, p):
    Z = np.random.default_rng(seed).normal(size=(n, p)) @ np.diag(np.arange(1.0, p + 1))
    assert np.allclose(shrunken_covariance(Z, 1.0), ledoit_wolf(Z)[0])
    half = (Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)) / n / 2 + ledoit_wolf(Z)[0] / 2
    assert np.allclose(shrunken_covariance(Z, 0.5), half)


@given(seed=st.integers(0, 10**6), p=st.integers(1, 8))
def test_gaps_maximise_the_entropy(seed, p):
    correlation = correlation_of(seed, p)
    gaps = entropy_knockoff_gaps(correlation)
    joint = joint_covariance(correlation, gaps)
    assert np.linalg.eigvalsh(joint)[0] > 0
    scale = 1 / gaps
    assert np.allclose(entropy_slope(correlation, gaps) / scale, 0, atol=1e-3)
    given_predictors = correlation - (correlation - np.diag(gaps)) @ np.linalg.solve(
        correlation, correlation - np.diag(gaps)
    )
    assert np.allclose(knockoff_covariance(correlation, gaps), given_predictors)


@pytest.mark.filterwarnings("error")
def test_knockoffs_of_constants_are_these():
    values = np.tile([1.0, -2.5], (5, 1))
    np.testing.assert_array_equal(gaussian_knockoffs(values, np.random.default_rng(1)), values)


def test_knockoffs_can_be_exchanged_with_their_predictors():
    rng = np.random.default_rng(3)
    n, C = 4000, np.array([[1, 0.8, 0.3], [0.8, 1, 0.0], [0.3, 0.0, 1]])
    values = np.exp(rng.multivariate_normal(np.zeros(3), C, size=n))
    copies = gaussian_knockoffs(values, rng)
    logs, copied = np.log(values), np.log(copies)
    both = np.corrcoef(np.column_stack([logs, copied]).T)
    assert np.allclose(both[3:, 3:], both[:3, :3], atol=0.06)
    off = ~np.eye(3, dtype=bool)
    assert np.allclose(both[:3, 3:][off], both[:3, :3][off], atol=0.06)
    assert (np.diag(both[:3, 3:]) < 0.95).all()
    assert copies.min() >= values.min() and copies.max() <= values.max()


@given(
    W=st.lists(st.integers(-6, 6), min_size=1, max_size=25),
    fdr=st.sampled_from([0.05, 0.1, 0.2, 0.5, 0.9]),
)
def test_thresholds_are_those_of_the_definition(W, fdr):
    W = np.array(W, dtype=float)
    expected = selected_by_knockoffs(W.tolist(), fdr)
    assert (knockoff_threshold(W, fdr) <= W).tolist() == expected
    assert (knockoff_values(W) <= fdr).tolist() == expected


@pytest.mark.parametrize("W", [[0.0, 0.0], [-1.0, 0.0]])
def test_nothing_is_selected_without_a_difference_above_0(W):
    W = np.array(W)
    assert knockoff_threshold(W, 0.99) == np.inf
    assert (knockoff_values(W) == 1).all()


@pytest.mark.parametrize("n_negative", [0, 1, 3])
def test_what_has_a_rate_is_selected_at_it(n_negative):
    # 1 / 49 · 49 is a little less than 1 in floating point
    for n_positive in range(1, 120):
        W = np.r_[np.full(n_positive, 2.0), np.full(n_negative, -1.0), np.full(n_negative, -3.0)]
        rate = knockoff_values(W).min()
        if rate < 1:
            assert (knockoff_threshold(W, rate) <= W).sum() == n_positive, n_positive
