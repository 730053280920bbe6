"""Quantiles of a new residual: against their definition, and their chances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.conformal import residual_quantiles, shares_below

SIZES = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=12, unique=True)


def slow_quantile(residual, weights, level):
    """Go through the residuals in their order until enough of the weight is reached."""
    pairs = sorted(zip(residual, weights, strict=True))
    total = sum(weights) + sum(weights) / len(weights)
    before, share = None, 0.0
    for size, weight in pairs:
        reached = share + weight / total
        if reached >= level - 1e-12:
            if before is None:
                return size if level > reached - 1e-12 else -np.inf
            return before + (size - before) * (level - share) / (reached - share)
        before, share = size, reached
    return np.inf


@given(SIZES, st.integers(0, 99), st.floats(0.01, 0.99))
def test_quantiles_are_those_of_the_definition(residual, seed, level):
    weights = np.random.default_rng(seed).integers(1, 4, len(residual)).astype(float)
    found = residual_quantiles(np.array(residual), weights, np.array([level]))[0]
    assert found == pytest.approx(slow_quantile(residual, weights.tolist(), level), abs=1e-6)


@given(SIZES, st.integers(0, 99))
def test_unknown_residuals_and_those_of_weight_0_do_not_count(residual, seed):
    rng = np.random.default_rng(seed)
    levels = rng.uniform(size=3)
    more = np.append(residual, [np.nan, 7.0])
    weights = np.append(np.ones(len(residual)), [1.0, 0.0])
    expected = residual_quantiles(np.array(residual), np.ones(len(residual)), levels)
    np.testing.assert_array_equal(residual_quantiles(more, weights, levels), expected)
    observed = rng.integers(-20, 20, 4).astype(float)
    slow = [np.mean([(r < o) + (r == o) / 2 for r in residual]) for o in observed]
    np.testing.assert_allclose(shares_below(more, weights, observed), slow)
    assert np.isnan(shares_below(more, weights, np.array([np.nan]))).all()


def test_a_new_residual_is_below_with_the_chance_that_is_asked():
    rng = np.random.default_rng(1)
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    below = np.zeros(5)
    for _ in range(4000):
        *known, new = rng.standard_exponential(20)
        below += new <= residual_quantiles(np.array(known), np.ones(19), levels)
    np.testing.assert_allclose(below / 4000, levels, atol=4 * np.sqrt(0.25 / 4000))


def test_without_residuals_nothing_is_known():
    none = residual_quantiles(np.array([np.nan]), np.ones(1), np.array([0.1, 0.9]))
    assert none.tolist() == [-np.inf, np.inf]
