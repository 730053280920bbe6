"""Directions on factors of many levels, for routing: one term for all levels of a factor.

In a `Forest` such a factor has a term for each level with a coefficient.  A row has one level at
most.  So a table of the coefficients by level gives what the factor adds to the row's projection,
however many levels it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, part
from odrf.engine.limits import MOST_PLACES, require_numbers
from odrf.engine.rows.coded import Layout

__all__ = ["UNIT", "LevelTables", "coefficient_of", "with_level_tables"]

# Tables begin at multiples of so many words: so that their places fit 32 bits in large forests.
UNIT = 4
# Words before the entries of a table.
TITLE = 2

FEWER = "use fewer trees (n_trees=), or join levels that are rare"


class LevelTables(NamedTuple):
    """The terms of a forest's nodes, with one for each factor of many levels; and the tables.

    A table has two words, then its entries.  If these are a and n ≥ 0, the entries are the
    coefficients of the n levels from a on; if they are a and -n, the numbers of n levels in
    ascending order and then their coefficients.  The shorter of both is used.

    Attributes
    ----------
    start : (m + 1,) int64
        Where each node's terms begin.
    row : (z,) int32
        The row of the matrix that a term reads; -1 - row, if this holds the levels of a factor.
    coef : (z,) float32
        The coefficient; for a factor the bits of the place of its table, divided by `UNIT`.
    words : int32
        The tables.
    floats : float32
        The same memory, viewed as floats.
    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    coef: NDArray[np.float32]
    words: NDArray[np.int32]
    floats: NDArray[np.float32]


@part
def coefficient_of(words, floats, place, level):
    """Return the coefficient of a level, 0 if it has none, in the table at this place."""
    at = np.int64(place) * UNIT
    low, n, wanted = words[at], np.int64(words[at + 1]), np.int64(level)
    at += TITLE
    if n >= 0:
        k = wanted - low
        return floats[at + k] if 0 <= k < n else np.float32(0.0)
    first, last = np.int64(0), -n
    while first < last:
        middle = (first + last) // 2
        if words[at + middle] < wanted:
            first = middle + 1
        else:
            last = middle
    found = first < -n and words[at + first] == wanted
    return floats[at + first - n] if found else np.float32(0.0)


@part
def _end_of_factor(index, place, level, first, last):
    """Return where the terms of the factor of term `first` end, and the range of its levels."""
    t, row = first, place[index[first]]
    low = high = level[index[first]]
    while t < last and level[index[t]] > 0 and place[index[t]] == row:
        low, high = min(low, level[index[t]]), max(high, level[index[t]])
        t += 1
    return t, low, high


@part
def _entries(n, low, high):
    """Return how many words the entries of n levels in a range take, and whether all have one."""
    every = high - low + 1 <= 2 * n
    return (high - low + 1 if every else 2 * n), every


@allocating
def _sizes(left, start, index, place, level):
    """Return how many terms and words of tables the splits have."""
    terms, room = 0, 0
    for node in range(len(left)):
        t, last = start[node], start[node + 1] if left[node] >= 0 else start[node]
        while t < last:
            terms += 1
            if level[index[t]] == 0:
                t += 1
                continue
            first = t
            t, low, high = _end_of_factor(index, place, level, first, last)
            size, _ = _entries(t - first, low, high)
            room += -(-(TITLE + size) // UNIT) * UNIT
    return terms, room


@allocating
def _write_table(index, coef, level, first, last, low, high, words, floats, at):
    """Write the table of the terms first … last - 1; return its number of words."""
    n = last - first
    size, every = _entries(n, low, high)
    words[at], words[at + 1] = low, size if every else -n
    if every:
        for t in range(first, last):
            floats[at + TITLE + level[index[t]] - low] = coef[t]
    else:
        order = np.argsort(level[index[first:last]])
        for k in range(n):
            t = first + order[k]
            words[at + TITLE + k], floats[at + TITLE + n + k] = level[index[t]], coef[t]
    return -(-(TITLE + size) // UNIT) * UNIT


@allocating
def _write(left, start, index, coef, place, level, new_start, new_index, new_words, new_coef,
           words, floats):  # fmt: skip
    """Write the arrays of `LevelTables`; new_words is the memory of new_coef, viewed as words."""
    term, at = 0, 0
    for node in range(len(left)):
        new_start[node] = term
        t, last = start[node], start[node + 1] if left[node] >= 0 else start[node]
        while t < last:
            column = index[t]
            new_index[term], new_coef[term] = place[column], coef[t]
            if level[column] == 0:
                t += 1
            else:
                first = t
                t, low, high = _end_of_factor(index, place, level, first, last)
                new_index[term], new_words[term] = -1 - place[column], at // UNIT
                at += _write_table(index, coef, level, first, t, low, high, words, floats, at)
            term += 1
    new_start[len(left)] = term


def with_level_tables(
    left: NDArray[np.integer],
    start: NDArray[np.integer],
    index: NDArray[np.integer],
    coef: NDArray[np.float32],
    layout: Layout,
) -> LevelTables:
    """Return the terms of the splits of a `Forest`; see there for the arguments.

    The terms of a factor that follow one another become one.  They are of different levels.
    """
    terms, room = _sizes(left, start, index, layout.place, layout.level)
    require_numbers(room // UNIT, MOST_PLACES, "numbers of tables of levels", FEWER)
    coefficients = np.empty(terms, dtype=np.float32)
    tables = np.zeros(room, dtype=np.int32)
    new = LevelTables(
        np.empty(len(left) + 1, dtype=np.int64),
        np.empty(terms, dtype=np.int32),
        coefficients,
        tables,
        tables.view(np.float32),
    )
    _write(
        left, start, index, coef, layout.place, layout.level, new.start, new.row,
        coefficients.view(np.int32), coefficients, new.words, new.floats,
    )  # fmt: skip
    return new
