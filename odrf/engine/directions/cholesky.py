"""The Cholesky factor of a symmetric positive definite matrix, and linear systems solved by it."""

from __future__ import annotations

import math

from odrf.engine.compiling import inlined

__all__ = ["factorise", "solve_lower", "solve_upper", "trace_of_inverse"]


@inlined
def factorise(A, d):
    """Overwrite the lower triangle of A, of order d, by L with A = L·Lᵀ, its diagonal inverted.

    Returns False if A is not positive definite.
    """
    for j in range(d):
        for k in range(j):
            for i in range(j, d):
                A[i, j] -= A[i, k] * A[j, k]
        if A[j, j] <= 0.0:
            return False
        A[j, j] = 1.0 / math.sqrt(A[j, j])
        for i in range(j + 1, d):
            A[i, j] *= A[j, j]
    return True


@inlined
def solve_lower(L, b, d):
    """Solve L·x = b in place; L as written by `factorise`."""
    for i in range(d):
        for k in range(i):
            b[i] -= L[i, k] * b[k]
        b[i] *= L[i, i]


@inlined
def solve_upper(L, b, d):
    """Solve Lᵀ·x = b in place; L as written by `factorise`."""
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            b[i] -= L[k, i] * b[k]
        b[i] *= L[i, i]


@inlined
def trace_of_inverse(L, d, column):
    """Return the trace of (L·Lᵀ)⁻¹, the sum of squares of L⁻¹; `column` (≥ d,) is scratch."""
    trace = 0.0
    for j in range(d):
        column[j] = L[j, j]
        trace += column[j] ** 2
        for i in range(j + 1, d):
            column[i] = 0.0
            for k in range(j, i):
                column[i] -= L[i, k] * column[k]
            column[i] *= L[i, i]
            trace += column[i] ** 2
    return trace
