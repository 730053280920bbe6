"""Importance of predictors judged by held-out rows: on average 0 without a relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaves_of, routing_blocks
from odrf.statistics.importance import shared_out

__all__ = [
    "FEWEST_ROWS",
    "JudgedTrees",
    "add_up",
    "added_covariances",
    "held_out_importance",
    "leaves_by_tree",
]

# Rows times trees whose leaves are found together.
LEAVES_AT_ONCE = 2**22
# Fewer rows have no covariance.
FEWEST_ROWS = 2


class JudgedTrees(NamedTuple):
    """Trees, and the rows that judge them.

    Attributes
    ----------
    forest : Forest
        Trees, pruned or not.
    rows : (n,) bool
        Rows that grew none of these trees.
    """

    forest: Forest
    rows: NDArray[np.bool_]


def held_out_importance(
    parts: Iterable[JudgedTrees],
    X: NDArray[np.float32],
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: NDArray[np.int64],
    summed: bool,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the held-out importance of each predictor (P,).

    The importance of a split is the covariance of the response with the change of the prediction
    that the split makes, over rows that did not grow the tree; see
    `odrf.statistics.out_of_bag_importance`.  It is divided among the predictors of the split in
    proportion to the absolute values of their coefficients.  The response is centred at its mean
    over the rows that judge.  So the importance of every predictor is 0 on average if the rows
    that judge have their responses in random order.

    Parameters
    ----------
    parts : iterable of JudgedTrees
        Trees grown on some of the rows, with other rows.
    X : (p, n) float32
    target : (n, K) float64
        Responses, or for classes K indicators.
    weights : (n,) float64
        Case weights; rows of weight 0 judge nothing.
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    summed : bool
        Whether a prediction is the sum of trees, each for one of the K outputs in turn, and only
        the leaves have values.  Otherwise it is the mean of trees with K values in each node.
    n_jobs : int
        Threads.

    Returns
    -------
    (P,) float64
        Mean over the parts with at least 2 rows; 0 without any.
    """
    total, n_used = np.zeros(len(first) - 1), 0
    for forest, judging in parts:
        rows = np.flatnonzero(judging & (weights > 0))
        if len(rows) < FEWEST_ROWS:
            continue
        share = weights[rows] / weights[rows].sum()
        centred = share[:, None] * (target[rows] - share @ target[rows])
        forest, K = _with_inner_values(forest) if summed else forest, target.shape[1]
        sums = np.zeros_like(forest.value)
        for b, leaf in leaves_by_tree(forest, np.ascontiguousarray(X[:, rows]), n_jobs):
            add_up(sums, forest, b, leaf, centred[:, [b % K]] if summed else centred)
        of_part = shared_out(forest, added_covariances(forest, sums), first)
        total += of_part if summed else of_part / forest.n_trees
        n_used += 1
    return total / max(n_used, 1)


def leaves_by_tree(
    forest: Forest, X: NDArray[np.float32], n_jobs: int
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield the number of each tree, and the leaves (n,) of the rows of X (p, n)."""
    step = max(1, LEAVES_AT_ONCE // X.shape[1])
    for begin in range(0, forest.n_trees, step):
        trees = range(begin, min(begin + step, forest.n_trees))
        packed = forest.packed._replace(root=forest.packed.root[trees.start : trees.stop])
        sent = partial(leaves_of, packed, X)
        leaves = np.hstack(list(in_order(sent, routing_blocks(forest, X, n_jobs), n_jobs)))
        yield from zip(trees, leaves, strict=True)


def add_up(
    sums: NDArray[np.float64],
    forest: Forest,
    b: int,
    leaf: NDArray[np.int32],
    centred: NDArray[np.float64],
) -> None:
    """Add to `sums` (m, K) the rows of `centred` (n, K) at their leaves (n,) of tree `b`."""
    begin, end = forest.root[b : b + 2]
    for k, column in enumerate(centred.T):
        sums[begin:end, k] += np.bincount(leaf - begin, column, end - begin)


def added_covariances(forest: Forest, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each split the sum of its rows times the change of the prediction that it makes.

    Parameters
    ----------
    forest : Forest
    sums : (m, K) float64
        Sums of the rows that reach each leaf; those of the inner nodes are added up in place.

    Returns
    -------
    (m,) float64
        0 for leaves.
    """
    added = np.zeros(forest.n_nodes)
    for nodes in _splits_from_below(forest):
        for side in range(2):
            child = forest.left[nodes] + side
            change = forest.value[child] - forest.value[nodes]
            added[nodes] += (change * sums[child]).sum(axis=1)
            sums[nodes] += sums[child]
    return added


def _with_inner_values(forest: Forest) -> Forest:
    """Return the trees with the mean of the leaves below as the value of each inner node."""
    value, weight = forest.value.copy(), forest.weight
    for nodes in _splits_from_below(forest):
        left, right = forest.left[nodes], forest.left[nodes] + 1
        of_left = weight[left] / (weight[left] + weight[right])
        value[nodes, 0] = of_left * value[left, 0] + (1.0 - of_left) * value[right, 0]
    return replace(forest, value=value)


def _splits_from_below(forest: Forest) -> Iterator[NDArray[np.int64]]:
    """Yield the splits of each depth, the deepest first."""
    depth = forest.depth()
    split = np.flatnonzero((forest.left >= 0) & (depth >= 0))
    split = split[np.argsort(-depth[split], kind="stable")]
    yield from np.split(split, np.flatnonzero(np.diff(depth[split])) + 1)
