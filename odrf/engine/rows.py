"""The rows of one tree: gathered once, then reordered so that each node's rows are adjacent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import inlined, kernel, merged, part
from odrf.engine.factors import NO_FACTORS, Factors
from odrf.engine.numeric import shuffle_front
from odrf.engine.survival.event_ranks import EventRanks

NOT_KNOWN = np.empty(0, dtype=np.float32)

Columns = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


class Rows(NamedTuple):
    """The rows that a tree grows on; a split moves those of its left child before the others.

    `X` (p, n): a copy of the predictors in the order of `at`, without the columns of factors; or,
    if not `copied`, the predictors of all rows, which `at` points into.  `at` (n,): row numbers, in
    random order within each node.  `y`, `weights`, `counts` (n,): response or class code, case
    weight times multiplicity, multiplicity.  `unit`: whether all case weights are 1.

    `codes` (F, n): the levels of factors, see `odrf.engine.factors.Factors`, copied or not as X.
    `place` (p,): the row of X for each column; -1 - f for a column of factor f.  `level` (p,): the
    level that each column of a factor indicates.  Both are empty if F = 0.  `coefficients` (L,):
    scratch of `project`, for all levels of a factor; 0 between calls.

    `ranks`: of times to an event, their ranks of all rows, which `at` points into; y then has the
    scores of the node that was searched last.  Kernels get rows without them, so that they are
    compiled once for all responses.  `high` (p,): the larger value of each column that
    has two values, NaN for others, see `odrf.engine.splits.histograms`; empty if not known, if none
    has, or if F > 0.
    """

    X: np.ndarray
    at: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    copied: bool
    unit: bool
    codes: np.ndarray
    place: np.ndarray
    level: np.ndarray
    coefficients: np.ndarray
    ranks: EventRanks | None = None
    high: np.ndarray = NOT_KNOWN


def gather_rows(
    state: NDArray[np.uint64],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.int64],
    copied: bool,
    factors: Factors = NO_FACTORS,
) -> Rows:
    """Gather the rows drawn (counts > 0) in random order, so the first few are a random sample."""
    drawn = np.flatnonzero(counts)
    shuffle_front(state, drawn, len(drawn))
    return rows_at(drawn, X, y, weights, counts, copied, factors)


def rows_at(
    drawn: NDArray[np.int64],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.integer],
    copied: bool,
    factors: Factors = NO_FACTORS,
) -> Rows:
    """Gather the rows `drawn` in this order; case weights are multiplied by the `counts` (n,)."""
    at, times, row_weights = drawn.astype(np.int32), counts[drawn].astype(np.int32), weights[drawn]
    unit = bool((row_weights == 1.0).all())
    row_weights *= times
    columns = columns_at(at, X, factors, copied)
    return Rows(columns[0], at, y[drawn], row_weights, times, copied, unit, *columns[1:])


def columns_at(
    at: NDArray[np.int32], X: NDArray[np.float32], factors: Factors, copied: bool
) -> Columns:
    """Return X, codes, place, level and coefficients of `Rows` for the rows `at`."""
    codes, place, level = factors
    if not len(codes):
        tree_X = np.take(X, at, axis=1) if copied else X
        return tree_X, codes, place, level, np.empty(0, dtype=np.float32)
    coefficients = np.zeros(1 + int(level.max()), dtype=np.float32)
    if not copied:
        return X, codes, place, level, coefficients
    others = place >= 0
    rank = np.cumsum(others, dtype=np.int32) - np.int32(1)
    tree_X = X[np.ix_(place[others], at)]
    return tree_X, np.take(codes, at, axis=1), np.where(others, rank, place), level, coefficients


# Indices below are unsigned: Numba then does not check whether they are negative.  For the few
# rows of most nodes this check costs more than the work itself, and it prevents SIMD code.


@part
def level_at(rows, f, i):
    """Return the level of row i in factor f, 1, 2, …; 0 if it has none."""
    return level_of(rows.codes[np.uint64(f)], rows, np.uint64(i))


@part
def level_of(codes, rows, i):
    """Return the level of row i, a uint64, by the codes of one factor: loops read these once."""
    return codes[i if rows.copied else np.uint64(rows.at[i])]


@part
def _load_indicator(rows, lo, m, column, shifted, Z, j):
    f, level = -1 - rows.place[column], rows.level[column]
    origin = 1.0 if shifted and level_at(rows, f, lo) == level else 0.0
    for i in range(m):
        Z[j, i] = (1.0 if level_at(rows, f, lo + i) == level else 0.0) - origin


@kernel
def load_column(rows, lo, m, column, shifted, Z, j):
    """Write a column of the m rows from `lo` on to Z[j]; if `shifted`, minus its first value.

    Sums of products of shifted values lose fewer digits.
    """
    if len(rows.place) > 0:
        if rows.place[column] < 0:
            _load_indicator(rows, lo, m, column, shifted, Z, j)
            return
        column = rows.place[column]
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


# Merged into `project`, which would otherwise copy all arrays of `rows` for each term.
@inlined
def _project_factor(rows, first, m, columns, theta, j, last, out):
    """Add the terms of one factor from number j on, of which a row has one; return the next."""
    begin, place, coefficients = j, rows.place[columns[j]], rows.coefficients
    codes = rows.codes[-1 - place]
    while j < last and rows.place[columns[j]] == place:
        coefficients[rows.level[columns[j]]] = theta[j]
        j += np.uint64(1)
    if rows.copied:
        for i in range(m):
            out[i] += coefficients[np.uint64(codes[first + i])]
    else:
        for i in range(m):
            out[i] += coefficients[np.uint64(codes[np.uint64(rows.at[first + i])])]
    for t in range(begin, j):
        coefficients[rows.level[columns[t]]] = np.float32(0.0)
    return j


@inlined
def _is_of_factor(rows, column):
    return len(rows.place) > 0 and rows.place[column] < 0


@inlined
def _row_of(rows, column):
    """Return the row of rows.X that has a column, which is not one of a factor."""
    return np.uint64(rows.place[column]) if len(rows.place) > 0 else np.uint64(column)


@inlined
def _begin_projection(rows, first, m, columns, theta, out):
    """Write the first term; 0 is added, as routing adds all terms to 0, so that none is -0."""
    row, coefficient, zero = _row_of(rows, columns[0]), theta[0], np.float32(0.0)
    if rows.copied:
        for i in range(m):
            out[i] = zero + coefficient * rows.X[row, first + i]
    else:
        for i in range(m):
            out[i] = zero + coefficient * rows.X[row, np.uint64(rows.at[first + i])]


@inlined
def _project_one(rows, first, m, columns, theta, j, out):
    """Add the term number j."""
    row, coefficient = _row_of(rows, columns[j]), theta[j]
    if rows.copied:
        for i in range(m):
            out[i] += coefficient * rows.X[row, first + i]
    else:
        for i in range(m):
            out[i] += coefficient * rows.X[row, np.uint64(rows.at[first + i])]


@inlined
def _project_two(rows, first, m, columns, theta, j, out):
    """Add the terms number j and j + 1, in one pass: half as often as singly, `out` is moved."""
    next_one = j + np.uint64(1)
    row, coefficient = _row_of(rows, columns[j]), theta[j]
    other, second = _row_of(rows, columns[next_one]), theta[next_one]
    if rows.copied:
        for i in range(m):
            at = first + i
            out[i] = (out[i] + coefficient * rows.X[row, at]) + second * rows.X[other, at]
    else:
        for i in range(m):
            at = np.uint64(rows.at[first + i])
            out[i] = (out[i] + coefficient * rows.X[row, at]) + second * rows.X[other, at]


@merged
def project_here(rows, lo, m, columns, theta, c, size, out):
    """Write Σ θ·x over the first `size` of columns[c], for m rows from `lo` on, to out (≥ m,).

    Terms are added in the order of the columns, in float32, exactly as routing adds them.  It is
    merged into its caller: for few rows a call, which copies `rows`, takes as long as the work.
    """
    first, m, c = np.uint64(lo), np.uint64(m), np.uint64(c)
    j, last, one = np.uint64(0), np.uint64(size), np.uint64(1)
    if last > j and not _is_of_factor(rows, columns[c, j]):
        _begin_projection(rows, first, m, columns[c], theta[c], out)
        j = one
    else:
        for i in range(m):
            out[i] = np.float32(0.0)
    while j < last:
        if _is_of_factor(rows, columns[c, j]):
            j = _project_factor(rows, first, m, columns[c], theta[c], j, last, out)
        elif j + one < last and not _is_of_factor(rows, columns[c, j + one]):
            _project_two(rows, first, m, columns[c], theta[c], j, out)
            j += np.uint64(2)
        else:
            _project_one(rows, first, m, columns[c], theta[c], j, out)
            j += one


@kernel
def project(rows, lo, m, columns, theta, c, size, out):
    """As `project_here`, by a call."""
    project_here(rows, lo, m, columns, theta, c, size, out)


@part
def is_plain_column(rows, theta, c, size):
    """Whether direction c, which is not along a factor, is a column of the copied predictors."""
    return rows.copied and size == 1 and theta[c, 0] == 1.0


@inlined
def column_itself(rows, lo, m, column):
    """Return the values (m,) of such a column, not projected: -0 where `project` writes 0."""
    return rows.X[_row_of(rows, column), lo : lo + m]


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
    """Move the m rows from `lo` on with `values` up to `threshold` to the front, in their order.

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


