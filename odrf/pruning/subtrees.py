"""The nested subtrees of one tree that some price of a leaf chooses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import Forest
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


@dataclass(frozen=True)
class Subtrees:
    """The subtrees of a tree that some α chooses, from the largest to the root.

    Attributes
    ----------
    prices : (m,) float64
        The price of each split, as `odrf.pruning.complexity.critical_alphas` gives it.
    alpha : (k,) float64
        Smallest α that chooses the subtree; ``alpha[0]`` is 0.  Row i is the choice for
        ``alpha[i] <= α < alpha[i + 1]``.
    leaves : (k,) int64
        Its number of leaves, falling to 1.
    error : (k,) float64
        Its training error R.
    """

    prices: NDArray[np.float64]
    alpha: NDArray[np.float64]
    leaves: NDArray[np.int64]
    error: NDArray[np.float64]


def nested_subtrees(tree: Forest, rule: str = WEAKEST_LINK, loss: str = ERROR) -> Subtrees:
    """Return the subtrees of a forest of one that are cheapest at some α.

    `rule` and `loss` are those of `odrf.pruning.complexity.critical_alphas`.
    """
    prices, decrease = critical_alphas(tree, rule, loss), decreases(tree, loss)
    splits = np.flatnonzero(growth_ranks(tree))
    splits = splits[np.argsort(-prices[splits], kind="stable")]
    alpha = np.unique(np.append(0.0, prices[splits]))
    kept = np.searchsorted(-prices[splits], -alpha, side="left")
    error = root_losses(tree, loss)[0] - np.append(0.0, np.cumsum(decrease[splits]))
    return Subtrees(prices, alpha, kept + 1, np.maximum(error, 0.0)[kept])


def growth_errors(tree: Forest, loss: str = ERROR) -> NDArray[np.float64]:
    """Return the training error R(1), …, R(t) after τ leaves of a forest of one, shape (t,).

    The rows are those that the tree was grown on, with their weights.  A tree already pruned
    counts the splits it has left.
    """
    ranks, decrease = growth_ranks(tree), decreases(tree, loss)
    splits = np.flatnonzero(ranks)
    splits = splits[np.argsort(ranks[splits])]
    error = root_losses(tree, loss)[0] - np.append(0.0, np.cumsum(decrease[splits]))
    return np.maximum(error, 0.0)


def with_leaves(tree: Forest, leaves: int, rule: str, loss: str = ERROR) -> Forest:
    """Return a forest of one cut to `leaves` leaves, or to fewer where the rule has no such tree.

    Along the growth there is one of any size; among those that the weakest link leaves, it is the
    largest that is not above.
    """
    if rule == GROWTH:
        ranks = growth_ranks(tree)
        return tree.keeping((ranks > 0) & (ranks < leaves))
    subtrees = nested_subtrees(tree, rule, loss)
    alpha = subtrees.alpha[np.argmax(subtrees.leaves <= leaves)]
    return tree.keeping(subtrees.prices > alpha)
