"""Covariances of functionals against the formula, and where the truth is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws, Sampling
from odrf.statistics.effects import FunctionalCovariance, functional_covariance, joint_test
from odrf.statistics.jackknife import distinguishes_rows, jackknife_after_bootstrap
from reference import inference as twin
from resampled import all_counts, forests


def values_of(grown) -> np.ndarray:
    """What each tree predicts for the new rows, (B, 3)."""
    return np.column_stack(
        [
            [grown.forest.value[twin.leaf(grown.forest, b, x), 0] for b in range(len(grown.kinds))]
            for x in grown.new.T
        ]
    )


@settings(max_examples=30, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_covariances_are_those_of_the_formula(grown):
    assume(distinguishes_rows(grown.draws()))
    values = values_of(grown)
    found = functional_covariance(values, grown.kinds, grown.draws())
    counts = twin.draws(*grown.draws()[:3])[:, grown.problem.weights > 0]
    ends = [batch.begin for batch in grown.samplings[0].later] + [len(grown.problem.weights)]
    ends = [0, *(int((grown.problem.weights[:end] > 0).sum()) for end in ends)]
    rows = [slice(*pair) for pair in pairwise(ends)]
    for j in range(3):
        for k in range(3):
            expected = twin.covariance(
                values[:, j], values[:, k], grown.kinds.tolist(), counts, grown.samplings,
                grown.streams, rows,
            )  # fmt: skip
            parts = (found.raw[j, k], found.bias[j, k], found.of_trees[j, k])
            assert parts == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_predictions_have_the_variances_of_predictions(grown):
    assume(distinguishes_rows(grown.draws()))
    found = functional_covariance(values_of(grown), grown.kinds, grown.draws())
    alone = jackknife_after_bootstrap(grown.forest, grown.new, grown.kinds, grown.draws())
    np.testing.assert_allclose(found.variances.total, alone.total, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.total), alone.total, rtol=1e-9, atol=1e-12)
    assert found.trees_advised >= 0


def covariance_of(raw, bias, trees=0.0) -> FunctionalCovariance:
    zero = np.full_like(raw, trees)
    return FunctionalCovariance(raw, bias, zero, 50, 100)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(1, 6), st.floats(0.0, 3.0))
def test_the_matrix_has_no_negative_eigenvalue(seed, M, share):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(M, 4)) * rng.choice([0.0, 1.0], (M, 1), p=[0.2, 0.8])
    other = rng.normal(size=(M, 4))
    found = covariance_of(half @ half.T, share * other @ other.T)
    total = found.total
    assert np.isfinite(total).all()
    assert np.linalg.eigvalsh(total).min() >= -1e-9 * max(1.0, np.abs(total).max())
    np.testing.assert_allclose(np.diagonal(total), found.variances.total, rtol=1e-9)


def test_without_monte_carlo_error_the_matrix_stays_as_it_is():
    half = np.random.default_rng(1).normal(size=(3, 5))
    raw = half @ half.T
    np.testing.assert_allclose(covariance_of(raw, 0 * raw).total, raw, rtol=1e-12)


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_trees_that_are_means_have_the_covariance_of_means(resample):
    rng = np.random.default_rng(3)
    n, B = 40, 20_000
    rows = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    sampling = Sampling(resample, 1.0 if resample == BOOTSTRAP else 0.5)
    streams = rng.integers(1, 2**63, (B, 4)).astype(np.uint64)
    draws = Draws(np.ones(n), [sampling] * B, streams, 1)
    counts = all_counts(draws).astype(float)
    values = counts @ rows / counts.sum(axis=1, keepdims=True)
    found = functional_covariance(values, np.zeros(B, dtype=np.int64), draws)
    expected = np.cov(rows.T) / n
    # a bootstrap's jackknife is somewhat too large: the mean of a sample without a row differs
    np.testing.assert_allclose(found.total, expected, rtol=0.15)


def test_few_trees_do_not_make_joint_tests_reject():
    """What trees add by chance can look like a correlation, of which some combination has no error.

    Three estimates are 0, and their errors independent.  Of 150 tests at level 5 % at most 15 % may
    reject; if 23 % did, this would be found with a probability of 99 %.  With correlations that are
    estimated one by one it was 31 %.
    """
    rng, rejected = np.random.default_rng(1), 0
    n, B, M = 800, 80, 3
    for _ in range(150):
        streams = rng.integers(1, 2**63, (B, 4)).astype(np.uint64)
        draws = Draws(np.ones(n), [Sampling(SUBSAMPLE, 0.3)] * B, streams, 1)
        counts = all_counts(draws).astype(float)
        rows = rng.normal(size=(n, M))
        values = counts @ rows / counts.sum(axis=1, keepdims=True) + 0.05 * rng.normal(size=(B, M))
        found = functional_covariance(values, np.zeros(B, dtype=np.int64), draws)
        rejected += joint_test(values.mean(axis=0), found.total).p_value <= 0.05
    assert rejected <= 0.15 * 150
