"""The rows of one tree: gathered once, then reordered so that each node's rows are adjacent."""

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
    """The rows that a tree grows on; a split moves those of its left child before the others.

    Attributes
    ----------
    X : (p, n) float32
        A copy of the predictors for this tree, its rows in the order of `at`; or, when
        `copied` is False, the predictors of all rows, which `at` points into.
    at : (n,) int32
        Row numbers of the tree's rows, in random order within each node.
    y : (n,) float64
        Response, or class code.
    weights : (n,) float64
        Case weight times multiplicity.
    counts : (n,) int32
        Multiplicity: how often each row was drawn.
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
    """Gather the rows drawn (counts > 0) in random order, so the first few are a random sample."""
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
    """Gather the rows `drawn` in this order; case weights are multiplied by the `counts` (n,)."""
    at, times, row_weights = drawn.astype(np.int32), counts[drawn].astype(np.int32), weights[drawn]
    unit = bool((row_weights == 1.0).all())
    row_weights *= times
    tree_X = np.take(X, at, axis=1) if copied else X
    return Rows(tree_X, at, y[drawn], row_weights, times, copied, unit)


# Indices below are unsigned: Numba then does not check whether they are negative.  For the few
# rows of most nodes this check costs more than the work itself, and it prevents SIMD code.


@kernel
def load_column(rows, lo, m, column, shifted, Z, j):
    """Write a column of the m rows from `lo` on to Z[j]; if `shifted`, minus its first value.

    Sums of products of shifted values lose fewer digits.
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

    Terms are added in the order of the columns, in float32, exactly as routing adds them.
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

    Rows of the same side keep their order.  The predictors are moved by `divide_columns` later.
    goes_left (≥ m,) bool receives the sides; spare (≥ m,) float64 is scratch.  Returns how many
    rows go left.
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
    """Move the copied predictors as `divide` moved their rows; spare (≥ m,) is scratch.

    Not needed where both children are pure, as they are not searched.
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
    """Whether the m rows from `lo` on all have the same response."""
    i = lo + 1
    while i < lo + m and rows.y[i] == rows.y[lo]:
        i += 1
    return i >= lo + m
