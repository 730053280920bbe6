"""Grow one oblique decision tree: Algorithm 1 of Zhan, Liu and Xia, breadth-first.

Nodes are numbered as they are created, left child before right, so breadth-first order is
the order of the numbers: one loop over them grows the tree until it has t_n leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import inlined, kernel
from odrf.engine.impurity import NEGLIGIBLE, describe
from odrf.engine.rows import divide, gather_rows, project
from odrf.engine.sampling import draw_counts
from odrf.engine.searching import search

__all__ = ["Trunk", "grow_tree", "trunk_for"]


class Trunk(NamedTuple):
    """The arrays that a tree grows into, with room for its nodes; see `Forest` for most.

    Attributes
    ----------
    left, n_rows, start, order : (room,) int64; start (room + 1,)
    threshold : (room,) float32
    weight, impurity, gain : (room,) float64
    value : (room, K) float64
    begin, end, depth : (room,) int64
        Where each node's rows lie among the tree's, and its depth.
    """

    left: np.ndarray
    threshold: np.ndarray
    start: np.ndarray
    value: np.ndarray
    n_rows: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    order: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    depth: np.ndarray


def trunk_for(room: int, K: int) -> Trunk:
    """Allocate the arrays of a tree of up to `room` nodes."""
    return Trunk(
        np.full(room, -1),
        np.full(room, np.nan, dtype=np.float32),
        np.zeros(room + 1, dtype=np.int64),
        np.empty((room, K)),
        np.empty(room, dtype=np.int64),
        np.empty(room),
        np.empty(room),
        np.zeros(room),
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
    )


@inlined
def _may_split(node, depth, n_leaves, root_impurity, settings):
    """Whether t_n, depth, leaf size and impurity allow a node to be split."""
    return (
        n_leaves < settings.max_leaves
        and depth < settings.max_depth
        and node.n_rows >= 2 * settings.min_leaf
        and node.impurity > NEGLIGIBLE * root_impurity
    )


@inlined
def _append(columns, theta, size, index, coef, used):
    """Write the nonzero terms of a direction behind the `used` ones.

    Returns the arrays, longer ones when they were full, and how much of them is used now.
    """
    if used + size > len(index):
        longer_index, longer_coef = index, coef
        index = np.empty(2 * len(index) + size, dtype=np.int64)
        coef = np.empty(len(index), dtype=np.float32)
        for j in range(used):
            index[j], coef[j] = longer_index[j], longer_coef[j]
    for j in range(size):
        if theta[j] != 0.0:
            index[used], coef[used] = columns[j], theta[j]
            used += 1
    return index, coef, used


@kernel
def grow_tree(
    X, y, weights, blocks, sampling, settings, state, copied, trunk, scratch, goes_left, index, coef
):
    """Grow a tree on a resample of the rows.

    Parameters
    ----------
    X : (p, n) float32
        Predictors, one column of the design per row of the array, scaled to [0, 1].
    y : (n,) float64
        Response, or class codes 0 … K - 1.
    weights : (n,) float64
        Case weights.
    blocks : Blocks
        Which columns make up each predictor.
    sampling : Sampling
        How the tree's rows are drawn.
    settings : Settings
        Options of growth.
    state : (4,) uint64
        The tree's random stream, moved on.
    copied : bool
        Whether the tree keeps a copy of X whose rows move with the nodes.
    trunk : Trunk
        Receives the nodes.
    scratch : Scratch
    goes_left : (n,) bool
        Scratch.
    index, coef : int64 and float32
        Where the directions are written; longer copies are made as they fill up.

    Returns
    -------
    index, coef : arrays
        The directions, node by node.
    n_nodes, n_terms : int
        How much of the arrays is used.
    """
    counts = draw_counts(state, weights, sampling)
    rows = gather_rows(state, X, y, weights, counts, copied)
    left, threshold, start, value = trunk.left, trunk.threshold, trunk.start, trunk.value
    count, weight, spread = trunk.n_rows, trunk.weight, trunk.impurity
    gain, order, begin, end, depth = trunk.gain, trunk.order, trunk.begin, trunk.end, trunk.depth
    moments, values = scratch.moments, scratch.values
    end[0] = len(rows.at)
    n_nodes, n_leaves, n_terms, i = 1, 1, 0, 0
    while i < n_nodes:
        lo, m = begin[i], end[i] - begin[i]
        node = describe(rows, lo, m, value[i], moments, settings.criterion)
        weight[i], count[i], spread[i], start[i] = node.weight, node.n_rows, node.impurity, n_terms
        if _may_split(node, depth[i], n_leaves, spread[0], settings):
            decrease, cut, best = search(state, rows, lo, node, blocks, settings, scratch)
            if decrease > 0.0:
                size = scratch.sizes[best]
                columns, theta = scratch.columns[best], scratch.theta[best]
                index, coef, n_terms = _append(columns, theta, size, index, coef, n_terms)
                project(rows, lo, m, columns, theta, size, values)
                middle = lo + divide(rows, lo, m, cut, values, goes_left, moments)
                threshold[i], gain[i] = cut, decrease
                left[i], order[i] = n_nodes, n_leaves
                begin[n_nodes], end[n_nodes] = lo, middle
                begin[n_nodes + 1], end[n_nodes + 1] = middle, end[i]
                depth[n_nodes] = depth[n_nodes + 1] = depth[i] + 1
                n_nodes += 2
                n_leaves += 1
        i += 1
    start[n_nodes] = n_terms
    return index, coef, n_nodes, n_terms
