"""Directions estimated on a subset of predictors: least squares, logistic, LDA, level means.

Every estimator sees m rows of a node in the first d rows of Z (≥ d, ≥ m), scaled predictors,
weights a and a target t in [0, 1], and writes θ.  The ridge keeps each system solvable when
predictors are collinear or rows are few; it is measured in units of the mean diagonal of the
matrix it is added to, so it does not depend on weights or n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part, summing
from odrf.engine.directions.cholesky import factorise, solve_lower, solve_upper

__all__ = [
    "RIDGE",
    "UNRELATED",
    "Workspace",
    "add_ridge",
    "centre",
    "covariances",
    "hold",
    "lda",
    "least_squares",
    "level_means",
    "logistic",
    "moments",
    "normalise",
    "scatter",
    "solve",
    "weigh",
    "workspace",
]

RIDGE = 1e-3
UNRELATED = 1e-12
LEAST_SHARE, LEAST_VARIANCE = 1e-3, 1e-4
LEAST_SCATTER = 1e-12
LOG_2, LOG2_E = math.log(2.0), 1.0 / math.log(2.0)
EXPONENT_BIAS, MANTISSA_BITS = 1023, 52


class Workspace(NamedTuple):
    """Scratch for estimating directions on up to D columns and R rows.

    Attributes
    ----------
    Z, weighted : (D, R) float64
    weights, target, moment, product, eta, mean, variance, residual : (R,) float64
    power : (R,) int64
    term : (D,) int64
    scores : (D,) float64
        Which term of a direction each of its columns belongs to, and what it counts there.
    A : (D + 1, D + 1) float64
    theta, step, sums : (D + 1,) float64
    """

    Z: np.ndarray
    weighted: np.ndarray
    weights: np.ndarray
    target: np.ndarray
    moment: np.ndarray
    product: np.ndarray
    eta: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    residual: np.ndarray
    power: np.ndarray
    term: np.ndarray
    scores: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    step: np.ndarray
    sums: np.ndarray


def workspace(D: int, R: int) -> Workspace:
    """Allocate the scratch for D columns and R rows."""
    return Workspace(
        np.empty((D, R)),
        np.empty((D, R)),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R, dtype=np.int64),
        np.empty(D, dtype=np.int64),
        np.empty(D),
        np.empty((D + 1, D + 1)),
        np.empty(D + 1),
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
    """Return Σ x·z_j over the first m."""
    total = 0.0
    for i in range(m):
        total += x[i] * Z[j, i]
    return total


@part
def solve(A, b, d):
    """Solve A·x = b of order d in place for a symmetric positive definite A.

    The solution is 0 where it is not positive definite.
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
    """Return Σ y_j·z_k over the first m."""
    total = 0.0
    for i in range(m):
        total += Y[j, i] * Z[k, i]
    return total


@summing
def _weigh(Z, weighted, j, m, a, moment):
    """Write a·z_j to weighted[j]; return its sum and that of z_j·moment."""
    total, related = 0.0, 0.0
    for i in range(m):
        weighted[j, i] = a[i] * Z[j, i]
        total += weighted[j, i]
        related += Z[j, i] * moment[i]
    return total, related


@part
def weigh(Z, d, m, a, moment, work, theta):
    """Write Σ a·z_j to work.sums and Σ z_j·moment to θ; return the largest of these in size.

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

    `moment` as `moments` writes it.  Sums of products less the product of sums lose the more
    digits the farther Z is from 0, for its spread: let it start at one of its rows.  Leaves
    Σ a·z_j in work.sums.  False when rounding can explain all of θ.
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


@part
def add_ridge(A, d, share):
    """Add to the diagonal of A, of order d, this share of its mean; return what was added."""
    total = 0.0
    for j in range(d):
        total += A[j, j]
    ridge = share * total / d
    for j in range(d):
        A[j, j] += ridge
    return ridge


@part
def hold(A, d, total):
    """Add the ridge to a scatter within classes, which is 0 where each of them has one row."""
    add_ridge(A, d, RIDGE)
    for j in range(d):
        A[j, j] += LEAST_SCATTER * total


@kernel
def least_squares(d, work, theta):
    """Ridge-stabilised least squares; for two classes Fisher's discriminant.

    work.A and θ come as `covariances` writes them.  Returns the ridge.
    """
    ridge = add_ridge(work.A, d, RIDGE)
    solve(work.A, theta, d)
    return ridge


@kernel
def logistic(Z, d, m, t, a, total, share, steps, work, theta):
    """Weights of a one-unit logistic model of t on Z, with intercept: so many Newton steps.

    Maximises Σ a·(t·log σ(η) + (1 - t)·log σ(-η)), η = c + θᵀz, less a ridge on θ.  The target
    may be a share: a numeric response is first mapped to [0, 1], so that the fit is the ridge
    function a + b·σ(θᵀz + c) with its two asymptotes held at the extremes of the response.
    The first step, from θ = 0 and c = logit of the mean of t, `share`, is least squares,
    scaled: work.A, work.sums and θ come as `covariances` writes them.  Z is centred in place.
    """
    eta, mean, variance, residual = work.eta, work.mean, work.variance, work.residual
    power, scale = work.power, work.power.view(np.float64)
    A, step, product = work.A, work.step, work.product
    start = min(max(share, LEAST_SHARE), 1.0 - LEAST_SHARE)
    spread = start * (1.0 - start)
    ridge = spread * least_squares(d, work, theta)
    intercept = math.log(start / (1.0 - start)) + (share - start) / spread
    for j in range(d):
        theta[j] /= spread
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

    θ comes as the covariances with t, whose mean is `share`.  The scatter is pooled within all
    classes y (m,), not within the two groups only: Z is centred within each class, in place.
    class_weight and class_mean (K,) are scratch; None compiles to nothing, where nobody calls it.
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
    hold(work.A, d, total)
    solve(work.A, theta, d)


@kernel
def level_means(Z, d, m, a, moment, theta):
    """Score each level of a factor by its mean of the target, from the overall mean.

    Z holds the levels' indicators, `moment` is as `moments` writes it.  Ordering levels by these
    scores contains the best of all binary partitions of the levels, for a numeric response and
    for two classes (Breiman et al. 1984, Theorem 4.5); a level absent from the node scores 0.
    """
    for j in range(d):
        weight, score = 0.0, 0.0
        for i in range(m):
            if Z[j, i] > 0.5:
                weight += a[i]
                score += moment[i]
        theta[j] = score / weight if weight > 0.0 else 0.0
