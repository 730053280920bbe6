"""Grow one oblique decision tree best-first: the split with the largest decrease is made next.

Every new leaf is searched at once, and its best split is kept.  While there are fewer than t_n
leaves, the leaf is split whose split decreases the weighted sum of the impurities most (Friedman,
Hastie and Tibshirani 2000, Section 8; Shi 2007).  Nodes are numbered as they are created, left
child before right, and searched in this order.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, inlined, kernel
from odrf.engine.growth.tree_kernel import (
    LEAVES,
    NEXT,
    NODE,
    NODES,
    TERMS,
    append_direction,
    begin_leaf,
    count_factors,
    divide_node,
    may_split,
)
from odrf.engine.rows.rows import project
from odrf.engine.splits.absent_levels import send_absent_levels
from odrf.engine.splits.searching import search

__all__ = ["grow_best_first"]


@inlined
def _best_leaf(buffers, n_nodes):
    """Return the leaf whose split decreases the impurity most, the first of equals; -1 if none."""
    chosen, most = -1, 0.0
    for i in range(n_nodes):
        decrease = buffers.weight[i] * buffers.gain[i]
        if buffers.left[i] < 0 and decrease > most:
            chosen, most = i, decrease
    return chosen


@inlined
def _load_direction(buffers, i, columns, theta):
    """Copy the direction of node i to the first of columns and theta; return its size."""
    first = buffers.start[i]
    size = buffers.start[i + 1] - first
    for j in range(size):
        columns[0, j], theta[0, j] = buffers.column[first + j], buffers.coef[first + j]
    return size


@inlined
def _drop_unmade_splits(buffers, n_nodes):
    """Make leaves of the nodes whose splits were not made; return how many terms are left."""
    used, begin = 0, buffers.start[0]
    for i in range(n_nodes):
        end = buffers.start[i + 1]
        buffers.start[i] = used
        if buffers.left[i] < 0:
            buffers.threshold[i], buffers.gain[i] = np.nan, 0.0
        else:
            for j in range(begin, end):
                buffers.column[used], buffers.coef[used] = buffers.column[j], buffers.coef[j]
                used += 1
        begin = end
    return used


@kernel
def grow_best_first(
    rows, feature_groups, settings, state, buffers, scratch, calls, surrogates, reached, budget
):  # fmt: skip
    """Grow a tree on its rows, until it is complete, the buffers or the budget are used up.

    The arguments are those of `odrf.engine.growth.tree_kernel.grow_tree`; the settings must be
    without surrogates.  While the tree grows, a leaf has the gain and the threshold of its best
    split, and the terms of its direction.
    """
    begin, end, start = buffers.begin, buffers.end, buffers.start
    i, n_nodes, n_leaves, n_terms = reached
    n_factors = count_factors(feature_groups)
    columns, theta, values = scratch.columns, scratch.theta, scratch.values
    while (
        i < n_nodes
        and n_nodes + 2 <= len(buffers.left)
        and n_terms + columns.shape[1] <= len(buffers.column)
        and budget > 0
    ):
        lo, m = begin[i], end[i] - begin[i]
        budget -= m + NODE
        node = begin_leaf(state, rows, i, n_terms, buffers, scratch, settings)
        if may_split(node, buffers.depth[i], n_leaves, buffers.impurity[0], settings):
            decrease, cut, size = search(
                state, rows, lo, node, settings, scratch, calls, surrogates
            )
            if decrease > 0.0:
                if n_factors > 0:
                    project(rows, lo, m, columns, theta, ZERO, size, values)
                    size, cut = send_absent_levels(
                        rows, lo, node, feature_groups, size, cut, scratch, scratch.levels
                    )
                n_terms = append_direction(
                    columns, theta, size, buffers.column, buffers.coef, n_terms
                )
                buffers.threshold[i], buffers.gain[i] = cut, decrease
        i += 1
        start[i] = n_terms
        if i < n_nodes:
            continue
        best = _best_leaf(buffers, n_nodes) if n_leaves < settings.max_leaves else -1
        if best >= 0:
            lo, m = begin[best], end[best] - begin[best]
            size = _load_direction(buffers, best, columns, theta)
            project(rows, lo, m, columns, theta, ZERO, size, values)
            cut = buffers.threshold[best]
            divide_node(rows, best, cut, n_nodes, n_leaves, buffers, scratch, settings)
            n_nodes += 2
            n_leaves += 1
    if i == n_nodes:
        n_terms = _drop_unmade_splits(buffers, n_nodes)
        start[n_nodes] = n_terms
    reached[NEXT], reached[NODES], reached[LEAVES], reached[TERMS] = i, n_nodes, n_leaves, n_terms
