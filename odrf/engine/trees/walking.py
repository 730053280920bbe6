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
def walk(
    rows, stride, walkers, places, n, words, floats, level_words, level_floats, leaves
):  # fmt: skip
    """Walk down from n packed nodes; write the leaf of each walk to `leaves`.

    The i-th walk begins at the record places[i].  With w = walkers[i], it reads the row that starts
    at w · stride in the flat `rows` and writes its leaf to leaves[w]; with a stride of 0 all walks
    read the same row.  The walks take turns, one step each: the next node of one is loaded while
    the others move.  Overwrites walkers (uint32) and places (uint64).
    """
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    while n > 0:
        kept = np.uint64(0)
        for i in range(n):
            walker, node = walkers[i], places[i]
            row, term = walker * stride, node + np.uint64(HEAD)
            projected = np.float32(0.0)
            for _ in range(words[node + three]):
                projected += term_at(
                    rows, row, words[term], term + one, words, floats, level_words, level_floats
                )
                term += two
            child = words[node + np.uint64(not projected <= floats[node + two])]
            node += np.uint64(child)
            prefetch(words, node)
            prefetch(words, node + np.uint64(BEYOND))
            walkers[kept], places[kept] = walker, node
            leaves[walker] = -1 - child
            kept += np.uint64(child >= 0)
        n = kept
