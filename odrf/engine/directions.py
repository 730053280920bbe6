"""Directions estimated on a subset of predictors: least squares, logistic, LDA, level means.

Every estimator sees m rows of a node in the first d rows of Z (≥ d, ≥ m), scaled predictors
centred at their weighted means, a target t in [0, 1] and weights a, and writes θ.  The ridge
keeps each system solvable when predictors are collinear or rows are few; it is measured in
units of the mean diagonal of the matrix it is added to, so it does not depend on weights or n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part, summing

__all__ = [
    "RIDGE",
    "Workspace",
    "centre",
    "covariances",
    "lda",
    "least_squares",
    "level_means",
    "logistic",
    "normalise",
    "workspace",
]

RIDGE = 1e-3
UNRELATED = 1e-12
LOG_2, LOG2_E = math.log(2.0), 1.0 / math.log(2.0)
EXPONENT_BIAS, MANTISSA_BITS = 1023, 52


class Workspace(NamedTuple):
    """Scratch for estimating directions on up to D columns and R rows.

    Attributes
    ----------
    Z : (D, R) float64
    target, product, eta, mean, variance, residual : (R,) float64
    power : (R,) int64
    A : (D + 1, D + 1) float64
    theta, step : (D + 1,) float64
    """

    Z: np.ndarray
    target: np.ndarray
    product: np.ndarray
    eta: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    residual: np.ndarray
    power: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    step: np.ndarray


def workspace(D: int, R: int) -> Workspace:
    """Allocate the scratch for D columns and R rows."""
    return Workspace(
        np.empty((D, R)),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R, dtype=np.int64),
        np.empty((D + 1, D + 1)),
        np.empty(D + 1),
        np.empty(D + 1),
    )


@summing
def _inner(x, y, m):
    """Return Σ x·y over the first m."""
    total = 0.0
    for i in range(m):
        total += x[i] * y[i]
    return total


@summing
def _total(x, m):
    """Return Σ x over the first m."""
    total = 0.0
    for i in range(m):
        total += x[i]
    return total


@summing
def _inner_row(x, Z, j, m):
    """Return Σ x·z_j over the first m: no view of the row is made, which would cost as much."""
    total = 0.0
    for i in range(m):
        total += x[i] * Z[j, i]
    return total


@part
def _solve(A, b, d):
    """Solve A·x = b, both of order d, in place for a symmetric positive definite A (Cholesky)."""
    for j in range(d):
        for k in range(j):
            for i in range(j, d):
                A[i, j] -= A[i, k] * A[j, k]
        if A[j, j] <= 0.0:
            for i in range(d):
                b[i] = 0.0
            return
        root = math.sqrt(A[j, j])
        for i in range(j, d):
            A[i, j] /= root
    for i in range(d):
        for k in range(i):
            b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            b[i] -= A[k, i] * b[k]
        b[i] /= A[i, i]


@part
def _gram(Z, d, m, a, A, product):
    """Write Σ a·z_j·z_k, k ≤ j, to A; return the mean of its diagonal."""
    total = 0.0
    for j in range(d):
        for i in range(m):
            product[i] = a[i] * Z[j, i]
        for k in range(j + 1):
            A[j, k] = _inner_row(product, Z, k, m)
        total += A[j, j]
    return total / d


@kernel
def centre(Z, d, m, a, total):
    """Subtract from each of the first d rows of Z its weighted mean, in place; Σ a = `total`."""
    for j in range(d):
        mean = _inner_row(a, Z, j, m) / total
        for i in range(m):
            Z[j, i] -= mean


@kernel
def covariances(Z, d, m, t, a, total, product, theta):
    """Write Σ a·z_j·t of centred Z to θ; False when rounding can explain them all."""
    for i in range(m):
        product[i] = a[i] * t[i]
    largest = 0.0
    for j in range(d):
        theta[j] = _inner_row(product, Z, j, m)
        largest = max(largest, abs(theta[j]))
    return largest > UNRELATED * total


@kernel
def normalise(theta, d):
    """Scale the first d of θ to length 1 in place; return False without a usable length."""
    length = math.sqrt(_inner(theta, theta, d))
    if not (length > 1e-150 and length < 1e150):
        return False
    for j in range(d):
        theta[j] /= length
    return True


@kernel
def _sigmoid(eta, power, scale, mean, m):
    """Write σ(η) = 1 / (1 + exp(-η)) to mean, loop by loop in SIMD lanes.

    exp(x) = 2ⁿ·exp(r), n the nearest integer to x / log 2 and so |r| < 0.35, where nine terms
    of the series leave a relative error of 1e-11; 2ⁿ is written as the bits of a float, of
    which `scale` is a view of `power` as floats.
    """
    for i in range(m):
        x = -min(max(eta[i], -30.0), 30.0)
        n = np.floor(x * LOG2_E + 0.5)
        r = x - n * LOG_2
        power[i] = (np.int64(n) + EXPONENT_BIAS) << MANTISSA_BITS
        series = 1.0 + r / 9.0
        series = 1.0 + r / 8.0 * series
        series = 1.0 + r / 7.0 * series
        series = 1.0 + r / 6.0 * series
        series = 1.0 + r / 5.0 * series
        series = 1.0 + r / 4.0 * series
        series = 1.0 + r / 3.0 * series
        series = 1.0 + r / 2.0 * series
        mean[i] = 1.0 + r * series
    for i in range(m):
        mean[i] = 1.0 / (1.0 + mean[i] * scale[i])


@kernel
def least_squares(Z, d, m, a, work, theta):
    """Ridge-stabilised least squares; for two classes Fisher's discriminant.

    θ comes as the covariances with the target.
    """
    ridge = RIDGE * _gram(Z, d, m, a, work.A, work.product)
    for j in range(d):
        work.A[j, j] += ridge
    _solve(work.A, theta, d)


@kernel
def logistic(Z, d, m, t, a, total, steps, work, theta):
    """Weights of a one-unit logistic model of t on Z, with intercept: so many Newton steps.

    Maximises Σ a·(t·log σ(η) + (1 - t)·log σ(-η)), η = c + θᵀz, less a ridge on θ.  The target
    may be a share: a numeric response is first mapped to [0, 1], so that the fit is the ridge
    function a + b·σ(θᵀz + c) with its two asymptotes held at the extremes of the response.
    """
    eta, mean, variance, residual = work.eta, work.mean, work.variance, work.residual
    power, scale = work.power, work.power.view(np.float64)
    A, step, product = work.A, work.step, work.product
    share = min(max(_inner(a, t, m) / total, 1e-3), 1.0 - 1e-3)
    intercept, ridge = math.log(share / (1.0 - share)), 0.0
    for j in range(d):
        theta[j] = 0.0
    for iteration in range(steps):
        for i in range(m):
            eta[i] = intercept
        for j in range(d):
            for i in range(m):
                eta[i] += theta[j] * Z[j, i]
        _sigmoid(eta, power, scale, mean, m)
        for i in range(m):
            variance[i] = a[i] * max(mean[i] * (1.0 - mean[i]), 1e-4)
            residual[i] = a[i] * (t[i] - mean[i])
        A[d, d], step[d] = _total(variance, m) + 1e-9 * total, _total(residual, m)
        diagonal = _gram(Z, d, m, variance, A, product)
        if iteration == 0:
            ridge = RIDGE * diagonal
        for j in range(d):
            A[d, j] = _inner_row(variance, Z, j, m)
            A[j, j] += ridge
            step[j] = _inner_row(residual, Z, j, m) - ridge * theta[j]
        _solve(A, step, d + 1)
        for j in range(d):
            theta[j] += step[j]
        intercept += step[d]


@kernel
def lda(Z, d, m, t, a, y, n_classes, total, work, theta):
    """Fisher's discriminant between the rows with t = 1 and t = 0.

    θ comes as the covariances with t.  The scatter is pooled within all classes y (m,), not
    within the two groups only: Z is centred anew within each class.
    """
    weight, mean = np.zeros(n_classes), np.zeros(n_classes)
    ones = _inner(a, t, m)
    for i in range(m):
        weight[int(y[i])] += a[i]
    for j in range(d):
        theta[j] /= ones * (total - ones) / total
        for k in range(n_classes):
            mean[k] = 0.0
        for i in range(m):
            mean[int(y[i])] += a[i] * Z[j, i]
        for i in range(m):
            Z[j, i] -= mean[int(y[i])] / weight[int(y[i])]
    ridge = RIDGE * _gram(Z, d, m, a, work.A, work.product) + 1e-12 * total
    for j in range(d):
        work.A[j, j] += ridge
    _solve(work.A, theta, d)


@kernel
def level_means(Z, d, m, t, a, total, theta):
    """Score each level of a factor by its mean of t, from the overall mean.

    Z holds the levels' indicators, not centred.  Ordering levels by these scores contains the
    best of all binary partitions of the levels, for a numeric response and for two classes
    (Breiman et al. 1984, Theorem 4.5); a level absent from the node scores 0.
    """
    mean = _inner(a, t, m) / total
    for j in range(d):
        weight, score = 0.0, 0.0
        for i in range(m):
            if Z[j, i] > 0.5:
                weight += a[i]
                score += a[i] * (t[i] - mean)
        theta[j] = score / weight if weight > 0.0 else 0.0
