"""What a split does with the points of a row: where they part, or which go left.

A split that reads a column with other values may send the points of a row to both sides.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.trees.level_tables import coefficient_of
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.walking import term_at

__all__ = ["divide_points", "first_apart", "mark_records", "touching_term", "with_terms"]


@kernel
def mark_records(own, words):
    """Negate the number of terms of the records that read a column with other values.

    Column c has some if ``own[c]`` is not negative.  Every record has a term.
    """
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    node = np.uint64(0)
    while node < np.uint64(len(words)):
        first = node + np.uint64(HEAD)
        last = first + two * np.uint64(words[node + three])
        for term in range(first, last, two):
            column = words[term]
            if own[np.uint64(column if column >= 0 else -1 - column)] >= 0:
                words[node + three] = -np.int32((last - first) // two)
        node = last + one - one


@part
def touching_term(first, last, own, words):
    """Return the first term that reads a column with other values, and whether it is the only one.

    A factor in codes counts as several.
    """
    found, alone = last, True
    for term in range(first, last, np.uint64(2)):
        column = words[term]
        if own[np.uint64(column if column >= 0 else -1 - column)] >= 0:
            alone = found == last and column >= 0
            found = min(found, term)
    return found, alone


@part
def with_terms(
    projected, rows, row, first, last, words, floats, level_words, level_floats
):  # fmt: skip
    """Add the terms from `first` on to a projection, in float32 in their order."""
    for term in range(first, last, np.uint64(2)):
        projected += term_at(
            rows, row, words[term], term + np.uint64(1), words, floats, level_words, level_floats
        )
    return projected


@part
def _goes_right(
    value, common, rows, row, touching, last, threshold, words, floats, level_words, level_floats
):  # fmt: skip
    """Return whether a row goes right whose column of the term `touching` has this value."""
    projected = common + floats[touching + np.uint64(1)] * value
    projected = with_terms(
        projected, rows, row, touching + np.uint64(2), last, words, floats, level_words,
        level_floats,
    )  # fmt: skip
    return np.uint64(not projected <= threshold)


@part
def first_apart(
    values, lo, hi, common, rows, row, touching, last, threshold, words, floats, level_words,
    level_floats,
):  # fmt: skip
    """Return the side of values[lo], and where those begin by which the row goes to the other one.

    Values do not fall from lo to hi.  Rounding keeps order: so projections rise, or fall, too.
    """
    one = np.uint64(1)
    side = _goes_right(
        values[lo], common, rows, row, touching, last, threshold, words, floats, level_words,
        level_floats,
    )  # fmt: skip
    below, above, middle = lo, hi, hi - one
    while above - below > one:
        there = _goes_right(
            values[middle], common, rows, row, touching, last, threshold, words, floats,
            level_words, level_floats,
        )  # fmt: skip
        if there == side:
            below = middle
        else:
            above = middle
        middle = (below + above) // np.uint64(2)
    return side, above


@part
def _point_goes_right(
    point, n_points, values, own, common, rows, row, touching, last, threshold, words, floats,
    level_words, level_floats,
):  # fmt: skip
    """Return whether a row goes right at a point; the flat `values` have a row for each column."""
    projected, one = common, np.uint64(1)
    for term in range(touching, last, np.uint64(2)):
        column = words[term]
        place = np.uint64(column if column >= 0 else -1 - column)
        value = rows[row + place]
        if own[place] >= 0:
            value = values[np.uint64(own[place]) * n_points + point]
        if level_words is None or column >= 0:
            projected += floats[term + one] * value
        else:
            projected += coefficient_of(level_words, level_floats, words[term + one], value)
    return np.uint64(not projected <= threshold)


@part
def divide_points(
    members, lo, hi, scratch, n_points, values, distinct, code, own, common, rows, row, touching,
    alone, last, threshold, words, floats, level_words, level_floats,
):  # fmt: skip
    """Move the points members[lo:hi] that go left to the front; return where the others begin.

    If the split has one column with other values `alone`, and all rows have the same ones, its
    `distinct` values (T, up to G) are divided first, and points follow their `code` (T, G).
    """
    one = np.uint64(1)
    column = np.uint64(0)
    first_side, apart = one, np.uint64(0)
    by_code = alone and code.shape[1] > 0
    if by_code:
        column = np.uint64(own[np.uint64(words[touching])])
        first_side, apart = first_apart(
            distinct[column], np.uint64(0), np.uint64(code[column, n_points]), common, rows, row,
            touching, last, threshold, words, floats, level_words, level_floats,
        )  # fmt: skip
    left, right = lo, np.uint64(0)
    for i in range(lo, hi):
        point = np.uint64(members[i])
        if by_code:
            side = first_side ^ np.uint64(np.uint64(code[column, point]) >= apart)
        else:
            side = _point_goes_right(
                point, n_points, values, own, common, rows, row, touching, last, threshold, words,
                floats, level_words, level_floats,
            )  # fmt: skip
        members[left] = scratch[right] = point
        left += one - side
        right += side
    for i in range(right):
        members[left + i] = scratch[i]
    return left
