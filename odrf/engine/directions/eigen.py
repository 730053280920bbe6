"""Eigenvalues and eigenvectors of small symmetric matrices, and singular vectors of small ones.

By Jacobi's cyclic method (Golub and Van Loan, Matrix Computations, section 8.5): rotations that
make one entry off the diagonal 0 after another.  It needs nothing but its arrays, and finds what
belongs to equal and to vanishing eigenvalues as orthogonal as the rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import inlined, kernel, part

__all__ = ["Spectrum", "eigen", "right_singular", "spectrum"]

# Entries off the diagonal are as good as 0 below this share of the largest entry.
NEGLIGIBLE = 1e-15
# Jacobi's method converges quadratically: six or so sweeps do.
MOST_SWEEPS = 30


class Spectrum(NamedTuple):
    """Scratch for eigenvalues and eigenvectors of matrices of order up to D.

    Attributes
    ----------
    matrix : (D, D) float64
        Destroyed.
    vectors : (D, D) float64
        An eigenvector in each row.
    values : (D,) float64
        Their eigenvalues, the largest first.
    """

    matrix: np.ndarray
    vectors: np.ndarray
    values: np.ndarray


def spectrum(D: int) -> Spectrum:
    """Allocate the scratch for matrices of order up to D."""
    return Spectrum(np.empty((D, D)), np.empty((D, D)), np.empty(D))


@inlined
def _rotate_rows(A, d, i, j, cosine, sine):
    """Rotate two rows of A in their plane."""
    for k in range(d):
        one, other = A[i, k], A[j, k]
        A[i, k], A[j, k] = cosine * one - sine * other, sine * one + cosine * other


@part
def _rotate(A, V, d, i, j):
    """Make A[i, j] 0, i < j, by a rotation of rows and columns; rotate the rows of V alike."""
    half = (A[j, j] - A[i, i]) / (2.0 * A[i, j])
    tangent = 1.0 / (abs(half) + math.sqrt(1.0 + half * half))
    if half < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    one, other = A[i, i] - tangent * A[i, j], A[j, j] + tangent * A[i, j]
    _rotate_rows(A, d, i, j, cosine, sine)
    _rotate_rows(V, d, i, j, cosine, sine)
    for k in range(d):
        A[k, i], A[k, j] = A[i, k], A[j, k]
    A[i, i], A[j, j], A[i, j], A[j, i] = one, other, 0.0, 0.0


@part
def _sort(values, V, d):
    """Put the largest of d values first, and the rows of V as they go."""
    for i in range(d - 1):
        first = i
        for j in range(i + 1, d):
            if values[j] > values[first]:
                first = j
        if first != i:
            values[i], values[first] = values[first], values[i]
            for k in range(d):
                V[i, k], V[first, k] = V[first, k], V[i, k]


@kernel
def eigen(d, found):
    """Write the eigenvectors of a symmetric matrix of order d, of unit length, and its eigenvalues.

    The lower triangle of ``found.matrix`` holds the matrix; `found` is a `Spectrum`.
    """
    A, V, values = found.matrix, found.vectors, found.values
    largest = 0.0
    for i in range(d):
        for j in range(i + 1):
            A[j, i] = A[i, j]
            V[i, j] = V[j, i] = 0.0
            largest = max(largest, abs(A[i, j]))
        V[i, i] = 1.0
    for _ in range(MOST_SWEEPS):
        done = True
        for i in range(d - 1):
            for j in range(i + 1, d):
                if abs(A[i, j]) > NEGLIGIBLE * largest:
                    _rotate(A, V, d, i, j)
                    done = False
        if done:
            break
    for i in range(d):
        values[i] = A[i, i]
    _sort(values, V, d)


@kernel
def right_singular(C, g, d, found):
    """Write the squared singular values of C (≥ g, ≥ d) to the values of `found`, a `Spectrum`.

    Its vectors receive the right singular vectors (d,), not of unit length; returns how many:
    the smaller of g and d, through whose matrix of products they are found.
    """
    A, V = found.matrix, found.vectors
    few = min(g, d)
    for i in range(few):
        for j in range(i + 1):
            A[i, j] = 0.0
            if g < d:
                for k in range(d):
                    A[i, j] += C[i, k] * C[j, k]
            else:
                for k in range(g):
                    A[i, j] += C[k, i] * C[k, j]
    eigen(few, found)
    if g < d:
        # an eigenvector h of C·Cᵀ is a left singular vector, and Cᵀ·h a right one
        for i in range(g):
            for k in range(d):
                A[i, k] = 0.0
            for j in range(g):
                for k in range(d):
                    A[i, k] += V[i, j] * C[j, k]
        for i in range(g):
            for k in range(d):
                V[i, k] = A[i, k]
    return few
