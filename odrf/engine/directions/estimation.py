"""Directions estimated on a subset of predictors: least squares, logistic, LDA.

Every estimator takes m rows of a node: d scaled predictors in the first d rows of Z (≥ d, ≥ m),
weights a and a target t in [0, 1].  It writes the direction θ.  A ridge keeps each linear system
solvable when predictors are collinear or rows are few.  It is relative to the mean diagonal of the
matrix that it is added to, so it does not depend on the unit of the weights or on n.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import kernel, part, summing
from odrf.engine.directions.cholesky import factorise, solve_lower, solve_upper

__all__ = [
    "RIDGE",
    "UNRELATED",
    "add_ridge",
    "add_within_ridge",
    "centre",
    "covariances",
    "lda",
    "least_squares",
    "logistic",
    "moments",
    "normalise",
    "scatter",
    "solve",
    "weigh",
]

RIDGE = 1e-3
UNRELATED = 1e-12
LEAST_SHARE, LEAST_VARIANCE = 1e-3, 1e-4
LEAST_SCATTER = 1e-12
LOG_2, LOG2_E = math.log(2.0), 1.0 / math.log(2.0)
EXPONENT_BIAS, MANTISSA_BITS = 1023, 52


@summing
def _inner(x, y, m):
    """Return Σ x·y over the first m entries."""
    total = 0.0
    for i in range(m):
        total += x[i] * y[i]
    return total


@summing
def _total(x, m):
    """Return Σ x over the first m entries."""
    total = 0.0
    for i in range(m):
        total += x[i]
    return total


@summing
def _inner_row(x, Z, j, m):
    """Return Σ x·z_j over the first m entries."""
    total = 0.0
    for i in range(m):
        total += x[i] * Z[j, i]
    return total


@part
def solve(A, b, d):
    """Solve A·x = b of order d in place for a symmetric positive definite A.

    The solution is 0 if A is not positive definite.
    """
    if factorise(A, d):
        solve_lower(A, b, d)
        solve_upper(A, b, d)
    else:
        for i in range(d):
            b[i] = 0.0


@part
def _gram(Z, d, m, a, A, product):
    """Write Σ a·z_j·z_k, k ≤ j, to A."""
    for j in range(d):
        for i in range(m):
            product[i] = a[i] * Z[j, i]
        for k in range(j + 1):
            A[j, k] = _inner_row(product, Z, k, m)


@summing
def _inner_rows(Y, Z, j, k, m):
    """Return Σ y_j·z_k over the first m entries."""
    total = 0.0
    for i in range(m):
        total += Y[j, i] * Z[k, i]
    return total


@summing
def _weigh(Z, weighted, j, m, a, moment):
    """Write a·z_j to weighted[j]; return Σ a·z_j and Σ z_j·moment."""
    total, covariance = 0.0, 0.0
    for i in range(m):
        weighted[j, i] = a[i] * Z[j, i]
        total += weighted[j, i]
        covariance += Z[j, i] * moment[i]
    return total, covariance


@part
def weigh(Z, d, m, a, moment, work, theta):
    """Write Σ a·z_j to work.sums and Σ z_j·moment to θ; return the largest |Σ z_j·moment|.

    Leaves a·z_j in work.weighted.
    """
    largest = 0.0
    for j in range(d):
        work.sums[j], theta[j] = _weigh(Z, work.weighted, j, m, a, moment)
        largest = max(largest, abs(theta[j]))
    return largest


@part
def scatter(Z, d, m, total, work):
    """Write Σ a·(z_j - z̄_j)·(z_k - z̄_k), k ≤ j, to work.A, after `weigh`."""
    sums = work.sums
    for j in range(d):
        for k in range(j + 1):
            products = _inner_rows(work.weighted, Z, j, k, m)
            work.A[j, k] = products - sums[j] * sums[k] / total


@kernel
def moments(t, a, m, moment):
    """Write a·(t - t̄), t̄ the weighted mean of t, to moment (≥ m,); return Σ a and t̄."""
    total, share = _total(a, m), _inner(a, t, m)
    share /= total
    for i in range(m):
        moment[i] = a[i] * (t[i] - share)
    return total, share


@kernel
def covariances(Z, d, m, a, moment, total, work, theta):
    """Write Σ a·(z_j - z̄_j)·(z_k - z̄_k), k ≤ j, to work.A and Σ a·(z_j - z̄_j)·t to θ.

    `moment` as written by `moments`.  A sum of products minus a product of sums loses digits if the
    mean of Z is large compared with its standard deviation: subtract one of its rows first.  Leaves
    Σ a·z_j in work.sums.  Returns False if θ is 0 up to rounding.
    """
    if not weigh(Z, d, m, a, moment, work, theta) > UNRELATED * total:
        return False
    scatter(Z, d, m, total, work)
    return True


@kernel
def centre(Z, d, m, sums, total):
    """Subtract from each of the first d rows of Z its mean ``sums[j] / total``, in place."""
    for j in range(d):
        mean = sums[j] / total
        for i in range(m):
            Z[j, i] -= mean


@kernel
def normalise(theta, d):
    """Scale the first d entries of θ to length 1 in place; return False if that is impossible."""
    length = math.sqrt(_inner(theta, theta, d))
    if not (length > 1e-150 and length < 1e150):
        return False
    for j in range(d):
        theta[j] /= length
    return True


@kernel
def _sigmoid(eta, power, scale, mean, m):
    """Write σ(η) = 1 / (1 + exp(-η)) to mean, in loops that run in SIMD lanes.

    exp(x) = 2ⁿ·exp(r), with n the nearest integer to x / log 2.  Then |r| < 0.35, and nine terms of
    the series have a relative error of 1e-11.  The bits of the float 2ⁿ are written to `power`;
    `scale` is the same memory viewed as floats.
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


