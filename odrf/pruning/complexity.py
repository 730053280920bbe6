"""The price of a leaf at which each split of a tree is given up.

At complexity α a subtree T costs R(T) + α·(number of leaves), with R the training error.  Both
rules of pruning ask for how much each split, with those it needs, lowers R per leaf it adds:

* weakest link (Breiman et al. 1984, section 3.3): a split needs those above it.  Of all subtrees
  the cheapest keeps the splits whose price is above α.
* growth order (Zhan, Liu and Xia, section 3.2): a split needs all that were made before it.  Of the
  trees that there were while the tree grew, the cheapest keeps the splits whose price is above α.

Of ordered classes R is the mean absolute difference between the rank of the class that a node says,
the median, and those of its rows.  No split can raise that, as it might the misclassification.

Either way prices are the decreases of R made monotone by pooling (isotonic regression): along the
branches, or along the growth.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.pooling import pool_branches
from odrf.engine.trees.prediction_rule import mean_ranks_off, predicted_classes

__all__ = [
    "ERROR",
    "GROWTH",
    "IMPURITY",
    "LOSSES",
    "RULES",
    "WEAKEST_LINK",
    "critical_alphas",
    "decreases",
    "growth_ranks",
    "pruned",
    "root_errors",
    "root_losses",
]

WEAKEST_LINK, GROWTH = "weakest_link", "growth"
RULES = (WEAKEST_LINK, GROWTH)
ERROR, IMPURITY = "error", "impurity"
LOSSES = (ERROR, IMPURITY)
# Prices are kept to 12 digits of the root's error, and an α this close to one is tied with it:
# differences below are rounding, and ties must go to the smaller tree.
DIGITS = 12
TIE = 0.75e-12


def root_losses(forest: Forest, loss: str = ERROR) -> NDArray[np.float64]:
    """Return the training error R (B,) of the tree without splits, for each tree."""
    root = forest.root[:-1]
    return _node_losses(forest, loss)[root] / forest.weight[root]


def root_errors(forest: Forest) -> NDArray[np.float64]:
    """Return what held-out rows judge by, of the training rows of the trees (B,) without splits.

    The mean squared error, or the misclassification rate of the class that the root says.
    """
    if not forest.ordered:
        return root_losses(forest)
    root = forest.root[:-1]
    return 1.0 - forest.value[root, predicted_classes(forest.value[root], True)]


def decreases(forest: Forest, loss: str = ERROR) -> NDArray[np.float64]:
    """Return by how much each split lowers its tree's training error R (m,).

    Parameters
    ----------
    forest : Forest
    loss : {"error", "impurity"}
        What R is for classes: the misclassification rate, of ordered classes the mean rank error,
        or the impurity by which the tree grew.  For a number R is the mean squared error.

    Returns
    -------
    (m,) float64
        0 at nodes without a split and under cuts.
    """
    losses = _node_losses(forest, loss)
    splits = np.flatnonzero(forest.is_split())
    left = forest.left[splits]
    # no split raises the error of its node: a negative difference is rounding
    decrease = np.maximum(losses[splits] - losses[left] - losses[left + 1], 0.0)
    own = forest.root[_tree_of(forest, splits)]
    all_nodes = np.zeros(forest.n_nodes)
    all_nodes[splits] = decrease / forest.weight[own]
    return all_nodes


def critical_alphas(
    forest: Forest, rule: str = WEAKEST_LINK, loss: str = ERROR
) -> NDArray[np.float64]:
    """Return the α from which on each split is given up (m,), 0 at nodes without one.

    Parameters
    ----------
    forest : Forest
    rule : {"weakest_link", "growth"}
    loss : {"error", "impurity"}
        As in `decreases`.
    """
    decrease = decreases(forest, loss)
    if rule == WEAKEST_LINK:
        prices = _branch_alphas(forest, decrease)
    else:
        prices = _growth_alphas(forest, decrease)
    scale = np.repeat(root_losses(forest, loss), np.diff(forest.root))
    relative = np.divide(prices, scale, out=np.zeros_like(prices), where=scale > 0)
    return np.round(relative, DIGITS) * scale


def pruned(forest: Forest, prices: NDArray[np.float64], alpha: float, loss: str = ERROR) -> Forest:
    """Return every tree with the splits whose price is above `alpha` only."""
    tie = TIE * np.repeat(root_losses(forest, loss), np.diff(forest.root))
    return forest.keeping(prices > alpha + tie)


def growth_ranks(forest: Forest) -> NDArray[np.int64]:
    """Return the rank of each split in its tree's growth among those left (m,); 0 without one."""
    splits = np.flatnonzero(forest.is_split())
    tree = _tree_of(forest, splits)
    by_growth = np.lexsort((forest.order[splits], tree))
    first = np.searchsorted(tree, np.arange(forest.n_trees))
    ranks = np.zeros(forest.n_nodes, dtype=np.int64)
    ranks[splits[by_growth]] = np.arange(len(splits)) - first[tree] + 1
    return ranks


def _tree_of(forest: Forest, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(forest.root, nodes, side="right") - 1


def _node_losses(forest: Forest, loss: str) -> NDArray[np.float64]:
    """Return the loss of each node as a leaf, summed over its training rows (m,)."""
    if forest.value.shape[1] == 1 or loss == IMPURITY:
        return forest.weight * forest.impurity
    if forest.ordered:
        return forest.weight * mean_ranks_off(forest.value)
    return forest.weight * (1.0 - forest.value.max(axis=1))


def _branch_alphas(forest: Forest, decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    m = forest.n_nodes
    left = np.where(forest.is_split(), forest.left, -1)
    prices = np.empty(m)
    pool_branches(left, decrease, prices, *(np.empty(m, dtype=np.int64) for _ in range(5)))
    return prices


def _growth_alphas(forest: Forest, decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slopes of the lower convex hull of R against the leaves, split by split."""
    prices = np.zeros(forest.n_nodes)
    ranks = growth_ranks(forest)
    for lo, hi in zip(forest.root[:-1], forest.root[1:], strict=True):
        splits = lo + np.flatnonzero(ranks[lo:hi])
        splits = splits[np.argsort(ranks[splits])]
        if len(splits):
            prices[splits] = scipy.optimize.isotonic_regression(
                decrease[splits], increasing=False
            ).x
    return prices
