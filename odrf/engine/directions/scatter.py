"""The scatter between the classes of a node, and within them: what discriminants are made of.

The scatter about the overall mean, T = Σ a·(z - z̄)(z - z̄)ᵀ, is B + W, between the classes and
within them.  B is kept as its roots: one row √w_k·(z̄_k - z̄) for each class, w_k its weight, so that
B = Σ rootᵀ·root and what maximises θᵀBθ over θᵀAθ comes of the singular vectors of few rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.cholesky import factorise, solve_lower

__all__ = ["Groups", "between", "groups", "varies", "whiten", "within"]

# Predictors lie in [0, 1]: less variance than that of a float32's rounding is none.
LEAST_VARIANCE = 1e-14


class Groups(NamedTuple):
    """Scratch for up to K classes and D columns.

    Attributes
    ----------
    weight : (K,) float64
        Of the classes that are present.
    roots, whitened : (K, D) float64
        Roots of the scatter between these, and where another scatter is the identity.
    total : (D, D) float64
        T, its lower triangle.
    position : (K,) float64
        Where these lie along a direction.
    side : (K,) bool
        On which side of a division in two each is.
    """

    weight: np.ndarray
    roots: np.ndarray
    whitened: np.ndarray
    total: np.ndarray
    position: np.ndarray
    side: np.ndarray


def groups(K: int, D: int) -> Groups:
    """Allocate the scratch for up to K classes and D columns."""
    return Groups(
        np.empty(K),
        np.empty((K, D)),
        np.empty((K, D)),
        np.empty((D, D)),
        np.empty(K),
        np.empty(K, dtype=np.bool_),
    )


@part
def varies(A, d, total):
    """Whether a column of the scatter A, of rows of the weight `total`, is not constant."""
    variance = 0.0
    for j in range(d):
        variance = max(variance, A[j, j])
    return variance > LEAST_VARIANCE * total


@kernel
def between(Z, d, m, a, y, sums, total, classes):
    """Write the weights of the classes y (m,) and the roots between them; return how many.

    `sums` and `total` are Σ a·z_j and Σ a; `classes` is a `Groups`, those present come first.
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
    """Write to the lower triangle of A the scatter within g classes, correlations penalised.

    That is (1 - λ)·W + λ·diag(W), W = T - Σ rootᵀ·root over the first g of `roots` and T from
    `classes`, a `Groups`: at λ = 1 the columns count as uncorrelated within classes.
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
    """Write the first g roots to the whitened ones where A = L·Lᵀ is the identity: L⁻¹·root.

    Leaves L in A as `odrf.engine.directions.cholesky` keeps it.  False where A is not positive
    definite.
    """
    if not factorise(A, d):
        return False
    for i in range(g):
        for j in range(d):
            classes.whitened[i, j] = classes.roots[i, j]
        solve_lower(A, classes.whitened[i], d)
    return True