@part
def _write_order(goes_left, m, order):
    """Write from which place each of m rows comes if those that go left are moved to the front."""
    left, right, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for i in range(np.uint64(m)):
        right += np.uint64(goes_left[i])
    for i in range(np.uint64(m)):
        if goes_left[i]:
            order[left] = i
            left += one
        else:
            order[right] = i
            right += one


@part
def _reorder(values, lo, m, order, spare):
    first = np.uint64(lo)
    for i in range(np.uint64(m)):
        spare[i] = values[first + np.uint64(order[i])]
    for i in range(np.uint64(m)):
        values[first + i] = spare[i]


@kernel
def divide_columns(rows, lo, m, goes_left, spare, order):
    """Move the copied predictors as `divide` moved their rows; not needed if no child is searched.

    spare (≥ m,) float32 and order (≥ m,) int64 are scratch.
    """
    if not rows.copied:
        return
    _write_order(goes_left, m, order)
    spare_codes = spare.view(np.int32)
    for f in range(len(rows.codes)):
        _reorder(rows.codes[f], lo, m, order, spare_codes)
    for j in range(np.uint64(rows.X.shape[0])):
        _reorder(rows.X[j], lo, m, order, spare)


@kernel
def is_pure(rows, lo, m):
    """Whether the m rows from `lo` on all have the same response."""
    i = lo + 1
    while i < lo + m and rows.y[i] == rows.y[lo]:
        i += 1
    return i >= lo + m
