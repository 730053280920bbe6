"""Whether records for routing from a file can be walked: kernels check nothing while they walk."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import allocating, part
from odrf.engine.trees.level_tables import TITLE, UNIT
from odrf.engine.trees.packing import HEAD

__all__ = ["records_are_sound"]


@part
def _table_is_sound(level_words, place):
    """Whether a table of levels is within its array."""
    at = np.int64(place) * UNIT
    if place < 0 or at + TITLE > len(level_words):
        return False
    n = np.int64(level_words[at + 1])
    return at + TITLE + (n if n >= 0 else -2 * n) <= len(level_words)


@part
def _terms_are_sound(words, first, last, level_words, n_numbers, n_stored):
    """Whether the terms of a record read rows and tables that are there."""
    for term in range(first, last, 2):
        if words[term] >= 0:
            if words[term] >= n_numbers:
                return False
        else:
            row = -1 - np.int64(words[term])
            if row < n_numbers or row >= n_stored:
                return False
            if not _table_is_sound(level_words, words[term + 1]):
                return False
    return True


@allocating
def records_are_sound(at, words, level_words, n_values, n_numbers, n_stored):
    """Whether every walk along records ends at a value.

    Parameters
    ----------
    at : (B,) int64
    words, level_words : int32
        As in `odrf.engine.trees.packing.Packed`; level_words is empty if there are none.
    n_values : int
        Leaves are below it.
    n_numbers, n_stored : int
        The rows of the matrix that are columns, and all of its rows.
    """
    begins = np.zeros(len(words), dtype=np.bool_)
    place = np.int64(0)
    while place < len(words):
        if place + HEAD > len(words):
            return False
        begins[place] = True
        n = np.int64(words[place + HEAD - 1])
        last = place + HEAD + 2 * n
        if n < 0 or last > len(words):
            return False
        if not _terms_are_sound(words, place + HEAD, last, level_words, n_numbers, n_stored):
            return False
        place = last
    for record in range(len(words)):
        if begins[record]:
            for side in range(2):
                child = np.int64(words[record + side])
                if child < 0:
                    if -1 - child >= n_values:
                        return False
                elif child == 0 or record + child >= len(words) or not begins[record + child]:
                    return False
    for b in range(len(at)):
        if at[b] < 0:
            if -1 - at[b] >= n_values:
                return False
        elif at[b] >= len(words) or not begins[at[b]]:
            return False
    return True
