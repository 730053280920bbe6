"""Rows that walk down the trees in turns, each from its current node."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.trees.level_tables import coefficient_of
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.prefetching import prefetch

__all__ = ["term_at", "walk"]

# Where in a record the next cache line may begin, in words; most records end soon after.
BEYOND = 12

# A record of fewer terms is read as if it had so many, the others with a coefficient of 0: where a
# processor guesses wrongly how many there are, it loses more time.
ALIKE = 5

# Indices are unsigned: Numba then does not check whether they are negative.


@part
def term_at(rows, row, column, at, words, floats, level_words, level_floats):
    """Return a term of the projection of the row that starts at `row`.

    Of the packed nodes, `at` is where the coefficient of the `column` is, or the place of a table
    of levels, see `odrf.engine.trees.level_tables`; without these the tables are None.
    """
    if level_words is None:
        return floats[at] * rows[row + np.uint64(column)]
    if column >= 0:
        return floats[at] * rows[row + np.uint64(column)]
    return coefficient_of(level_words, level_floats, words[at], rows[row + np.uint64(-1 - column)])


@part
def _projection(rows, row, node, words, floats, level_words, level_floats):
    """Return the projection of the row that starts at `row`, at a packed node."""
    one, two = np.uint64(1), np.uint64(2)
    term = node + np.uint64(HEAD)
    projected = np.float32(0.0)
    for _ in range(words[node + np.uint64(3)]):
        projected += term_at(
            rows, row, words[term], term + one, words, floats, level_words, level_floats
        )
        term += two
    return projected


@part
def _even_projection(rows, row, node, words, floats):
    """Return the same in the same time for all nodes of up to `ALIKE` terms; without levels."""
    one, two = np.uint64(1), np.uint64(2)
    first, n_terms = node + np.uint64(HEAD), np.uint64(words[node + np.uint64(3)])
    projected = np.float32(0.0)
    if n_terms == 0:
        return projected
    for t in range(np.uint64(ALIKE)):
        there = np.uint64(t < n_terms)
        term = first + two * t * there
        coefficient = np.float32(there) * floats[term + one]
        projected += coefficient * rows[row + np.uint64(words[term])]
    for t in range(np.uint64(ALIKE), n_terms):
        term = first + two * t
        projected += floats[term + one] * rows[row + np.uint64(words[term])]
    return projected


@part
def walk(
    rows, stride, walkers, places, n, words, floats, level_words, level_floats, leaves
):  # fmt: skip
    """Walk down from n packed nodes; write the leaf of each walk to `leaves`.

    The i-th walk begins at the record places[i].  With w = walkers[i], it reads the row that starts
    at w · stride in the flat `rows` and writes its leaf to leaves[w]; with a stride of 0 all walks
    read the same row.  The walks take turns, one step each: the next node of one is loaded while
    the others move.  Overwrites walkers (uint32) and places (uint64).
    """
    two, three = np.uint64(2), np.uint64(3)
    most_before = np.int32(1)
    while n > 0:
        kept, most = np.uint64(0), np.int32(1)
        for i in range(n):
            walker, node = walkers[i], places[i]
            row = walker * stride
            most = max(most, words[node + three])
            if level_words is None and most_before > 1:
                projected = _even_projection(rows, row, node, words, floats)
            else:
                projected = _projection(rows, row, node, words, floats, level_words, level_floats)
            child = words[node + np.uint64(not projected <= floats[node + two])]
            node += np.uint64(child)
            prefetch(words, node)
            prefetch(words, node + np.uint64(BEYOND))
            walkers[kept], places[kept] = walker, node
            leaves[walker] = -1 - child
            kept += np.uint64(child >= 0)
        # where all nodes of a step had one term, those of the next one have hardly more
        n, most_before = kept, most
