"""Grow one oblique decision tree, breadth-first (Algorithm 1 of Zhan, Liu and Xia) or best-first.

Nodes are numbered as they are created, left child before right.  So their numbers are in
breadth-first order, and one loop over them grows the tree until it has t_n leaves.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, inlined, kernel
from odrf.engine.directions.candidates import INDICATORS
from odrf.engine.growth.node_values import LEAVES, NEXT, NODES, TERMS, load_direction
from odrf.engine.rows import divide, divide_columns, is_pure, project
from odrf.engine.splits.factor_splits import send_absent_levels
from odrf.engine.splits.impurity import NEGLIGIBLE, describe
from odrf.engine.splits.splitter import search
from odrf.engine.splits.surrogate_scratch import send_rows
from odrf.engine.survival.log_rank import score_node

# A node of a few rows takes about as long as this many rows of a large node.
NODE = 256


@inlined
def may_split(node, depth, n_leaves, root_impurity, settings):
    """Whether the limits on leaves, depth and node size, and its impurity, allow a split."""
    return (
        n_leaves < settings.max_leaves
        and depth < settings.max_depth
        and node.n_rows >= 2 * settings.min_leaf
        and node.weight > 2.0 * node.lightest
        and node.impurity > NEGLIGIBLE * root_impurity
    )


@inlined
def _stays_leaf(rows, lo, m, depth, n_leaves, settings):
    """Whether a new node of the m rows from `lo` on will surely not be searched.

    Of times to an event it is not known whether its responses, the scores of its rows, differ:
    those in y are still the scores of its parent.
    """
    if depth >= settings.max_depth or n_leaves >= settings.max_leaves:
        return True
    n_rows = 0
    for i in range(np.uint64(lo), np.uint64(lo + m)):
        n_rows += int(rows.counts[i])
    if n_rows < 2 * settings.min_leaf:
        return True
    return settings.n_times == 0 and is_pure(rows, lo, m)


@inlined
def append_direction(columns, theta, size, index, coef, used):
    """Append the nonzero terms of theta[0] after the `used` ones; return the new number."""
    for j in range(size):
        if theta[0, j] != 0.0:
            index[used], coef[used] = columns[0, j], theta[0, j]
            used += 1
    return used


@inlined
def count_factors(feature_groups):
    """Return how many predictors are factors."""
    n_factors = 0
    for kind in feature_groups.types:
        n_factors += kind == INDICATORS
    return n_factors


@inlined
def begin_leaf(calls, rows, i, n_terms, buffers, scratch, settings):
    """Write what is known of node i before it is searched, and return its `Node`.

    Of times to an event the scores of its rows are computed first.
    """
    lo, m = buffers.begin[i], buffers.end[i] - buffers.begin[i]
    if settings.n_times > 0:
        score_node(calls.score, lo, m)
    node = describe(
        rows, lo, m, buffers.value[i], scratch.moments, scratch.logs, settings.criterion,
        settings.min_weight,
    )  # fmt: skip
    buffers.weight[i], buffers.n_rows[i] = node.weight, node.n_rows
    buffers.impurity[i] = node.impurity
    buffers.start[i] = n_terms
    buffers.left[i], buffers.threshold[i], buffers.gain[i], buffers.order[i] = -1, np.nan, 0.0, 0
    return node


@inlined
def divide_node(rows, i, cut, n_nodes, n_leaves, buffers, scratch, settings):
    """Divide the rows of node i, projected to scratch.values, between two new leaves."""
    begin, end, depth = buffers.begin, buffers.end, buffers.depth
    lo, m = begin[i], end[i] - begin[i]
    middle = lo + divide(rows, lo, m, cut, scratch.values, scratch.goes_left, scratch.moments)
    below = depth[i] + 1
    if not (
        _stays_leaf(rows, lo, middle - lo, below, n_leaves + 1, settings)
        and _stays_leaf(rows, middle, end[i] - middle, below, n_leaves + 1, settings)
    ):
        divide_columns(rows, lo, m, scratch.goes_left, scratch.values, scratch.words)
    buffers.left[i], buffers.order[i] = n_nodes, n_leaves
    begin[n_nodes], end[n_nodes] = lo, middle
    begin[n_nodes + 1], end[n_nodes + 1] = middle, end[i]
    depth[n_nodes] = depth[n_nodes + 1] = below


# Best-first, every new leaf is searched at once, and its best split is kept.  While there are fewer
# than t_n leaves, the leaf is split whose split decreases the weighted sum of the impurities most
# (Friedman, Hastie and Tibshirani 2000, Section 8; Shi 2007).


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
def grow_tree(
    rows, feature_groups, settings, state, buffers, scratch, calls, surrogates, reached, budget
):  # fmt: skip
    """Grow a tree on its rows, until no node can be split, the buffers or the budget are used up.

    `rows`: the training rows of the tree; every split reorders those of its node.  `state` (4,):
    its random stream, advanced.  `buffers`: receives the nodes.  `calls`: of the samplers of
    directions.  `surrogates`: not called unless the settings say so.  `reached` (4,): numbers of
    nodes searched (`NEXT`), nodes, leaves and terms; updated.  The tree is complete when all nodes
    have been searched; otherwise call again, with larger buffers if these are full.  `budget`: how
    much is done in one call: each node counts as its rows and `NODE` more.  While a tree grows
    best-first, a leaf has the gain and the threshold of its best split, and the terms of its
    direction.
    """
    begin, end, best_first = buffers.begin, buffers.end, settings.best_first
    i, n_nodes, n_leaves, n_terms = reached
    n_factors = count_factors(feature_groups)
    columns, theta, values = scratch.columns, scratch.theta, scratch.values
    while (
        i < n_nodes
        and n_nodes + 2 <= len(buffers.left)
        and n_terms + columns.shape[1] <= len(buffers.column)
        and budget > 0
    ):
        lo, m, divided = begin[i], end[i] - begin[i], -1
        budget -= m + NODE
        node = begin_leaf(calls, rows, i, n_terms, buffers, scratch, settings)
        if may_split(node, buffers.depth[i], n_leaves, buffers.impurity[0], settings):
            decrease, cut, size = search(
                state, rows, lo, node, settings, scratch, calls, surrogates
            )
            if decrease > 0.0:
                if n_factors > 0 or not best_first:
                    project(rows, lo, m, columns, theta, ZERO, size, values)
                if n_factors > 0:
                    size, cut = send_absent_levels(
                        rows, lo, node, feature_groups, size, cut, scratch, scratch.levels
                    )
                if settings.surrogates:
                    size = send_rows(surrogates, lo, m, size, cut)
                n_terms = append_direction(
                    columns, theta, size, buffers.column, buffers.coef, n_terms
                )
                buffers.threshold[i], buffers.gain[i] = cut, decrease
                if not best_first:
                    divided = i
        i += 1
        if best_first:
            buffers.start[i] = n_terms
            if i == n_nodes and n_leaves < settings.max_leaves:
                divided = _best_leaf(buffers, n_nodes)
                if divided >= 0:
                    lo, m = begin[divided], end[divided] - begin[divided]
                    size = load_direction(buffers, divided, columns, theta)
                    project(rows, lo, m, columns, theta, ZERO, size, values)
        if divided >= 0:
            cut = buffers.threshold[divided]
            divide_node(rows, divided, cut, n_nodes, n_leaves, buffers, scratch, settings)
            n_nodes += 2
            n_leaves += 1
    if best_first and i == n_nodes:
        n_terms = _drop_unmade_splits(buffers, n_nodes)
    buffers.start[n_nodes] = n_terms
    reached[NEXT], reached[NODES], reached[LEAVES], reached[TERMS] = i, n_nodes, n_leaves, n_terms
