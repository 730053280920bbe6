"""Predictors with empty cells as terms of a direction that is estimated."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import NO, part, summing
from odrf.engine.rows.rows import load_column

__all__ = ["load_with_holes"]

# Empty cells are a term of their own if the square of their covariance with the target is more than
# so many times that expected by chance.
TELLING = 2.0


@part
def _tells(m, empty, work):
    """Whether the rows in which Z[empty] is 1 differ from others in the target, beyond chance."""
    marks, weights, moments = work.Z[empty], work.weights, work.moment
    share = _product(weights, marks, m) / _total(weights, m)
    moment, squares = _product(moments, marks, m), _product(moments, moments, m)
    return moment * moment > TELLING * squares * share * (1.0 - share)


@part
def load_with_holes(rows, lo, used, first, width, place, at, work, holes):
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
