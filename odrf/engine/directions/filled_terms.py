"""Predictors with empty cells as terms of a direction that is estimated."""

from __future__ import annotations

from odrf.engine.compiling import part
from odrf.engine.rows.rows import load_column

__all__ = ["load_with_holes"]

# Empty cells are a term of their own if the square of their covariance with the target is more than
# so many times that expected by chance.
TELLING = 2.0


@part
def _tells(m, empty, work):
    """Whether the rows in which Z[empty] is 1 differ from others in the target, beyond chance."""
    total, missing, moment, squares = 0.0, 0.0, 0.0, 0.0
    for i in range(m):
        total += work.weights[i]
        missing += work.weights[i] * work.Z[empty, i]
        moment += work.moment[i] * work.Z[empty, i]
        squares += work.moment[i] * work.moment[i]
    share = missing / total
    return moment * moment > TELLING * squares * share * (1.0 - share)


@part
def load_with_holes(rows, lo, used, first, width, place, at, work):
    """Load a predictor with empty cells; return how many terms and how many entries it has.

    Empty cells are filled by the mean of the other rows.  The column of empty cells is a term too
    if it tells something about the target.
    """
    Z, empty, known = work.Z, place + width - 1, 0.0
    load_column(rows, lo, used, first + width - 1, False, Z, empty)
    for i in range(used):
        known += work.weights[i] * (1.0 - Z[empty, i])
    n_numbers = width - 1
    for k in range(n_numbers):
        load_column(rows, lo, used, first + k, False, Z, place + k)
        mean = 0.0
        for i in range(used):
            mean += work.weights[i] * Z[place + k, i]
        mean = mean / known if known > 0.0 else 0.0
        for i in range(used):
            Z[place + k, i] = (Z[place + k, i] - mean) * (1.0 - Z[empty, i])
        _write_entry(at + k, first + k, 1.0, place + k, work)
        _write_entry(at + n_numbers + k, first + n_numbers, mean, place + k, work)
    if not _tells(used, empty, work):
        return n_numbers, at + 2 * n_numbers
    _write_entry(at + 2 * n_numbers, first + n_numbers, 1.0, empty, work)
    return width, at + 2 * n_numbers + 1


@part
def _write_entry(entry, column, score, term, work):
    work.column[entry], work.scores[entry], work.term[entry] = column, score, term
