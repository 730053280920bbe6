"""The rows of one tree: gathered once, then kept so that each node's rows are neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.randomness import shuffle_front

__all__ = [
    "Rows",
    "divide",
    "divide_columns",
    "gather_rows",
    "is_pure",
    "load_column",
    "project",
    "rows_at",
]


class Rows(NamedTuple):
    """What a tree grows on; every split moves the rows of its node into two runs.

    Attributes
    ----------
    X : (p, n) float32
        The tree's own copy of the predictors, its rows in the order of `at`; or, when
        `copied` is False, the predictors of all rows, which `at` points into.
    at : (n,) int32
        Numbers of the tree's rows, in random order within each node.
    y : (n,) float64
        Response, or class code.
    weights : (n,) float64
        Case weight times multiplicity.
    counts : (n,) int32
        Multiplicity.
    copied : bool
        Whether X is a copy.
    unit : bool
        Whether all case weights are 1.
    """

    X: np.ndarray
    at: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    copied: bool
    unit: bool


def gather_rows(
    state: NDArray[np.uint64],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.int64],
    copied: bool,
) -> Rows:
    """Gather the rows drawn (counts > 0) in random order, so that any first few are a sample."""
    drawn = np.flatnonzero(counts)
    shuffle_front(state, drawn, len(drawn))
    return rows_at(drawn, X, y, weights, counts, copied)


def rows_at(
    drawn: NDArray[np.int64],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.int64],
    copied: bool,
) -> Rows:
    """Gather the rows `drawn`, in this order, each as often as it counts."""
    at, times, own_weights = drawn.astype(np.int32), counts[drawn].astype(np.int32), weights[drawn]
    unit = bool((own_weights == 1.0).all())
    own_weights *= times
    own_X = np.take(X, at, axis=1) if copied else X
    return Rows(own_X, at, y[drawn], own_weights, times, copied, unit)


# Indices below are unsigned: Numba then checks none for being negative, which for the few rows of
# most nodes costs more than the work itself, and keeps loops from running in SIMD lanes.


@kernel
def load_column(rows, lo, m, column, shifted, Z, j):
    """Write a column of the m rows from `lo` on to the first of Z[j], less the first if `shifted`.

    Shifted, sums of products of what a node's rows hold lose few digits.
    """
    first, column, j = np.uint64(lo), np.uint64(column), np.uint64(j)
    origin = 0.0
    if rows.copied:
        if shifted:
            origin = float(rows.X[column, first])
        for i in range(np.uint64(m)):
            Z[j, i] = rows.X[column, first + i] - origin
    else:
        if shifted:
            origin = float(rows.X[column, np.uint64(rows.at[first])])
        for i in range(np.uint64(m)):
            Z[j, i] = rows.X[column, np.uint64(rows.at[first + i])] - origin


@kernel
def project(rows, lo, m, columns, theta, c, size, out):
    """Write Σ θ·x over the first `size` of columns[c], for m rows from `lo` on, to out (≥ m,).

    Columns are added in their order, in float32, as routing adds them: bit for bit.
    """
    first, m, c = np.uint64(lo), np.uint64(m), np.uint64(c)
    for i in range(m):
        out[i] = np.float32(0.0)
    for j in range(np.uint64(size)):
        column, coefficient = np.uint64(columns[c, j]), theta[c, j]
        if rows.copied:
            for i in range(m):
                out[i] += coefficient * rows.X[column, first + i]
        else:
            for i in range(m):
                out[i] += coefficient * rows.X[column, np.uint64(rows.at[first + i])]


@part
def _divide_one(values, lo, m, goes_left, spare):
    first, left, right = np.uint64(lo), np.uint64(0), np.uint64(0)
    one = np.uint64(1)
    for i in range(np.uint64(m)):
        value = values[first + i]
        values[first + left] = value
        spare[right] = value
        left += np.uint64(goes_left[i])
        right = i + one - left
    first += left
    for i in range(right):
        values[first + i] = spare[i]


@kernel
def divide(rows, lo, m, threshold, values, goes_left, spare):
    """Move the m rows from `lo` on whose projected `values` are at most `threshold` to the front.

    Both sides keep their old order.  The predictors stay where they are until `divide_columns`.
    goes_left and spare (≥ m,) float64 are scratch.  Returns how many rows go left.
    """
    left = 0
    for i in range(np.uint64(m)):
        goes_left[i] = values[i] <= threshold
        left += goes_left[i]
    _divide_one(rows.at, lo, m, goes_left, spare)
    _divide_one(rows.counts, lo, m, goes_left, spare)
    _divide_one(rows.y, lo, m, goes_left, spare)
    _divide_one(rows.weights, lo, m, goes_left, spare)
    return left


@kernel
def divide_columns(rows, lo, m, goes_left, spare):
    """Move the copied predictors as `divide` has moved their rows; spare (≥ m,) is scratch.

    A node whose two sides are leaves can do without.
    """
    if not rows.copied:
        return
    one = np.uint64(1)
    for j in range(np.uint64(rows.X.shape[0])):
        first, left, right = np.uint64(lo), np.uint64(0), np.uint64(0)
        for i in range(np.uint64(m)):
            value = rows.X[j, first + i]
            rows.X[j, first + left] = value
            spare[right] = value
            left += np.uint64(goes_left[i])
            right = i + one - left
        first += left
        for i in range(right):
            rows.X[j, first + i] = spare[i]


@kernel
def is_pure(rows, lo, m):
    """Whether the m rows from `lo` on have one and the same response."""
    i = lo + 1
    while i < lo + m and rows.y[i] == rows.y[lo]:
        i += 1
    return i >= lo + m
