"""The critical α of each split, and the nested subtrees that follow from it.

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

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.engine.trees.forest import (
    Forest,
    add_up_branches,
    mean_ranks_off,
    pool_branches,
    predicted_classes,
)

# The critical α of each split: the complexity parameter from which on it is pruned.

WEAKEST_LINK, GROWTH = "weakest_link", "growth"
RULES = (WEAKEST_LINK, GROWTH)
ERROR, IMPURITY = "error", "impurity"
LOSSES = (ERROR, IMPURITY)
# Of trees described by `with_split_statistics`.
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

    `loss`: how R is measured for classes: ``"error"`` is the misclassification rate, for ordered
    classes the mean rank error; ``"impurity"`` the impurity by which the tree grew.  For a numeric
    response R is the mean squared error.  ``"log_rank"``: the trees are those of
    `with_split_statistics`.  Returns (m,): 0 at leaves and at nodes that were pruned away.  Only
    rates that are shrunken (`odrf.pruning.event_deviance`) can raise R, by a negative decrease.
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

    `loss`: as in `decreases`.
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


# The nested subtrees of one tree, each optimal for a range of α.

# A share of the root's error that sums of decreases leave of 0.
ROUNDING_OF_SUMS = 1e-12


@dataclass(frozen=True)
class Subtrees:
    """The subtrees of a tree that are optimal for some α, from the largest to the root.

    `critical` (m,): the critical α of each split, from `critical_alphas`.  `alpha` (k,): smallest α
    for which the subtree is optimal.  Subtree i is optimal for ``alpha[i] <= α < alpha[i + 1]``.
    ``alpha[0]`` is 0, or the α at which the tree was cut.  `leaves` (k,): its number of leaves,
    falling to 1.  `error` (k,): its training error R.
    """

    critical: NDArray[np.float64]
    alpha: NDArray[np.float64]
    leaves: NDArray[np.int64]
    error: NDArray[np.float64]

    def cut_at(self, grown: NDArray[np.float64]) -> float | None:
        """Return the smallest α at which pruning the grown tree gives the largest subtree.

        `grown` (m,) holds the critical α of the tree before pruning, by the same rule and loss.
        None if no α gives this subtree: it was cut in another way.
        """
        kept = self.critical > 0
        alpha = float(np.max(grown[~kept], initial=0.0))
        return None if (grown[kept] <= alpha).any() else alpha

    def beginning_at(self, alpha: float) -> Subtrees:
        """Return the same subtrees as the end of the path of a larger tree, from `alpha` on."""
        return replace(self, alpha=np.append(alpha, self.alpha[1:]))


def nested_subtrees(tree: Forest, rule: str = WEAKEST_LINK, loss: str = ERROR) -> Subtrees:
    """Return the subtrees of a forest of one tree that are optimal for some α.

    `rule` and `loss` are those of `critical_alphas`.
    """
    critical, decrease = critical_alphas(tree, rule, loss), decreases(tree, loss)
    splits = np.flatnonzero(growth_ranks(tree))
    splits = splits[np.argsort(-critical[splits], kind="stable")]
    alpha = np.unique(np.append(0.0, critical[splits]))
    kept = np.searchsorted(-critical[splits], -alpha, side="left")
    return Subtrees(critical, alpha, kept + 1, _errors(tree, decrease[splits], loss)[kept])


def growth_errors(tree: Forest, loss: str = ERROR) -> NDArray[np.float64]:
    """Return the training errors R(1), …, R(t) of a tree when it had 1, …, t leaves, shape (t,).

    `tree` is a forest of one tree.  The rows are those that it was grown on, with their weights.
    In a pruned tree only the remaining splits count.
    """
    ranks, decrease = growth_ranks(tree), decreases(tree, loss)
    splits = np.flatnonzero(ranks)
    splits = splits[np.argsort(ranks[splits])]
    return _errors(tree, decrease[splits], loss)


def _errors(tree: Forest, decrease: NDArray[np.float64], loss: str) -> NDArray[np.float64]:
    """Return the training error before any split, and after each; 0 where only rounding is left."""
    root = root_losses(tree, loss)[0]
    error = root - np.append(0.0, np.cumsum(decrease))
    return np.where(error > ROUNDING_OF_SUMS * root, error, 0.0)


def with_leaves(tree: Forest, leaves: int, rule: str, loss: str = ERROR) -> Forest:
    """Return a forest of one tree, pruned to at most `leaves` leaves.

    By growth order there is a subtree of every size; by weakest link it is the largest of the
    nested subtrees with no more leaves.
    """
    if rule == GROWTH:
        ranks = growth_ranks(tree)
        return tree.keeping((ranks > 0) & (ranks < leaves))
    subtrees = nested_subtrees(tree, rule, loss)
    alpha = subtrees.alpha[np.argmax(subtrees.leaves <= leaves)]
    return tree.keeping(subtrees.critical > alpha)


# With complexity parameter α a subtree T has the split complexity G(T) - α·(number of splits),
# where G(T) is the sum of the log-rank statistics of its splits.  The optimally pruned subtree has
# the largest one; of ties it is the smallest.  Statistics of splits take the place of decreases of
# a loss; the weakest links are the same (LeBlanc and Crowley 1993, section 3).  A statistic is
# nearly χ² with 1 degree of freedom if a split that was not searched for has no effect, so that α =
# 4 is a level of nearly 0.05 of one such split.


def with_split_statistics(tree: Forest, statistic: NDArray[np.float64]) -> Forest:
    """Return a tree in which each split lowers the loss by its statistic (m,), at least 0.

    The loss of a node is the sum of the statistics of the splits that it has below, and its weight
    is 1.  So the training error R of a subtree is the sum over the splits of this tree that the
    subtree does not have, and α is on the scale of the statistics.
    """
    sums = np.where(tree.is_split(), statistic, 0.0)[:, np.newaxis]
    add_up_branches(np.where(tree.is_split(), tree.left, -1), sums)
    return replace(tree, weight=np.ones(tree.n_nodes), impurity=sums[:, 0].copy())


# Choosing among nested subtrees by their held-out errors.

MINIMUM, ONE_SE = "min", "1se"
CHOICES = (MINIMUM, ONE_SE)


def chosen(error: NDArray[np.float64], std_error: NDArray[np.float64], rule: str) -> int:
    """Return the number of the chosen subtree; subtrees go from the largest to the root.

    ``"min"`` chooses the smallest error, ``"1se"`` the smallest tree whose error is at most one
    standard error above it (Breiman et al. 1984, section 3.4.3).  Of ties the smallest tree; also
    where no error is known (NaN), because the rows held out have no weight.  Where no standard
    error is known, with one validation row, both choose the smallest error.
    """
    if np.isnan(error).all():
        return len(error) - 1
    best = len(error) - 1 - int(np.argmin(error[::-1]))
    limit = error[best] + (np.nan_to_num(std_error[best]) if rule == ONE_SE else 0.0)
    return int(np.flatnonzero(error <= limit)[-1])


def chosen_row(
    table: pd.DataFrame, rule: str, error: str = "error", std_error: str = "std_error"
) -> int:
    """Return the number of the row that `rule` chooses from a table, the largest size first.

    `error` and `std_error` name its columns.  Raises `InputError` if `rule` is neither ``"min"``
    nor ``"1se"``.
    """
    checked_choice("rule", rule, CHOICES)
    return chosen(table[error].to_numpy(), table[std_error].to_numpy(), rule)
