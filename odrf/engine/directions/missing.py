"""Empty cells: every term θ·x of a split has a fill f, used in rows where x is empty.

A predictor with empty cells has one more column, which is 1 in these rows; its other columns are 0
there.  So a term with a fill is two terms: θ on x, and θ·f on the column of empty cells.  Training
and prediction then need no other rule, and tables without empty cells no other code.

For a single predictor two fills are tried, one below and one above all values: each cut is tried
with the rows with empty cells on either side (Twala, Jones, Hand 2008).  In a direction of several
predictors the fill is the mean of the node.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import NO, kernel, part, summing
from odrf.engine.numeric import LAST_PLACE, below, place_of, value_at
from odrf.engine.rows import load_column

FILL = np.float32(1e31)
"""The fill of a single predictor's empty cells, or minus it: beyond all scaled values."""

# Fills at both ends of the values, and the mean.
FILLS = 3
# Rows of a node from which the fills of random directions are computed.
FILL_ROWS = 200


@kernel
def known_values(rows, lo, m, column, empty):
    """Return least, largest, mean and number of the values of a column where `empty` is 0."""
    if len(rows.place) > 0:
        column, empty = rows.place[column], rows.place[empty]
    values, marks = rows.X[np.uint64(column)], rows.X[np.uint64(empty)]
    if rows.copied:
        return _known_of_all(values[lo : lo + m], marks[lo : lo + m])
    low, high, total, n = np.float32(np.inf), np.float32(-np.inf), 0.0, 0
    for i in range(np.uint64(lo), np.uint64(lo + m)):
        at = np.uint64(rows.at[i])
        if marks[at] == np.float32(0.0):
            low, high = min(low, values[at]), max(high, values[at])
            total += values[at]
            n += 1
    return low, high, total / max(n, 1), n


@part
def _known_of_all(values, marks):
    """Do as `known_values` for neighbouring rows; extremes by integers, which LLVM vectorises."""
    bits = values.view(np.int32)
    low, high = LAST_PLACE, -LAST_PLACE
    for i in range(np.uint64(len(bits))):
        place, known = place_of(bits[i]), marks[i] == np.float32(0.0)
        low = min(low, place if known else LAST_PLACE)
        high = max(high, place if known else -LAST_PLACE)
    total, n = _sums(values, marks)
    return value_at(low), value_at(high), total / max(n, 1), n


@summing
def _sums(values, marks):
    """Return the sum of the values, 0 in empty cells, and the number of the other cells."""
    total, empty = 0.0, 0.0
    for i in range(np.uint64(len(values))):
        total += values[i]
        empty += marks[i]
    return total, len(values) - int(empty)


# Arguments below are None if no predictor has empty cells: the functions then compile to nothing.


@part
def has_missing(holes, j):
    """Whether predictor j has empty cells; holes (P,) or None."""
    if holes is None:
        return False
    return holes[j]


@part
def is_two_sided(two_sided, c):
    """Whether the empty cells of proposal c are tried on both sides; two_sided (ROUND,) or None."""
    if two_sided is None:
        return False
    return two_sided[c]


@part
def clear_sides(two_sided):
    """Note that no proposal is tried on both sides."""
    if two_sided is None:
        return
    two_sided[:] = False


@part
def write_two_sided(column, empty, proposals, c, two_sided):
    """Write proposal c: a single predictor, whose empty cells are tried on both sides."""
    if two_sided is None:
        return
    proposals.columns[c, 0], proposals.theta[c, 0] = column, 1.0
    proposals.columns[c, 1], proposals.theta[c, 1] = empty, FILL
    proposals.sizes[c], two_sided[c] = 2, True


@part
def _place(columns, size, column):
    """Return the place of `column` among the first `size`; `size` if it is not there."""
    s = 0
    while s < size and columns[s] != column:
        s += 1
    return s


@part
def _append_fill(columns, theta, size, column, value):
    """Add `value` to the coefficient of `column` among the `size` terms; return their number."""
    place = _place(columns, size, column)
    if place < size:
        theta[place] += value
        return size
    columns[size], theta[size] = column, value
    return size + 1


