"""Eigenvalues and eigenvectors of small symmetric matrices, and singular vectors of small matrices.

By Jacobi's cyclic method (Golub and Van Loan, Matrix Computations, section 8.5): rotations set one
off-diagonal entry after another to 0.  It needs no memory but its arguments.  Eigenvectors are
orthogonal also where eigenvalues are equal or 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import inlined, kernel, part

__all__ = ["Spectrum", "eigen", "right_singular", "spectrum_for"]

# Off-diagonal entries count as 0 below this share of the largest entry.
NEGLIGIBLE = 1e-15
# Jacobi's method converges quadratically: about six sweeps are enough.
MOST_SWEEPS = 30


class Spectrum(NamedTuple):
    """Scratch for eigenvalues and eigenvectors of matrices of order up to D.

    Attributes
    ----------
    matrix : (D, D) float64
        Input; overwritten.
    vectors : (D, D) float64
        An eigenvector in each row.
    values : (D,) float64
        The eigenvalues, the largest first.
    """

    matrix: np.ndarray
    vectors: np.ndarray
    values: np.ndarray


def spectrum_for(D: int) -> Spectrum:
    """Allocate the scratch for matrices of order up to D."""
    return Spectrum(np.empty((D, D)), np.empty((D, D)), np.empty(D))


@inlined
def _rotate_rows(A, d, i, j, cosine, sine):
    """Rotate two rows of A in their plane."""
    for k in range(d):
        first, second = A[i, k], A[j, k]
        A[i, k], A[j, k] = cosine * first - sine * second, sine * first + cosine * second


@part
def _rotate(A, V, d, i, j):
    """Set A[i, j], i < j, to 0 by a rotation of rows and columns; rotate the rows of V too."""
    half = (A[j, j] - A[i, i]) / (2.0 * A[i, j])
    tangent = 1.0 / (abs(half) + math.sqrt(1.0 + half * half))
    if half < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    first, second = A[i, i] - tangent * A[i, j], A[j, j] + tangent * A[i, j]
    _rotate_rows(A, d, i, j, cosine, sine)
    _rotate_rows(V, d, i, j, cosine, sine)
    for k in range(d):
        A[k, i], A[k, j] = A[i, k], A[j, k]
    A[i, i], A[j, j], A[i, j], A[j, i] = first, second, 0.0, 0.0


@part
def _sort(values, V, d):
    """Sort d values, the largest first, and the rows of V with them."""
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
def eigen(d, spectrum):
    """Write the eigenvalues and unit eigenvectors of a symmetric matrix of order d to `spectrum`.

    The lower triangle of ``spectrum.matrix`` holds the matrix; `spectrum` is a `Spectrum`.
    """
    A, V, values = spectrum.matrix, spectrum.vectors, spectrum.values
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
def right_singular(C, g, d, spectrum):
    """Write squared singular values and right singular vectors of C (≥ g, ≥ d) to `spectrum`.

    The vectors (d,) are not of unit length.  Returns how many there are, the smaller of g and d:
    they come from the eigenvectors of C·Cᵀ or CᵀC, whichever is smaller.
    """
    A, V = spectrum.matrix, spectrum.vectors
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
    eigen(few, spectrum)
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
