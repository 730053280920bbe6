"""What chance adds to the fit of indicators, which the gain of a split is reduced by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf import odrf
from odrf.engine.compiling import kernel
from odrf.engine.directions.estimation import moments
from odrf.engine.directions.factors import beyond_chance
from odrf.engine.directions.samplers import workspace
from odrf.simulate import friedman1
from reference.indicator_noise import beyond_chance as twin


@kernel
def call(work):
    """Call what only kernels can call."""
    return beyond_chance(work, work.levels)


def share(Z, theta, t, a, free):
    m, terms = Z.shape
    work = workspace(terms, m)
    work.Z[:, :m], work.target[:m], work.weights[:m] = Z.T, t, a
    work.theta[:terms] = theta
    work.size[2:] = free, terms, m
    moments(work.target, work.weights, m, work.moment)
    return call(work)


@settings(deadline=None)
@given(st.integers(3, 40), st.integers(1, 5), st.integers(0, 12), st.integers(0, 2**32))
def test_it_is_that_of_the_twin(m, terms, free, seed):
    rng = np.random.default_rng(seed)
    Z, theta, a = rng.random((m, terms)), rng.normal(size=terms), rng.uniform(0.1, 2, m)
    t = Z @ theta + rng.uniform(0, 2) * rng.normal(size=m)
    found, expected = share(Z, theta, t, a, free), twin(Z @ theta, t, a, free)
    assert found**2 == pytest.approx(expected**2, abs=1e-9)


def test_it_is_1_without_factors_and_for_a_perfect_fit_but_0_if_nothing_is_left():
    rng = np.random.default_rng(1)
    Z, theta, a = rng.random((9, 2)), np.array([1.0, -2.0]), np.ones(9)
    assert share(Z, theta, rng.random(9), a, 0) == 1.0
    assert share(Z, theta, Z @ theta, a, 7) == pytest.approx(1.0)
    assert share(Z, theta, Z @ theta, a, 8) == 0.0


def test_a_fit_of_noise_counts_for_little():
    rng, shares, levels = np.random.default_rng(2), [], 5
    for _ in range(200):
        level, t = rng.integers(0, levels, 60), rng.random(60)
        Z = (level[:, None] == np.arange(levels)).astype(float)
        means = np.array([t[level == k].mean() if (level == k).any() else 0 for k in range(levels)])
        shares.append(share(Z, means, t, np.ones(60), levels - 1) ** 2)
    assert np.mean(shares) < 0.1


def test_factors_of_noise_cost_a_forest_little():
    known = friedman1(p=5, noise=0.5).sample(300, seed=3)
    rng = np.random.default_rng(4)
    noisy = known.assign(**{f"f{j}": rng.choice(list("abcde"), len(known)) for j in range(3)})
    errors = [odrf("y ~ .", data, n_trees=60, seed=5).oob_error for data in (known, noisy)]
    # 1.7 to 2 if the fit of their coefficients counted in full
    assert errors[1] < 1.35 * errors[0]
