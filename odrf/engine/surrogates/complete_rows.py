"""Rows that have values for all terms of a direction.

This is tested like a split, so that training and routing tell it in the same way: a sum of columns
is at most a threshold.  The columns that mark empty cells count 1, the levels of factors -1.  Each
row has one level of each of F factors, or at least one cell is empty: the sum is -F or more.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.rows.rows import project

__all__ = ["complete_rows", "without_marks", "write_test"]


@part
def _is_first_of_predictor(marks, columns, t):
    s = 0
    while marks.predictor[columns[s]] != marks.predictor[columns[t]]:
        s += 1
    return s == t


@part
def _is_one_factor(marks, columns, size):
    j, alone = marks.predictor[columns[0]], True
    for t in range(1, size):
        alone = alone and marks.predictor[columns[t]] == j
    return alone and marks.factor[j]


@part
def without_marks(columns, theta, c, size, marks):
    """Remove the columns that mark empty cells from columns[c] and theta[c]; return the size.

    They are 0 in the rows that have all values.  Columns with the coefficient 0 are removed too: a
    row needs no values of theirs.
    """
    n = 0
    for t in range(size):
        is_mark = marks.mark[marks.predictor[columns[c, t]]] == columns[c, t]
        if not is_mark and theta[c, t] != 0.0:
            columns[c, n], theta[c, n] = columns[c, t], theta[c, t]
            n += 1
    return n


@kernel
def write_test(marks, columns, size, own_levels, tested, theta):
    """Write the test whether a row has values for a direction; return its size and threshold.

    Parameters
    ----------
    marks : Marks
    columns : (≥ size,) int
        The columns of the direction.
    size : int
    own_levels : bool
        Whether a row also lacks a value if it has a level of a factor, split alone, that is not
        among the columns.
    tested : (≥ p,) int64; theta : (≥ p,) float32
        Receive the test: a row has all values if Σ theta·x[tested] is at most the threshold.  Its
        size is 0 if all rows have.
    """
    n, threshold = ZERO, np.float32(0.5)
    if own_levels and _is_one_factor(marks, columns, size):
        for t in range(size):
            tested[t], theta[t] = columns[t], -1.0
        return size, np.float32(-0.5)
    for t in range(size):
        if not _is_first_of_predictor(marks, columns, t):
            continue
        j = marks.predictor[columns[t]]
        if marks.factor[j]:
            for column in range(marks.first[j], marks.first[j + 1]):
                if column != marks.mark[j]:
                    tested[n], theta[n] = column, -1.0
                    n += 1
            threshold -= np.float32(1.0)
        elif marks.mark[j] >= 0:
            tested[n], theta[n] = marks.mark[j], 1.0
            n += 1
    return n, threshold


@part
def complete_rows(rows, lo, m, marks, columns, size, own_levels, work):
    """Write to work.complete (≥ m,) which of the m rows from `lo` on have values for a direction.

    The arguments are those of `write_test`; `work` is a `SurrogateScratch`.  Returns how many.
    """
    complete = work.complete
    n, threshold = write_test(marks, columns, size, own_levels, work.tested[0], work.ones[0])
    if n == 0:
        for i in range(m):
            complete[i] = True
        return m
    project(rows, lo, m, work.tested, work.ones, ZERO, n, work.values)
    number = ZERO
    for i in range(m):
        complete[i] = work.values[i] <= threshold
        number += complete[i]
    return number
