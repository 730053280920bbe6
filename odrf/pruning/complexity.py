"""The critical α of each split: the complexity parameter from which on it is pruned.

With complexity parameter α a subtree T costs R(T) + α·(number of leaves), R being its training
error.  There are two rules:

* weakest link (Breiman et al. 1984, section 3.3): all subtrees are candidates; a split needs the
  splits above it.
* growth order (Zhan, Liu and Xia, section 3.2): the trees that existed during growth are
  candidates; a split needs all splits made before it.

Under either rule the candidate of least cost keeps the splits whose critical α is above α.  The
critical α are the decreases of R by the splits, made monotone by pooling (isotonic regression):
along the branches, or along the growth.

For ordered classes R is the mean absolute difference in rank between the predicted class (the
median) and the classes of the rows.  A split never raises it, while it may raise the
misclassification rate.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest, mean_ranks_off, pool_branches, predicted_classes

__all__ = [
    "ERROR",
    "GROWTH",
    "IMPURITY",
    "LOG_RANK",
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
# Of trees described by `odrf.pruning.split_complexity.with_split_statistics`.
LOG_RANK = "log_rank"
# Critical α are rounded to 12 digits of the root's error, and an α this close to one of them is
# tied with it: smaller differences are rounding errors, and ties must go to the smaller tree.
DIGITS = 12
TIE = 0.75e-12
# A loss that grows by less than this share of the root's is rounded.
ROUNDING = 1e-10


def root_losses(forest: Forest, loss: str = ERROR) -> NDArray[np.float64]:
    """Return the training error R (B,) of each tree's root without splits."""
    root = forest.root[:-1]
    return _node_losses(forest, loss)[root] / forest.weight[root]


def root_errors(forest: Forest) -> NDArray[np.float64]:
    """Return the training error (B,) of each tree's root, measured as errors on held-out rows are.

    It is the mean squared error, or the misclassification rate of the class predicted at the root.
    """
    if not forest.ordered:
        return root_losses(forest)
    root = forest.root[:-1]
    return 1.0 - forest.value[root, predicted_classes(forest.value[root], True)]


def decreases(forest: Forest, loss: str = ERROR) -> NDArray[np.float64]:
    """Return the decrease (m,) of the training error R of the tree by each split.

    Parameters
    ----------
    forest : Forest
    loss : {"error", "impurity", "log_rank"}
        How R is measured for classes: ``"error"`` is the misclassification rate, for ordered
        classes the mean rank error; ``"impurity"`` the impurity by which the tree grew.  For a
        numeric response R is the mean squared error.  ``"log_rank"``: the trees are those of
        `odrf.pruning.split_complexity.with_split_statistics`.

    Returns
    -------
    (m,) float64
        0 at leaves and at nodes that were pruned away.  Only rates that are shrunken
        (`odrf.pruning.event_deviance`) can raise R, by a negative decrease.
    """
    losses = _node_losses(forest, loss)
    splits = np.flatnonzero(forest.is_split())
    left = forest.left[splits]
    root = forest.root[_tree_of(forest, splits)]
    decrease = losses[splits] - losses[left] - losses[left + 1]
    decrease[(decrease < 0.0) & (decrease > -ROUNDING * losses[root])] = 0.0
    all_nodes = np.zeros(forest.n_nodes)
    all_nodes[splits] = decrease / forest.weight[root]
    return all_nodes


def critical_alphas(
    forest: Forest, rule: str = WEAKEST_LINK, loss: str = ERROR
) -> NDArray[np.float64]:
    """Return the α from which on each split is pruned (m,), 0 at nodes without a split.

    Parameters
    ----------
    forest : Forest
    rule : {"weakest_link", "growth"}
    loss : {"error", "impurity", "log_rank"}
        As in `decreases`.
    """
    decrease = decreases(forest, loss)
    if rule == WEAKEST_LINK:
        critical = _branch_alphas(forest, decrease)
    else:
        critical = _growth_alphas(forest, decrease)
    scale = np.repeat(root_losses(forest, loss), np.diff(forest.root))
    relative = np.divide(critical, scale, out=np.zeros_like(critical), where=scale > 0)
    return np.round(np.maximum(relative, 0.0), DIGITS) * scale


def pruned(
    forest: Forest,
    critical: NDArray[np.float64],
    alpha: float | NDArray[np.float64],
    loss: str = ERROR,
) -> Forest:
    """Return the forest with only the splits whose critical α (m,) is above `alpha`.

    `alpha` is one number, or one for each tree (B,).
    """
    limit = alpha + TIE * root_losses(forest, loss)
    return forest.keeping(critical > np.repeat(limit, np.diff(forest.root)))


def growth_ranks(forest: Forest) -> NDArray[np.int64]:
    """Return the rank (m,) of each remaining split in the growth of its tree; 0 without a split."""
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
    if forest.value.shape[1] == 1 or loss != ERROR:
        return forest.weight * forest.impurity
    if forest.ordered:
        return forest.weight * mean_ranks_off(forest.value)
    return forest.weight * (1.0 - forest.value.max(axis=1))


def _branch_alphas(forest: Forest, decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    m = forest.n_nodes
    left = np.where(forest.is_split(), forest.left, -1)
    critical = np.empty(m)
    pool_branches(left, decrease, critical, *(np.empty(m, dtype=np.int64) for _ in range(5)))
    return critical


def _growth_alphas(forest: Forest, decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slopes of the lower convex hull of R against the leaves, split by split."""
    critical = np.zeros(forest.n_nodes)
    ranks = growth_ranks(forest)
    for lo, hi in zip(forest.root[:-1], forest.root[1:], strict=True):
        splits = lo + np.flatnonzero(ranks[lo:hi])
        splits = splits[np.argsort(ranks[splits])]
        if len(splits):
            critical[splits] = scipy.optimize.isotonic_regression(
                decrease[splits], increasing=False
            ).x
    return critical
