"""Directions estimated on a subset of predictors: least squares, logistic, LDA, level means.

Every estimator receives the rows of a node (or a sample of them) as Z (m, d), scaled
predictors, a target t (m,) in [0, 1] and weights a (m,), and writes θ (d,).  The ridge keeps
each system solvable when predictors are collinear or rows are few; it is measured in units of
the mean diagonal of the matrix it is added to, so it does not depend on weights or n.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import kernel

__all__ = ["RIDGE", "lda", "least_squares", "level_means", "logistic", "normalise", "related"]

RIDGE = 1e-3
NEWTON_STEPS = 4
UNRELATED = 1e-12


@kernel
def _solve(A, b):
    """Solve A·x = b in place for a symmetric positive definite A (Cholesky); x lands in b."""
    d = len(b)
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


@kernel
def _mean_diagonal(A, d):
    total = 0.0
    for j in range(d):
        total += A[j, j]
    return total / d


@kernel
def _centre(Z, a):
    """Subtract the weighted mean of each column of Z in place."""
    m, d = Z.shape
    mean = np.zeros(d)
    total = 0.0
    for i in range(m):
        total += a[i]
        for j in range(d):
            mean[j] += a[i] * Z[i, j]
    for j in range(d):
        mean[j] /= total
    for i in range(m):
        for j in range(d):
            Z[i, j] -= mean[j]


@kernel
def related(Z, t, a):
    """Whether t varies with any column of Z, by more than rounding can explain."""
    m, d = Z.shape
    mean, total = 0.0, 0.0
    for i in range(m):
        mean += a[i] * t[i]
        total += a[i]
    mean /= total
    covariance = np.zeros(d)
    for i in range(m):
        for j in range(d):
            covariance[j] += a[i] * (t[i] - mean) * Z[i, j]
    return np.abs(covariance).max() > UNRELATED * total


@kernel
def normalise(theta):
    """Scale θ to length 1 in place; return False when it has no usable length."""
    length = 0.0
    for coefficient in theta:
        length += coefficient * coefficient
    length = math.sqrt(length)
    if not (length > 1e-150 and length < 1e150):
        return False
    for j in range(len(theta)):
        theta[j] /= length
    return True


@kernel
def least_squares(Z, t, a, theta):
    """Ridge-stabilised least squares of t on Z; for two classes Fisher's discriminant."""
    _centre(Z, a)
    m, d = Z.shape
    A = np.zeros((d, d))
    theta[:] = 0.0
    mean, total = 0.0, 0.0
    for i in range(m):
        mean += a[i] * t[i]
        total += a[i]
    mean /= total
    for i in range(m):
        for j in range(d):
            az = a[i] * Z[i, j]
            theta[j] += az * (t[i] - mean)
            for k in range(j + 1):
                A[j, k] += az * Z[i, k]
    ridge = RIDGE * _mean_diagonal(A, d)
    for j in range(d):
        A[j, j] += ridge
    _solve(A, theta)


@kernel
def logistic(Z, t, a, theta):
    """Weights of a one-unit logistic model of t on Z, with intercept: a few Newton steps.

    Maximises Σ a·(t·log σ(η) + (1 - t)·log σ(-η)), η = c + θᵀz, less a ridge on θ.  The target
    may be a share: a numeric response is first mapped to [0, 1], so that the fit is the ridge
    function a + b·σ(θᵀz + c) with its two asymptotes held at the extremes of the response.
    """
    _centre(Z, a)
    m, d = Z.shape
    beta = np.zeros(d + 1)
    step = np.empty(d + 1)
    A = np.empty((d + 1, d + 1))
    share, total = 0.0, 0.0
    for i in range(m):
        share += a[i] * t[i]
        total += a[i]
    share = min(max(share / total, 1e-3), 1.0 - 1e-3)
    beta[d] = math.log(share / (1.0 - share))
    ridge = 0.0
    for iteration in range(NEWTON_STEPS):
        A[:] = 0.0
        step[:] = 0.0
        for i in range(m):
            eta = beta[d]
            for j in range(d):
                eta += beta[j] * Z[i, j]
            mu = 1.0 / (1.0 + math.exp(-min(max(eta, -30.0), 30.0)))
            variance = a[i] * max(mu * (1.0 - mu), 1e-4)
            residual = a[i] * (t[i] - mu)
            for j in range(d):
                vz = variance * Z[i, j]
                step[j] += residual * Z[i, j]
                for k in range(j + 1):
                    A[j, k] += vz * Z[i, k]
                A[d, j] += vz
            A[d, d] += variance
            step[d] += residual
        if iteration == 0:
            ridge = RIDGE * _mean_diagonal(A, d)
        for j in range(d):
            A[j, j] += ridge
            step[j] -= ridge * beta[j]
        A[d, d] += 1e-9 * total
        _solve(A, step)
        for j in range(d + 1):
            beta[j] += step[j]
    for j in range(d):
        theta[j] = beta[j]


@kernel
def lda(Z, t, a, y, n_classes, theta):
    """Fisher's discriminant between the rows with t = 1 and t = 0.

    The scatter is pooled within all classes y (m,), not within the two groups only.
    """
    m, d = Z.shape
    A = np.zeros((d, d))
    means = np.zeros((n_classes, d))
    groups = np.zeros((2, d))
    class_weight = np.zeros(n_classes)
    group_weight = np.zeros(2)
    for i in range(m):
        k, g = int(y[i]), int(t[i])
        class_weight[k] += a[i]
        group_weight[g] += a[i]
        for j in range(d):
            means[k, j] += a[i] * Z[i, j]
            groups[g, j] += a[i] * Z[i, j]
    for k in range(n_classes):
        if class_weight[k] > 0.0:
            for j in range(d):
                means[k, j] /= class_weight[k]
    for i in range(m):
        k = int(y[i])
        for j in range(d):
            az = a[i] * (Z[i, j] - means[k, j])
            for j2 in range(j + 1):
                A[j, j2] += az * (Z[i, j2] - means[k, j2])
    for j in range(d):
        theta[j] = groups[1, j] / group_weight[1] - groups[0, j] / group_weight[0]
    ridge = RIDGE * _mean_diagonal(A, d) + 1e-12 * (group_weight[0] + group_weight[1])
    for j in range(d):
        A[j, j] += ridge
    _solve(A, theta)


@kernel
def level_means(Z, t, a, theta):
    """Score each level of a factor by its mean of t, from the overall mean.

    Z holds the indicators of the levels.  Ordering levels by these scores contains the best
    of all binary partitions of the levels, for a numeric response and for two classes
    (Breiman et al. 1984, Theorem 4.5); a level absent from the node scores 0.
    """
    m, d = Z.shape
    mean, total = 0.0, 0.0
    for i in range(m):
        mean += a[i] * t[i]
        total += a[i]
    mean /= total
    weight = np.zeros(d)
    theta[:] = 0.0
    for i in range(m):
        for j in range(d):
            if Z[i, j] > 0.5:
                weight[j] += a[i]
                theta[j] += a[i] * (t[i] - mean)
    for j in range(d):
        if weight[j] > 0.0:
            theta[j] /= weight[j]
