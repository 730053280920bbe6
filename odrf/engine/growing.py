"""Grow one oblique decision tree: Algorithm 1 of Zhan, Liu and Xia, breadth-first.

Nodes are numbered as they are created, left child before right, so breadth-first order is
the order of the numbers: one loop over them grows the tree until it has t_n leaves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.candidates import direction_on_single, direction_on_subset, draw_size
from odrf.engine.compiling import inlined, kernel
from odrf.engine.randomness import shuffle_front
from odrf.engine.sampling import draw_counts
from odrf.engine.threshold import NEGLIGIBLE, SQUARED_ERROR, best_threshold, impurity

__all__ = ["AIC", "BIC", "NO_PENALTY", "Settings", "grow_tree"]

NO_PENALTY, AIC, BIC = 0, 1, 2


class Settings(NamedTuple):
    """The options of growth as the kernels read them.

    Attributes
    ----------
    criterion : int
        Impurity, a code of `odrf.engine.threshold`.
    n_classes : int
        K; 1 for a numeric response.
    family : int
        Estimator of directions, a code of `odrf.engine.candidates`.
    subset_size : int
        Predictors in each random subset; 0 draws the size anew for every candidate.
    n_singles, n_projections : int
        Predictors tried singly at a node, and directions on random subsets.
    max_leaves, min_leaf, max_depth : int
        t_n, the fewest rows of a leaf and the largest depth.
    penalty : int
        `NO_PENALTY`, `AIC` or `BIC`.
    direction_rows : int
        A direction is estimated on at most this many rows of a node (or ten per column).
    """

    criterion: int
    n_classes: int
    family: int
    subset_size: int
    n_singles: int
    n_projections: int
    max_leaves: int
    min_leaf: int
    max_depth: int
    penalty: int
    direction_rows: int


class Split(NamedTuple):
    """The best split of a node so far."""

    score: float
    gain: float
    threshold: float
    columns: np.ndarray
    theta: np.ndarray


class Node(NamedTuple):
    """The rows of a node, with what every candidate needs to know of them."""

    rows: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    value: np.ndarray
    weight: float
    n_rows: int
    impurity: float


@kernel
def _describe(rows, y, weights, counts, value, settings):
    """Gather a node's responses and weights; write its value (K,) and find its impurity."""
    m = len(rows)
    node_y, node_weights = np.empty(m), np.empty(m)
    node_counts = np.empty(m, dtype=np.int64)
    value[:] = 0.0
    weight, count, spread = 0.0, 0, 0.0
    low = high = y[rows[0]]
    for i in range(m):
        row = rows[i]
        node_y[i] = y[row]
        node_counts[i] = counts[row]
        node_weights[i] = weights[row] * counts[row]
        low, high = min(low, node_y[i]), max(high, node_y[i])
        weight += node_weights[i]
        count += node_counts[i]
        if settings.criterion == SQUARED_ERROR:
            value[0] += node_weights[i] * node_y[i]
        else:
            value[int(node_y[i])] += node_weights[i]
    for k in range(settings.n_classes):
        value[k] /= weight
    if low == high:
        spread = 0.0
    elif settings.criterion == SQUARED_ERROR:
        for i in range(m):
            spread += node_weights[i] * (node_y[i] - value[0]) ** 2
        spread /= weight
    else:
        spread = impurity(value, settings.criterion)
    return Node(rows, node_y, node_weights, node_counts, value, weight, count, spread)


@inlined
def _score(gain, node, n_coefficients, penalty):
    """Rank a split: its gain, or the penalised fall of N·log(impurity).

    With a penalty the split costs c for each coefficient and for the threshold, c = 2 (AIC) or
    log N (BIC), and is worth N·log(I / (I - Δ)), the deviance of a normal response; what is
    left must be positive.
    """
    if penalty == NO_PENALTY:
        return gain
    cost = 2.0 if penalty == AIC else math.log(node.n_rows)
    left = max(1.0 - gain / node.impurity, NEGLIGIBLE)
    return -node.n_rows * math.log(left) - cost * (n_coefficients + 1)


@kernel
def _project(X, rows, columns, theta, out):
    """Write θᵀx of the rows to out, columns in order: routing sums them alike, bit for bit."""
    for i in range(len(rows)):
        out[i] = 0.0
    for j in range(len(columns)):
        coefficient = theta[j]
        column = X[columns[j]]
        for i in range(len(rows)):
            out[i] += coefficient * column[rows[i]]


@inlined
def _better(X, node, columns, theta, best, settings, values, items):
    """Return the better of the `best` split so far and the one along θ."""
    if len(columns) == 0:
        return best
    m = len(node.rows)
    _project(X, node.rows, columns, theta, values[:m])
    gain, threshold = best_threshold(
        values[:m],
        items[:m],
        node.y,
        node.weights,
        node.counts,
        node.value,
        node.weight,
        node.n_rows,
        settings.criterion,
        settings.min_leaf,
    )
    gain = min(gain, node.impurity)
    if gain <= NEGLIGIBLE * node.impurity:
        return best
    score = _score(gain, node, len(columns), settings.penalty)
    if score > best.score:
        return Split(score, gain, threshold, columns, theta)
    return best


