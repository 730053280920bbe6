"""Empty cells: every term θ·x of a split has a fill f, used in rows where x is empty.

A predictor with empty cells has one more column, which is 1 in these rows; its other columns are 0
there.  So a term with a fill is two terms: θ on x, and θ·f on the column of empty cells.  Training
and prediction then need no other rule, and tables without empty cells no other code.

A single predictor has a fill below and one above its values in the node: each cut is tried with the
rows with empty cells on either side (Twala, Jones, Hand 2008).  In a direction of several
predictors the fill is the mean of the node.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.randomness import below

__all__ = ["cut_of_empty_cells", "fill_directions", "known_values", "write_sides"]

# A fill beyond the values of the node is so far from them, as a share of their range: far enough
# for a bin of its own where bins are fewest.
BEYOND = 1.0 / 30.0
# Fills at both ends of the values, and the mean.
FILLS = 3
# Rows of a node from which the fills of random directions are computed.
FILL_ROWS = 200


@part
def _cell(rows, column, i):
    """Return the value of a column, not one of a factor of many levels, in row i of the tree."""
    if len(rows.place) > 0:
        column = rows.place[column]
    at = np.uint64(i) if rows.copied else np.uint64(rows.at[np.uint64(i)])
    return rows.X[np.uint64(column), at]


@kernel
def known_values(rows, lo, m, column, empty):
    """Return least, largest and mean value of a column in the m rows from `lo` on.

    Rows in which the column `empty` is not 0 are left out.  Returns also how many others there are.
    """
    low, high, total, n = np.float32(np.inf), np.float32(-np.inf), 0.0, 0
    for i in range(lo, lo + m):
        if _cell(rows, empty, i) == np.float32(0.0):
            value = _cell(rows, column, i)
            low, high = min(low, value), max(high, value)
            total += value
            n += 1
    return low, high, total / max(n, 1), n


@part
def _write_filled(column, empty, fill, proposals, c):
    proposals.columns[c, 0], proposals.theta[c, 0] = column, 1.0
    proposals.columns[c, 1], proposals.theta[c, 1] = empty, fill
    proposals.sizes[c] = 2


@part
def write_sides(rows, lo, m, column, empty, proposals, c):
    """Write the proposals of a single predictor from number c on; return how many.

    Two: its empty cells filled below and above its values in the m rows from `lo` on.  One, filled
    by the mean, if there are no empty cells; none if there is nothing else.
    """
    low, high, mean, n = known_values(rows, lo, m, column, empty)
    if n == 0:
        return 0
    if n == m:
        _write_filled(column, empty, mean, proposals, c)
        return 1
    step = (high - low) * np.float32(BEYOND) if high > low else np.float32(1.0)
    _write_filled(column, empty, low - step, proposals, c)
    _write_filled(column, empty, high + step, proposals, c + 1)
    return 2


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
def fill_directions(state, rows, lo, m, n, proposals):
    """Append fills to those of n proposals that have terms without one.

    A fill is the mean of the node, or its least or largest value, drawn at random: so random
    directions can send empty cells to either end too.  Of large nodes the first rows are used.
    """
    used, empty = min(m, FILL_ROWS), proposals.empty
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
def cut_of_empty_cells(rows, lo, m, columns, theta, threshold, size, empty):
    """Return threshold and size of the split that columns[0] and theta[0] give in the m rows.

    If it is on one predictor and only tells its empty cells from the others, the direction is
    replaced by the column of empty cells: new rows with values beyond those of the node then go
    with the others.
    """
    if size != 2 or empty[columns[0, 0]] != columns[0, 1]:
        return threshold, size
    low, high, _, known = known_values(rows, lo, m, columns[0, 0], columns[0, 1])
    if known == 0 or known == m:
        return threshold, size
    low, high = theta[0, 0] * low, theta[0, 0] * high
    if min(low, high) <= threshold < max(low, high):
        return threshold, size
    columns[0, 0], theta[0, 0] = columns[0, 1], np.float32(1.0)
    return np.float32(0.5), size - 1
