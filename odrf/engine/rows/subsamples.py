"""Subsamples of one size, drawn into the same arrays by one tree after the other."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel
from odrf.engine.randomness import shuffle_front, uniform

__all__ = ["draw_subsample", "draw_unseen"]


@kernel
def draw_subsample(state, X, y, at, tree_X, tree_y):
    """Draw len(at) of n rows without replacement, each in the same way, in random order.

    The same rows in the same order as `odrf.engine.rows.sampling.draw_counts` and
    `odrf.engine.rows.rows.gather_rows` give for rows of weight 1, and `state` (4,) is advanced as
    they do.

    Parameters
    ----------
    state : (4,) uint64
        A random stream.
    X, y : (r, n) float32; (n,) float64
        All rows.
    at : (m,) int32
        Receives the numbers of the rows drawn.
    tree_X, tree_y : (r, m) or (0, m) float32; (m,) float64
        Receive their columns, if these are copied, and responses.
    """
    n, needed, place = len(y), len(at), np.uint64(0)
    for i in range(n):
        if uniform(state) * (n - i) < needed:
            at[place] = i
            place += np.uint64(1)
            needed -= 1
    shuffle_front(state, at, len(at))
    for i in range(np.uint64(len(at))):
        tree_y[i] = y[np.uint64(at[i])]
    for j in range(np.uint64(len(tree_X))):
        for i in range(np.uint64(len(at))):
            tree_X[j, i] = X[j, np.uint64(at[i])]


@kernel
def draw_unseen(state, size, unseen):
    """Write which of n rows are out of bag for a tree that draws `size` of them: unseen (n,).

    The same rows as those that `draw_subsample` does not draw from the stream `state` (4,).
    """
    n, needed = len(unseen), size
    for i in range(n):
        drawn = uniform(state) * (n - i) < needed
        unseen[i] = not drawn
        needed -= drawn
