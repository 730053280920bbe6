"""Importance of predictors judged by out-of-bag rows: on average 0 without a relation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.rows.draws import Draws
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaves_of, routing_blocks
from odrf.statistics.importance import shared_out

__all__ = ["out_of_bag_importance"]

# Rows times trees whose leaves are found together.
LEAVES_AT_ONCE = 2**22


def out_of_bag_importance(
    forest: Forest,
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    first: NDArray[np.int64],
    draws: Draws,
) -> NDArray[np.float64]:
    """Return the out-of-bag impurity decrease of each predictor (P,).

    The impurity decrease of a split is the covariance of the response with the change of the
    prediction that the split makes, over the rows that the tree drew.  Here it is taken over the
    rows that the tree did not draw (Li, Wang, Basu, Kumbier and Yu 2019).  These rows
    have not chosen the split: if a predictor is unrelated to the response, its importance is 0 on
    average, whatever its number of values or levels.  It may be negative.

    Parameters
    ----------
    forest : Forest
        Trees, pruned or not.
    X : (p, n) float32
    y : (n,) float64
        Training rows.
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    draws : Draws
        What repeats which rows each tree drew.

    Returns
    -------
    (P,) float64
        Mean over the trees that left rows out; in units of the squared response, or of the Gini
        index.  The sum over the predictors is the mean out-of-bag covariance of response and
        prediction.

    References
    ----------
    X. Li, Y. Wang, S. Basu, K. Kumbier and B. Yu (2019). A debiased MDI feature importance measure
    for random forests. NeurIPS.
    """
    unseen, weights = draws.all_unseen() & (draws.weights > 0), draws.weights
    K = forest.value.shape[1]
    target = y[:, None] if K == 1 else np.eye(K)[y.astype(np.int64)]
    centred = weights[:, None] * (target - np.average(target, axis=0, weights=weights))
    step = max(1, LEAVES_AT_ONCE // len(y))
    total, n_used = np.zeros(len(first) - 1), 0
    for begin in range(0, forest.n_trees, step):
        trees = range(begin, min(begin + step, forest.n_trees))
        leaves = _leaves(forest, X, trees, draws.n_jobs)
        for b, reached in zip(trees, leaves, strict=True):
            rows = np.flatnonzero(unseen[b])
            if len(rows):
                n_used += 1
                at = reached[rows] - forest.root[b]
                tree = forest.tree(b)
                decrease = _decreases(tree, at, centred[rows]) / weights[rows].sum()
                total += shared_out(tree, decrease, first)
    return total / max(n_used, 1)


def _leaves(forest: Forest, X: NDArray[np.float32], trees: range, n_jobs: int) -> NDArray[np.int32]:
    """Return the node (b, n) in which each row ends in each of the b `trees`."""
    packed = forest.packed._replace(root=forest.packed.root[trees.start : trees.stop])
    blocks = routing_blocks(forest, X, n_jobs)
    return np.hstack(list(in_order(lambda block: leaves_of(packed, X, block), blocks, n_jobs)))


def _decreases(
    tree: Forest, leaf: NDArray[np.int64], centred: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return for each node the sum over its rows of `centred` (m, K) times its split's change.

    `leaf` (m,) are the leaves of the rows.
    """
    sums = np.zeros_like(tree.value)
    np.add.at(sums, leaf, centred)
    split = np.flatnonzero(tree.is_split())
    depth, decrease = tree.depth(), np.zeros(tree.n_nodes)
    for level in range(int(depth.max(initial=0)) - 1, -1, -1):
        nodes = split[depth[split] == level]
        for side in range(2):
            child = tree.left[nodes] + side
            change = tree.value[child] - tree.value[nodes]
            decrease[nodes] += (change * sums[child]).sum(axis=1)
            sums[nodes] += sums[child]
    return decrease
