"""Directions estimated on a subset of predictors: least squares, logistic, LDA, pursuit.

Every estimator takes m rows of a node: d scaled predictors in the first d rows of Z (≥ d, ≥ m),
weights a and a target t in [0, 1].  It writes the direction θ.  A ridge keeps each linear system
solvable when predictors are collinear or rows are few.  It is relative to the mean diagonal of the
matrix that it is added to, so it does not depend on the unit of the weights or on n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part, summing
from odrf.engine.numeric import (
    POSITION,
    VALUE_SHIFT,
    DigitScratch,
    digit_scratch,
    factorise,
    key_of,
    solve_lower,
    solve_upper,
    sort_by_digits,
)

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
    """Solve A·x = b of order d in place; x is 0 if A is not symmetric positive definite."""
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
    """Write a·z_j to work.weighted, Σ a·z_j to work.sums, Σ z_j·moment to θ; return its maximum."""
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
    """Add the ridge to a within-class scatter A, and some of `total` in case that A is 0."""
    add_ridge(A, d, RIDGE)
    for j in range(d):
        A[j, j] += LEAST_SCATTER * total


@kernel
def least_squares(d, work, theta):
    """Overwrite θ of `covariances` by the least squares direction; return the ridge."""
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


# One term of projection pursuit: the direction along which a smooth function fits best.
# Friedman and Stuetzle (1981) fit sums of terms g(θᵀz), with g estimated by a smoother.  Here one
# term is fitted, by Gauss-Newton steps.  The smoother is running lines: at u, the least squares
# line through the rows that are at most so many places away from u in sorted order.

# Variances below this share of the total variance are rounding errors.
NO_VARIANCE = 1e-10


class Pursuit(NamedTuple):
    """Scratch for projection pursuit on up to D columns and R rows.

    `sorting`: its keys are the rows sorted by their projections.  `begin`, `end` (R,): where rows
    with the same projection begin and end in that order.  `sums` (5, R + 1): cumulative sums, over
    the rows before each, of a, a·u, a·u², a·t and a·u·t.  `slopes` (D, R): derivative of the fit at
    each row by each coefficient.  `trial` (D,): the direction after the next step.
    """

    sorting: DigitScratch
    begin: np.ndarray
    end: np.ndarray
    sums: np.ndarray
    slopes: np.ndarray
    trial: np.ndarray


def pursuit_for(D: int, R: int) -> Pursuit:
    """Allocate the scratch for D columns and R rows."""
    return Pursuit(
        digit_scratch(np.empty(R, dtype=np.uint64), np.empty(R, dtype=np.uint64)),
        np.empty(R, dtype=np.int64), np.empty(R, dtype=np.int64), np.zeros((5, R + 1)),
        np.empty((D, R)), np.empty(D),
    )  # fmt: skip


@part
def _sort(u, m, scratch):
    """Sort the first m of u, as float32, and find the runs of equal values."""
    keys, begin, end = scratch.sorting.keys, scratch.begin, scratch.end
    for i in range(np.uint64(m)):
        keys[i] = key_of(np.float32(u[i]), i)
    sort_by_digits(scratch.sorting, m)
    begin[0], end[m - 1] = 0, m
    for i in range(1, m):
        same = keys[i] >> VALUE_SHIFT == keys[i - 1] >> VALUE_SHIFT
        begin[i] = begin[i - 1] if same else i
    for i in range(m - 2, -1, -1):
        end[i] = end[i + 1] if begin[i + 1] == begin[i] else i + 1


@part
def _add_up(u, t, a, m, scratch):
    """Write the cumulative sums over the sorted rows."""
    keys = scratch.sorting.keys
    weight, first, second, level, product = scratch.sums
    for i in range(np.uint64(m)):
        row, j = np.uint64(keys[i] & POSITION), i + np.uint64(1)
        along, height = a[row] * u[row], a[row] * t[row]
        weight[j] = weight[i] + a[row]
        first[j] = first[i] + along
        second[j] = second[i] + along * u[row]
        level[j] = level[i] + height
        product[j] = product[i] + along * t[row]


@kernel
def running_lines(u, t, a, m, half, scratch, fit, slope):
    """Write to `fit` and `slope` (≥ m,) the running line of t on u at each of m rows.

    It is the least squares line, weighted by a, through the rows up to `half` places below and
    above u in sorted order, and all rows tied with these.  So it does not depend on the order of
    the rows.  For precision, u should be centred.
    """
    _sort(u, m, scratch)
    _add_up(u, t, a, m, scratch)
    keys, begin, end = scratch.sorting.keys, scratch.begin, scratch.end
    weight, first, second, level, product = scratch.sums
    mean = first[m] / weight[m]
    least = NO_VARIANCE * (second[m] / weight[m] - mean * mean)
    for i in range(m):
        row = np.uint64(keys[i] & POSITION)
        lo, hi = begin[max(begin[i] - half, 0)], end[min(end[i] - 1 + half, m - 1)]
        w = weight[hi] - weight[lo]
        middle, height = (first[hi] - first[lo]) / w, (level[hi] - level[lo]) / w
        variance = (second[hi] - second[lo]) / w - middle * middle
        covariance = (product[hi] - product[lo]) / w - middle * height
        # the variance of tied values can be a little above 0 by rounding
        varies = end[lo] < hi and variance > least
        slope[row] = covariance / variance if varies else 0.0
        fit[row] = height + slope[row] * (u[row] - middle)


@summing
def _weighted_squares(x, a, m):
    total = 0.0
    for i in range(m):
        total += a[i] * x[i] * x[i]
    return total


@part
def _loss(Z, d, m, t, a, half, work, scratch, theta):
    """Fit running lines along θ; write residuals to work.residual, return their sum of squares."""
    for i in range(m):
        work.eta[i] = 0.0
    for j in range(d):
        for i in range(m):
            work.eta[i] += theta[j] * Z[j, i]
    running_lines(work.eta, t, a, m, half, scratch, work.mean, work.variance)
    for i in range(m):
        work.residual[i] = t[i] - work.mean[i]
    return _weighted_squares(work.residual, a, m)


@part
def _step(Z, d, m, a, total, work, scratch):
    """Write the Gauss-Newton step from the last fit to work.step; return False if there is none."""
    for j in range(d):
        for i in range(m):
            scratch.slopes[j, i] = work.variance[i] * Z[j, i]
    moments(work.residual, a, m, work.product)
    if not covariances(scratch.slopes, d, m, a, work.product, total, work, work.step):
        return False
    least_squares(d, work, work.step)
    return True


@kernel
def pursue(Z, d, m, t, a, total, steps, half, work, scratch, theta):
    """Take up to `steps` Gauss-Newton steps from θ, to lower the squared error of running lines.

    A step is the least squares regression of the residuals on g'(θᵀz)·z, centred, with the ridge of
    `least_squares`.  The new direction is scaled to length 1.  A step that does not lower the error
    is not taken and ends the search.  Z is centred in place, by the work.sums of `covariances`.
    """
    trial = scratch.trial
    centre(Z, d, m, work.sums, total)
    if not normalise(theta, d):
        return
    least = _loss(Z, d, m, t, a, half, work, scratch, theta)
    for _ in range(steps):
        if not _step(Z, d, m, a, total, work, scratch):
            return
        for j in range(d):
            trial[j] = theta[j] + work.step[j]
        if not normalise(trial, d):
            return
        loss = _loss(Z, d, m, t, a, half, work, scratch, trial)
        if not loss < least:
            return
        least = loss
        for j in range(d):
            theta[j] = trial[j]


# The scatter between and within the classes of a node, from which discriminants are computed.
# The total scatter T = Σ a·(z - z̄)(z - z̄)ᵀ is B + W, between and within classes.  B is stored by
# its roots: one row √w_k·(z̄_k - z̄) for each class, w_k being its weight, so that B = Σ
# rootᵀ·root. The maximum of θᵀBθ / θᵀAθ is then found from the singular vectors of a matrix with
# few rows.

# Predictors lie in [0, 1]: a variance below that of float32 rounding counts as 0.
VARIANCE_OF_ROUNDING = 1e-14


class ClassScatter(NamedTuple):
    """Scratch for up to K classes and D columns.

    `weight` (K,): weights of the classes that are present.  `roots` (K, D): roots of the scatter B
    between the classes present.  `whitened` (K, D): the roots in coordinates where another scatter
    is the identity.  `total` (D, D): T, lower triangle.  `position` (K,): projected means of the
    classes present.  `side` (K,): which of two groups each class present belongs to.
    """

    weight: np.ndarray
    roots: np.ndarray
    whitened: np.ndarray
    total: np.ndarray
    position: np.ndarray
    side: np.ndarray


def class_scatter_for(K: int, D: int) -> ClassScatter:
    """Allocate the scratch for up to K classes and D columns."""
    return ClassScatter(
        np.empty(K), np.empty((K, D)), np.empty((K, D)), np.empty((D, D)), np.empty(K),
        np.empty(K, dtype=np.bool_),
    )  # fmt: skip


@part
def varies(A, d, total):
    """Whether any column of the scatter A, of rows with weight `total` in all, is not constant."""
    variance = 0.0
    for j in range(d):
        variance = max(variance, A[j, j])
    return variance > VARIANCE_OF_ROUNDING * total


@kernel
def between(Z, d, m, a, y, sums, total, classes):
    """Write weights and roots of the classes y (m,) present to `classes`; return their number."""
    weight, roots, present = classes.weight, classes.roots, 0
    for k in range(len(weight)):
        weight[k] = 0.0
        for j in range(d):
            roots[k, j] = 0.0
    for i in range(m):
        weight[int(y[i])] += a[i]
    for j in range(d):
        for i in range(m):
            roots[int(y[i]), j] += a[i] * Z[j, i]
    for k in range(len(weight)):
        if weight[k] > 0.0:
            weight[present], root = weight[k], math.sqrt(weight[k])
            for j in range(d):
                roots[present, j] = roots[k, j] / root - root * sums[j] / total
            present += 1
    return present


@kernel
def within(roots, g, d, penalty, classes, A):
    """Write to the lower triangle of A the scatter within g classes, with penalised correlations.

    It is (1 - λ)·W + λ·diag(W), λ = `penalty`, with W = T - Σ rootᵀ·root over the first g of
    `roots` and T from `classes`, a `ClassScatter`.  With λ = 1 columns are treated as uncorrelated
    within classes.
    """
    for j in range(d):
        for k in range(j + 1):
            A[j, k] = classes.total[j, k]
            for i in range(g):
                A[j, k] -= roots[i, j] * roots[i, k]
            if k < j:
                A[j, k] *= 1.0 - penalty


@kernel
def whiten(A, g, d, classes):
    """Write L⁻¹·root for g roots; A = L·Lᵀ becomes L.  False if A is not positive definite."""
    if not factorise(A, d):
        return False
    for i in range(g):
        for j in range(d):
            classes.whitened[i, j] = classes.roots[i, j]
        solve_lower(A, classes.whitened[i], d)
    return True