@kernel
def fill_directions(state, rows, lo, m, n, proposals, empty):
    """Append fills to those of n proposals that have terms without one.

    A fill is the mean of the node, or its least or largest value, drawn at random: so random
    directions can send empty cells to either end too.  Of large nodes the first rows are used.
    """
    if empty is None:
        return
    used = min(m, FILL_ROWS)
    for c in range(n):
        columns, theta, size = proposals.columns[c], proposals.theta[c], proposals.sizes[c]
        n_terms = size
        for t in range(n_terms):
            column = empty[columns[t]]
            if column < 0 or column == columns[t] or _place(columns, n_terms, column) < n_terms:
                continue
            low, high, mean, known = known_values(rows, lo, used, columns[t], column)
            drawn = below(state, FILLS)
            if known > 0:
                fill = np.float32(mean) if drawn == 0 else low if drawn == 1 else high
                size = _append_fill(columns, theta, size, column, theta[t] * fill)
        proposals.sizes[c] = size


@kernel
def settled(rows, lo, m, columns, theta, threshold, size, empty):
    """Return threshold and size of the split that columns[0] and theta[0] give in the m rows.

    If it is on one predictor and only tells its empty cells from the others, the direction is
    replaced by the column of empty cells: new rows with values beyond those of the node then go
    with the others.  If the node has no empty cells, the fill is the mean.
    """
    if empty is None:
        return threshold, size
    if size != 2 or empty[columns[0, 0]] != columns[0, 1]:
        return threshold, size
    low, high, mean, known = known_values(rows, lo, m, columns[0, 0], columns[0, 1])
    if known == m:
        theta[0, 1] = theta[0, 0] * np.float32(mean)
        return threshold, size
    low, high = theta[0, 0] * low, theta[0, 0] * high
    if known > 0 and min(low, high) <= threshold < max(low, high):
        return threshold, size
    columns[0, 0], theta[0, 0] = columns[0, 1], np.float32(1.0)
    return np.float32(0.5), size - 1


# Predictors with empty cells as terms of a direction that is estimated.

# Empty cells are a term of their own if the square of their covariance with the target is more than
# so many times that expected by chance.
LEAST_RATIO = 2.0


@part
def _tells(m, empty, work):
    """Whether the rows in which Z[empty] is 1 differ from others in the target, beyond chance."""
    marks, weights, moments = work.Z[empty], work.weights, work.moment
    share = _product(weights, marks, m) / _total(weights, m)
    moment, squares = _product(moments, marks, m), _product(moments, moments, m)
    return moment * moment > LEAST_RATIO * squares * share * (1.0 - share)


@part
def load_with_missing(rows, lo, used, first, width, place, at, work, holes):
    """Load a predictor with empty cells; return how many terms and how many entries it has.

    Empty cells are filled by the mean of the other rows.  The column of empty cells is a term too
    if it tells something about the target.  `holes` is None where the function is never called, so
    that it compiles to nothing.
    """
    if holes is None:
        return 0, at
    Z, weights, empty = work.Z, work.weights, place + width - 1
    load_column(rows, lo, used, first + width - 1, NO, Z, empty)
    known = _total(weights, used) - _product(weights, Z[empty], used)
    n_numbers = width - 1
    work.covariance[place : place + width] = np.nan
    for k in range(n_numbers):
        load_column(rows, lo, used, first + k, NO, Z, place + k)
        values, marks = Z[place + k], Z[empty]
        mean = _product(weights, values, used) / known if known > 0.0 else 0.0
        for i in range(np.uint64(used)):
            values[i] = (values[i] - mean) * (1.0 - marks[i])
        _write_entry(at + k, first + k, 1.0, place + k, work)
        _write_entry(at + n_numbers + k, first + n_numbers, mean, place + k, work)
    if not _tells(used, empty, work):
        return n_numbers, at + 2 * n_numbers
    _write_entry(at + 2 * n_numbers, first + n_numbers, 1.0, empty, work)
    return width, at + 2 * n_numbers + 1


@summing
def _total(values, m):
    total = 0.0
    for i in range(np.uint64(m)):
        total += values[i]
    return total


@summing
def _product(a, b, m):
    """Return the sum of the products of the first m values of two arrays."""
    total = 0.0
    for i in range(np.uint64(m)):
        total += a[i] * b[i]
    return total


@part
def _write_entry(entry, column, score, term, work):
    work.column[entry], work.scores[entry], work.term[entry] = column, score, term
