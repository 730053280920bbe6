"""Send rows down one tree without packing it first, which would not pay for a single use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["leaves_reached"]


@kernel
def _descend(X, left, threshold, start, index, coef, leaf):
    """Write the leaf of each row of X (n, p) to leaf (n,)."""
    for i in range(np.uint64(len(X))):
        node = np.uint64(0)
        while left[node] >= 0:
            projected = np.float32(0.0)
            for t in range(np.uint64(start[node]), np.uint64(start[node + np.uint64(1)])):
                projected += coef[t] * X[i, np.uint64(index[t])]
            node = np.uint64(left[node]) + np.uint64(not projected <= threshold[node])
        leaf[i] = node


def leaves_reached(tree: Forest, X: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the leaf (n,) in which each row of X (n, p) ends; `tree` is a forest of one.

    Exactly the leaves that `odrf.engine.trees.routing.leaf_nodes` finds.
    """
    leaf = np.empty(len(X), dtype=np.int32)
    _descend(X, tree.left, tree.threshold, tree.start, tree.index, tree.coef, leaf)
    return leaf
