"""Send rows down one tree without packing it first, which would not pay for a single use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.rows.coded import Layout
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.level_tables import coefficient_of, with_level_tables

__all__ = ["leaves_reached"]


@kernel
def _descend(X, left, threshold, start, index, coef, tables, level_words, level_floats, leaf):
    """Write the leaf of each row of X (n, r) to leaf (n,).

    Without tables of levels, see `odrf.engine.trees.level_tables`, the last three are None.
    """
    for i in range(np.uint64(len(X))):
        node = np.uint64(0)
        while left[node] >= 0:
            projected = np.float32(0.0)
            for t in range(np.uint64(start[node]), np.uint64(start[node + np.uint64(1)])):
                if level_words is None or index[t] >= 0:
                    projected += coef[t] * X[i, np.uint64(index[t])]
                else:
                    level = X[i, np.uint64(-1 - index[t])]
                    projected += coefficient_of(level_words, level_floats, tables[t], level)
            node = np.uint64(left[node]) + np.uint64(not projected <= threshold[node])
        leaf[i] = node


def leaves_reached(
    tree: Forest, X: NDArray[np.float32], layout: Layout | None = None
) -> NDArray[np.int32]:
    """Return the leaf (n,) in which each row of X (n, r) ends; `tree` is a forest of one.

    The `layout` tells where the columns are; by default they are the r numbers of a row.  Exactly
    the leaves that `odrf.engine.trees.routing.leaf_nodes` finds.
    """
    leaf = np.empty(len(X), dtype=np.int32)
    if not len(X):
        return leaf
    if layout is None:
        terms = tree.start, tree.index, tree.coef
        _descend(X, tree.left, tree.threshold, *terms, None, None, None, leaf)
        return leaf
    start, index, coef, *tables = with_level_tables(
        tree.left, tree.start, tree.index, tree.coef, layout
    )
    of_levels = coef.view(np.int32), *tables
    _descend(X, tree.left, tree.threshold, start, index, coef, *of_levels, leaf)
    return leaf
