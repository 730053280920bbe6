"""Predict one row in one call, with less overhead than `odrf.engine.trees.routing` has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, kernel
from odrf.engine.trees.packing import Packed
from odrf.engine.trees.walking import walk

__all__ = ["predict_row", "scale_row"]


@kernel
def scale_row(raw, source, level, low, width, largest, farthest, x):
    """Write to x (r,) the scaled numbers of the values raw (P,); return whether all are finite.

    Number j is raw[source[j]]; where level[j] ≥ 0 it is an indicator, 1 if raw[source[j]] equals
    level[j], else 0.  It is scaled to (value - low[j]) / width[j] in float64, to 0 if width[j] is
    0, and clipped to ±`farthest`.  A value counts as finite if it is within ±`largest`.
    """
    fine = True
    for j in range(len(x)):
        value = raw[source[j]]
        if level[j] >= 0:
            value = 1.0 if value == level[j] else 0.0
        fine = fine and abs(value) <= largest
        value = (value - low[j]) / width[j] if width[j] != 0.0 else 0.0
        x[j] = min(max(value, -farthest), farthest)
    return fine


@allocating
def _mean_of_leaves(x, root, words, floats, level_words, level_floats, value, out):
    n_trees, n_values = np.uint64(len(root)), np.uint64(len(out))
    walkers, places = np.empty(len(root), dtype=np.uint32), np.empty(len(root), dtype=np.uint64)
    leaves = np.empty(len(root), dtype=np.int32)
    n_walkers = np.uint64(0)
    for b in range(n_trees):
        leaves[b] = -1 - root[b]
        walkers[n_walkers], places[n_walkers] = b, root[b]
        n_walkers += np.uint64(root[b] >= 0)
    walk(
        x, np.uint64(0), walkers, places, n_walkers, words, floats, level_words, level_floats,
        leaves,
    )  # fmt: skip
    for k in range(n_values):
        out[k] = 0.0
    for b in range(n_trees):
        leaf = np.uint64(leaves[b])
        for k in range(n_values):
            out[k] += value[leaf, k]
    for k in range(n_values):
        out[k] /= len(root)


def predict_row(
    packed: Packed, value: NDArray[np.float64], x: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the mean (K,) over the trees of the `value` (m, K) of the leaf of one row x (r,).

    The trees are packed for a matrix that stores these r numbers of the row.

    The same numbers, bit for bit, as `odrf.engine.trees.routing.predict`.
    """
    out = np.empty(value.shape[1])
    _mean_of_leaves(x, *packed, value, out)
    return out
