"""Kernel ridge regression against loops, rows that are really left out, and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as Reference

from odrf.statistics import ridge as module
from odrf.statistics.ridge import kernel_ridge, kernel_values


def drawn(seed, n=12, p=2, K=2):
    rng = np.random.default_rng(seed)
    points, Y = rng.normal(size=(n, p)), rng.normal(size=(n, K))
    return points, Y, rng.uniform(0.2, 2, n)


def plain(points, Y, weights, mean_weight, kernel, width, penalty):
    """Coefficients and intercept from the equations as they are written."""
    n = len(points)
    A = np.zeros((n + 1, n + 1))
    for i in range(n):
        for j in range(n):
            d = math.dist(points[i], points[j]) / width
            A[i, j] = math.exp(-(d**2) / 2) if kernel == "gauss" else math.exp(-d)
        A[i, i] += penalty * mean_weight / weights[i] + module.LEAST_NOISE
        A[i, n] = A[n, i] = 1
    solution = np.linalg.solve(A, np.vstack([Y, np.zeros(Y.shape[1])]))
    return solution[:n], solution[n]


def predicted(points, coef, intercept, kernel, width, x):
    total = intercept.copy()
    for point, c in zip(points, coef, strict=True):
        d = math.dist(point, x) / width
        total += c * (math.exp(-(d**2) / 2) if kernel == "gauss" else math.exp(-d))
    return total


@given(st.integers(0, 999))
def test_it_is_the_solution_of_its_equations_also_without_each_row(seed):
    points, Y, weights = drawn(seed)
    found, left_out = kernel_ridge(points, Y, weights)
    how = found.kernel, found.width, found.penalty
    mean = weights.mean()
    coef, intercept = plain(points, Y, weights, mean, *how)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.intercept, intercept, rtol=1e-6, atol=1e-8)
    new = drawn(seed + 1)[0]
    expected = [predicted(points, coef, intercept, *how[:2], x) for x in new]
    np.testing.assert_allclose(kernel_values(found, points, new), expected, rtol=1e-6, atol=1e-8)
    for i in (0, 7):
        others = np.arange(len(Y)) != i
        parts = points[others], Y[others], weights[others]
        without = plain(*parts, mean, *how)
        expected = predicted(points[others], *without, *how[:2], points[i])
        np.testing.assert_allclose(left_out[i], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_choices_have_the_smallest_error_of_rows_left_out(seed):
    points, Y, weights = drawn(seed, K=1)
    _, left_out = kernel_ridge(points, Y, weights)
    unit = np.median([math.dist(a, b) for i, a in enumerate(points) for b in points[:i]])
    errors = {}
    for kernel, widths in module.WIDTHS.items():
        for width in widths:
            for penalty in module.PENALTIES[::6]:
                total = 0.0
                for i in range(len(Y)):
                    keep = np.arange(len(Y)) != i
                    how = kernel, width * unit
                    parts = points[keep], Y[keep], weights[keep]
                    fitted = plain(*parts, weights.mean(), *how, penalty)
                    off = Y[i] - predicted(points[keep], *fitted, *how, points[i])
                    total += weights[i] * float(off @ off)
                errors[kernel, width, penalty] = total
    own = float(weights @ (Y - left_out)[:, 0] ** 2)
    assert own <= min(errors.values()) * (1 + 1e-6)


def test_the_coefficients_are_those_of_scikit_learn():
    points, Y, _ = drawn(5, n=40)
    found, _ = kernel_ridge(points, Y, np.ones(40))
    kernel = RBF(found.width)(points) if found.kernel == "gauss" else None
    if kernel is None:
        from scipy.spatial.distance import cdist  # noqa: PLC0415

        kernel = np.exp(-cdist(points, points) / found.width)
    reference = Reference(alpha=found.penalty + module.LEAST_NOISE, kernel="precomputed")
    reference.fit(kernel, Y - found.intercept)
    np.testing.assert_allclose(found.coef, reference.dual_coef_, rtol=1e-6, atol=1e-9)


def test_a_smooth_truth_is_found_and_choices_need_few_rows():
    rng = np.random.default_rng(2)
    points = rng.uniform(-2, 2, (700, 3))
    truth = np.sin(3 * points[:, 0]) * points[:, 1]
    Y = (truth + rng.normal(size=700) / 10)[:, None]
    found, left_out = kernel_ridge(points, Y, np.ones(700))
    assert np.mean((left_out[:, 0] - truth) ** 2) < 0.05 * truth.var()
    again, _ = kernel_ridge(points[:500], Y[:500], np.ones(500))
    assert (found.kernel, found.width, found.penalty) == again[:3]


@pytest.mark.parametrize("n", [2, 3])
def test_few_and_equal_rows(n):
    points, Y = np.zeros((n, 1)), np.arange(n, dtype=float)[:, None]
    found, _ = kernel_ridge(points, Y, np.full(n, 1e12))
    np.testing.assert_allclose(kernel_values(found, points, np.ones((1, 1))), Y.mean())
    weights = np.array([1.0, *np.full(n - 1, 1e-12)])
    assert np.isfinite(kernel_ridge(points, Y, weights)[1]).all()


def test_a_row_alone_is_predicted_as_among_others():
    points, Y, weights = drawn(3, n=1500, p=7)
    found, _ = kernel_ridge(points, Y, weights)
    new = drawn(4, n=1100, p=7)[0]
    together = kernel_values(found, points, new)
    for i in range(0, 1100, 99):
        np.testing.assert_array_equal(kernel_values(found, points, new[i : i + 1])[0], together[i])
