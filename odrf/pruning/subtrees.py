"""The nested subtrees of one tree, each optimal for a range of α."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest
from odrf.pruning.complexity import (
    ERROR,
    GROWTH,
    WEAKEST_LINK,
    critical_alphas,
    decreases,
    growth_ranks,
    root_losses,
)

__all__ = ["Subtrees", "growth_errors", "nested_subtrees", "with_leaves"]

# A share of the root's error that sums of decreases leave of 0.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Subtrees:
    """The subtrees of a tree that are optimal for some α, from the largest to the root.

    Attributes
    ----------
    critical : (m,) float64
        The critical α of each split, from `odrf.pruning.complexity.critical_alphas`.
    alpha : (k,) float64
        Smallest α for which the subtree is optimal.  Subtree i is optimal for
        ``alpha[i] <= α < alpha[i + 1]``.  ``alpha[0]`` is 0, or the α at which the tree was cut.
    leaves : (k,) int64
        Its number of leaves, falling to 1.
    error : (k,) float64
        Its training error R.
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

    `rule` and `loss` are those of `odrf.pruning.complexity.critical_alphas`.
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
    return np.where(error > ROUNDING * root, error, 0.0)


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