@part
def add_ridge(A, d, share):
    """Add this share of the mean diagonal of A (d, d) to its diagonal; return what was added."""
    total = 0.0
    for j in range(d):
        total += A[j, j]
    ridge = share * total / d
    for j in range(d):
        A[j, j] += ridge
    return ridge


@part
def add_within_ridge(A, d, total):
    """Add the ridge to a within-class scatter A, and a minimum in case A is 0.

    It is 0 if every class has one row; `total` is the sum of the weights.
    """
    add_ridge(A, d, RIDGE)
    for j in range(d):
        A[j, j] += LEAST_SCATTER * total


@kernel
def least_squares(d, work, theta):
    """Ridge-stabilised least squares; for two classes Fisher's discriminant.

    work.A and θ as written by `covariances`; θ is overwritten.  Returns the ridge.
    """
    ridge = add_ridge(work.A, d, RIDGE)
    solve(work.A, theta, d)
    return ridge


@kernel
def logistic(Z, d, m, t, a, total, share, steps, work, theta):
    """Coefficients of a logistic model of t on Z with intercept, by `steps` Newton steps.

    Maximises Σ a·(t·log σ(η) + (1 - t)·log σ(-η)), η = c + θᵀz, with a ridge penalty on θ.  The
    target may be any number in [0, 1]: a numeric response is first mapped to [0, 1], and the fit is
    then a ridge function a + b·σ(θᵀz + c) whose asymptotes are the extremes of the response.  The
    first step, from θ = 0 and c = logit of `share`, the mean of t, is rescaled least squares:
    work.A, work.sums and θ as written by `covariances`.  Z is centred in place.
    """
    eta, mean, variance, residual = work.eta, work.mean, work.variance, work.residual
    power, scale = work.power, work.power.view(np.float64)
    A, step, product = work.A, work.step, work.product
    start = min(max(share, LEAST_SHARE), 1.0 - LEAST_SHARE)
    start_variance = start * (1.0 - start)
    ridge = start_variance * least_squares(d, work, theta)
    intercept = math.log(start / (1.0 - start)) + (share - start) / start_variance
    for j in range(d):
        theta[j] /= start_variance
    centre(Z, d, m, work.sums, total)
    for _ in range(steps - 1):
        for i in range(m):
            eta[i] = intercept
        for j in range(d):
            for i in range(m):
                eta[i] += theta[j] * Z[j, i]
        _sigmoid(eta, power, scale, mean, m)
        for i in range(m):
            variance[i] = a[i] * max(mean[i] * (1.0 - mean[i]), LEAST_VARIANCE)
            residual[i] = a[i] * (t[i] - mean[i])
        A[d, d], step[d] = _total(variance, m) + 1e-9 * total, _total(residual, m)
        _gram(Z, d, m, variance, A, product)
        for j in range(d):
            A[d, j] = _inner_row(variance, Z, j, m)
            A[j, j] += ridge
            step[j] = _inner_row(residual, Z, j, m) - ridge * theta[j]
        solve(A, step, d + 1)
        for j in range(d):
            theta[j] += step[j]
        intercept += step[d]


@kernel
def lda(Z, d, m, a, y, total, share, class_weight, class_mean, work, theta):
    """Fisher's discriminant between the rows with t = 1 and t = 0.

    θ holds the covariances with t, whose mean is `share`.  The scatter is pooled within all classes
    y (m,), not only within the two groups: Z is centred within each class, in place.  class_weight
    and class_mean (K,) are scratch; None where the function is never called, so that it compiles to
    nothing.
    """
    if class_mean is None:
        return
    K = len(class_mean)
    for k in range(K):
        class_weight[k] = 0.0
    for i in range(m):
        class_weight[int(y[i])] += a[i]
    for j in range(d):
        theta[j] /= share * (1.0 - share) * total
        for k in range(K):
            class_mean[k] = 0.0
        for i in range(m):
            class_mean[int(y[i])] += a[i] * Z[j, i]
        for i in range(m):
            Z[j, i] -= class_mean[int(y[i])] / class_weight[int(y[i])]
    _gram(Z, d, m, a, work.A, work.product)
    add_within_ridge(work.A, d, total)
    solve(work.A, theta, d)