@inlined
def _search(state, X, node, blocks, order, settings, values, items):
    """Return the best split of a node over all its candidates; gain 0 when there is none."""
    P = len(order)
    best = Split(0.0, 0.0, 0.0, np.empty(0, dtype=np.int64), np.empty(0))
    if settings.n_singles < P:
        shuffle_front(state, order, settings.n_singles)
        singles = order[: settings.n_singles].copy()
    else:
        singles = np.arange(P)
    for j in singles:
        columns, theta = direction_on_single(
            state, X, node.rows, node.y, node.weights, blocks, j, settings.n_classes
        )
        best = _better(X, node, columns, theta, best, settings, values, items)
    for _ in range(settings.n_projections):
        q = draw_size(state, node.n_rows, settings.subset_size, P)
        columns, theta = direction_on_subset(
            state, X, node.rows, node.y, node.weights, blocks, order, q, settings
        )
        if len(columns) == 1 and settings.n_singles >= P:
            continue
        best = _better(X, node, columns, theta, best, settings, values, items)
    return best


@kernel
def _partition(X, rows, split, values, spare):
    """Move the rows that go left before the others, both in their old order; count them."""
    m = len(rows)
    _project(X, rows, split.columns, split.theta, values[:m])
    left = right = 0
    for i in range(m):
        if values[i] <= split.threshold:
            rows[left] = rows[i]
            left += 1
        else:
            spare[right] = rows[i]
            right += 1
    for i in range(right):
        rows[left + i] = spare[i]
    return left


@inlined
def _append(split, index, coef, used):
    """Write the nonzero terms of a split's direction behind the `used` ones.

    Returns the arrays, longer ones when they were full, and how much of them is used now.
    """
    size = len(split.columns)
    if used + size > len(index):
        longer_index, longer_coef = index, coef
        index = np.empty(2 * len(index) + size, dtype=np.int64)
        coef = np.empty(len(index))
        for j in range(used):
            index[j], coef[j] = longer_index[j], longer_coef[j]
    for j in range(size):
        if split.theta[j] != 0.0:
            index[used], coef[used] = split.columns[j], split.theta[j]
            used += 1
    return index, coef, used


@inlined
def _may_split(node, depth, n_leaves, root_impurity, settings):
    """Whether t_n, depth, leaf size and impurity allow a node to be split."""
    return (
        n_leaves < settings.max_leaves
        and depth < settings.max_depth
        and node.n_rows >= 2 * settings.min_leaf
        and node.impurity > NEGLIGIBLE * root_impurity
    )


@kernel
def grow_tree(X, y, weights, blocks, sampling, settings, state):
    """Grow a tree on a resample of the rows.

    Parameters
    ----------
    X : (p, n) float64
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

    Returns
    -------
    arrays : tuple
        left, threshold, start, index, coef, value, count, weight, impurity, gain, order of a
        `Forest` of one tree, with room to spare at the end of each.
    n_nodes, n_terms : int
        How much of the arrays is used.
    """
    counts = draw_counts(state, weights, sampling)
    rows = np.nonzero(counts)[0]
    n = len(rows)
    room = max(1, 2 * min(settings.max_leaves, n) - 1)
    begin, end, depth = np.zeros((3, room), dtype=np.int64)
    left, order = np.full(room, -1), np.zeros(room, dtype=np.int64)
    count, start = np.empty(room, dtype=np.int64), np.zeros(room + 1, dtype=np.int64)
    threshold, gain = np.full(room, np.nan), np.zeros(room)
    weight, spread = np.empty(room), np.empty(room)
    value = np.empty((room, settings.n_classes))
    index, coef = np.empty(4 * room, dtype=np.int64), np.empty(4 * room)
    values, items = np.empty(n), np.empty(n, dtype=np.int64)
    predictors = np.arange(len(blocks.types))
    end[0] = n
    n_nodes, n_leaves, n_terms, i = 1, 1, 0, 0
    while i < n_nodes:
        node_rows = rows[begin[i] : end[i]]
        node = _describe(node_rows, y, weights, counts, value[i], settings)
        weight[i], count[i], spread[i], start[i] = node.weight, node.n_rows, node.impurity, n_terms
        if _may_split(node, depth[i], n_leaves, spread[0], settings):
            split = _search(state, X, node, blocks, predictors, settings, values, items)
            if split.gain > 0.0:
                index, coef, n_terms = _append(split, index, coef, n_terms)
                middle = begin[i] + _partition(X, node_rows, split, values, items)
                threshold[i], gain[i] = split.threshold, split.gain
                left[i], order[i] = n_nodes, n_leaves
                begin[n_nodes], end[n_nodes] = begin[i], middle
                begin[n_nodes + 1], end[n_nodes + 1] = middle, end[i]
                depth[n_nodes] = depth[n_nodes + 1] = depth[i] + 1
                n_nodes += 2
                n_leaves += 1
        i += 1
    start[n_nodes] = n_terms
    arrays = (left, threshold, start, index, coef, value, count, weight, spread, gain, order)
    return arrays, n_nodes, n_terms
