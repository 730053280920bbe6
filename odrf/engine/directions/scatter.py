"""The scatter between and within the classes of a node, from which discriminants are computed.

The total scatter T = Σ a·(z - z̄)(z - z̄)ᵀ is B + W, between and within classes.  B is stored by
its roots: one row √w_k·(z̄_k - z̄) for each class, w_k being its weight, so that B = Σ rootᵀ·root.
The maximum of θᵀBθ / θᵀAθ is then found from the singular vectors of a matrix with few rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.cholesky import factorise, solve_lower

__all__ = ["ClassScatter", "between", "class_scatter_for", "varies", "whiten", "within"]

# Predictors lie in [0, 1]: a variance below that of float32 rounding counts as 0.
LEAST_VARIANCE = 1e-14


class ClassScatter(NamedTuple):
    """Scratch for up to K classes and D columns.

    Attributes
    ----------
    weight : (K,) float64
        Weights of the classes that are present.
    roots : (K, D) float64
        Roots of the scatter B between the classes present.
    whitened : (K, D) float64
        The roots in coordinates where another scatter is the identity.
    total : (D, D) float64
        T, lower triangle.
    position : (K,) float64
        Projected means of the classes present.
    side : (K,) bool
        Which of two groups each class present belongs to.
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
        np.empty(K),
        np.empty((K, D)),
        np.empty((K, D)),
        np.empty((D, D)),
        np.empty(K),
        np.empty(K, dtype=np.bool_),
    )


@part
def varies(A, d, total):
    """Whether any column of the scatter A, of rows with weight `total` in all, is not constant."""
    variance = 0.0
    for j in range(d):
        variance = max(variance, A[j, j])
    return variance > LEAST_VARIANCE * total


@kernel
def between(Z, d, m, a, y, sums, total, classes):
    """Write the weights and roots of the classes y (m,) that are present; return their number.

    `sums` and `total` are Σ a·z_j and Σ a; `classes` is a `ClassScatter`, in which the classes
    present come first.
    """
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
    """Write L⁻¹·root, with A = L·Lᵀ, for the first g roots to classes.whitened.

    Overwrites A by L as `odrf.engine.directions.cholesky.factorise` does.  Returns False if A is
    not positive definite.
    """
    if not factorise(A, d):
        return False
    for i in range(g):
        for j in range(d):
            classes.whitened[i, j] = classes.roots[i, j]
        solve_lower(A, classes.whitened[i], d)
    return True
