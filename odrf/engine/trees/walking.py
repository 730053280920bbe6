"""Rows that walk down the trees side by side, each from a node of its own."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.prefetching import prefetch

__all__ = ["walk"]

# Words into a record that the next line of the cache may hold: most records end soon after.
BEYOND = 12

# Indices are unsigned: Numba then checks none for being negative.


@part
def walk(rows, stride, who, at, n, words, floats, leaves):
    """Walk on from the first n packed nodes of `at`, and write to `leaves` where each walk ends.

    The i-th walker has the number w = who[i], begins at the record at[i], reads the row that
    starts at w · stride of the flat `rows`, and ends in leaves[w]; a stride of 0 lets all walk
    for one row.  They take turns, a step each: the next node is fetched while the others go on.
    Overwrites who (uint32) and at (uint64).
    """
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    while n > 0:
        kept = np.uint64(0)
        for i in range(n):
            walker, node = who[i], at[i]
            row, term = walker * stride, node + np.uint64(HEAD)
            projected = np.float32(0.0)
            for _ in range(words[node + three]):
                projected += floats[term + one] * rows[row + np.uint64(words[term])]
                term += two
            child = words[node + np.uint64(not projected <= floats[node + two])]
            node += np.uint64(child)
            prefetch(words, node)
            prefetch(words, node + np.uint64(BEYOND))
            who[kept], at[kept] = walker, node
            leaves[walker] = -1 - child
            kept += np.uint64(child >= 0)
        n = kept
