"""Running lines and projection pursuit against their twins, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference.pursuit as twin
from odrf.engine.directions.estimation import (
    covariances,
    least_squares,
    moments,
    pursue,
    pursuit_for,
    running_lines,
)
from odrf.engine.directions.samplers import workspace

quick = settings(deadline=None)


def lines(u, t, a, half):
    m = len(u)
    fit, slope = np.empty(m), np.empty(m)
    running_lines(u, t, a, m, half, pursuit_for(1, m), fit, slope)
    return fit, slope


def pursued(Z, t, a, steps, half):
    """Call the kernel as a node does; Z is (m, d)."""
    m, d = Z.shape
    work = workspace(d, m)
    work.Z[:] = Z.T
    total, _ = moments(t, a, m, work.moment)
    assert covariances(work.Z, d, m, a, work.moment, total, work, work.theta)
    least_squares(d, work, work.theta)
    pursue(work.Z, d, m, t, a, total, steps, half, work, pursuit_for(d, m), work.theta)
    return work.theta[:d]


@quick
@example(2, 1, 4, 122962)  # two equal numbers, whose variance is not exactly 0
@given(
    st.integers(2, 40), st.integers(1, 45), st.sampled_from([2, 4, 9, 1000]), st.integers(0, 10**9)
)
def test_lines_are_those_of_the_twin(m, half, grid, seed):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, grid, m) / (grid - 1) - 0.5
    t, a = rng.random(m), rng.uniform(0.2, 3.0, m)
    found, expected = lines(u, t, a, half), twin.running_lines(u, t, a, half)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@quick
@given(st.integers(1, 20), st.integers(0, 10**9))
def test_a_line_is_left_as_it_is_and_the_order_of_the_rows_is_nothing(half, seed):
    rng = np.random.default_rng(seed)
    u, a = np.round(rng.normal(size=40), 1), rng.uniform(0.2, 3.0, 40)
    fit, _ = lines(u, 2 * u + 1, a, half)
    distinct = np.unique(u)
    inner = np.isin(u, distinct[1:-1])
    np.testing.assert_allclose(fit[inner], (2 * u + 1)[inner], atol=1e-9)
    t, order = rng.random(40), rng.permutation(40)
    for one, other in zip(
        lines(u, t, a, half), lines(u[order], t[order], a[order], half), strict=True
    ):
        np.testing.assert_allclose(one[order], other, rtol=1e-7, atol=1e-9)


@quick
@given(st.integers(30, 80), st.integers(2, 5), st.integers(0, 3), st.integers(0, 10**9))
def test_directions_are_those_of_the_twin(m, d, steps, seed):
    rng = np.random.default_rng(seed)
    Z, a = rng.random((m, d)), rng.uniform(0.2, 3.0, m)
    t = np.cos(3 * Z @ rng.normal(size=d)) + rng.normal(size=m) / 5
    found = pursued(Z, t, a, steps, 12)
    np.testing.assert_allclose(found, twin.pursue(Z, t, a, steps, 12), atol=1e-6)
    start = pursued(Z, t, a, 0, 12)
    assert twin.loss(Z, t, a, 12, found) <= twin.loss(Z, t, a, 12, start) * (1 + 1e-9)


@pytest.mark.parametrize("shape", [np.square, np.sin, np.tanh])
def test_a_planted_direction_is_found(shape):
    rng = np.random.default_rng(8)
    Z, theta = rng.uniform(-1, 1, (1000, 4)), np.array([0.8, -0.6, 0.0, 0.0])
    t = shape(3 * Z @ theta + 0.5) + rng.normal(size=1000) / 10
    assert abs(pursued(Z, t, np.ones(1000), 10, 100) @ theta) > 0.99


def test_what_cannot_be_smoothed_is_left():
    Z = np.repeat([[0.0, 0.0], [1.0, 0.0]], 20, axis=0)
    t = Z[:, 0] + np.tile([0.0, 0.1], 20)
    np.testing.assert_allclose(np.abs(pursued(Z, t, np.ones(40), 3, 5)), [1, 0], atol=1e-9)
