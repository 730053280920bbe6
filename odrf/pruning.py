"""Pruning along the growth order: the tree with τ leaves is the tree grown so far.

Its cost at complexity α is R(τ) + α·τ, with R the training mean squared error or
misclassification rate.  The costs' minimisers over all α are the corners of the lower convex
hull of the points (τ, R(τ)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from odrf.engine.forest import Forest

__all__ = ["GrowthPath", "growth_errors", "growth_path", "prune_to_alpha", "prune_to_leaves"]

# Slopes of the hull are kept to 12 digits of the root's error, and an α this close to one is
# tied with it: differences below are rounding, and ties must go to the smaller tree.
SLOPE_DIGITS = 12
TIE = 0.75e-12


@dataclass(frozen=True)
class GrowthPath:
    """The subtrees of one tree that some α chooses, from the largest to the root.

    Attributes
    ----------
    alpha : (k,) float64
        Smallest α that chooses the subtree; ``alpha[0]`` is 0.  Row i is the choice for
        ``alpha[i] <= α < alpha[i + 1]``.
    leaves : (k,) int64
        Its number of leaves τ, falling to 1.
    error : (k,) float64
        Its training error R(τ).
    """

    alpha: NDArray[np.float64]
    leaves: NDArray[np.int64]
    error: NDArray[np.float64]


def growth_errors(forest: Forest) -> list[NDArray[np.float64]]:
    """Return for each tree its training error R(1), …, R(t) after τ leaves, shape (t,) each.

    The rows are those that the tree was grown on, with their weights.  A tree already pruned
    counts the splits it has left.
    """
    return _errors(forest, *_splits(forest))


def growth_path(tree: Forest) -> GrowthPath:
    """Return the subtrees of a forest of one that minimise R(τ) + α·τ for some α ≥ 0."""
    (error,) = growth_errors(tree)
    slope = _hull_slopes(error)
    # τ is a corner where the slope into it is steeper than the slope out of it
    into, out = np.append(np.inf, slope), np.append(slope, 0.0)
    leaves = np.flatnonzero(into > out)[::-1] + 1
    return GrowthPath(alpha=out[leaves - 1], leaves=leaves, error=error[leaves - 1])


def prune_to_alpha(forest: Forest, alpha: float) -> Forest:
    """Return every tree cut to the τ that minimises its own R(τ) + α·τ, the smallest if tied."""
    splits, ends = _splits(forest)
    errors = _errors(forest, splits, ends)
    leaves = [
        1 + np.count_nonzero(_hull_slopes(error) > alpha + TIE * error[0]) for error in errors
    ]
    return _keep_first(forest, splits, ends, np.array(leaves))


def prune_to_leaves(forest: Forest, leaves: int) -> Forest:
    """Return every tree cut to its first `leaves` leaves in the order of growth."""
    return _keep_first(forest, *_splits(forest), np.full(forest.n_trees, leaves))


def _splits(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the live splits by tree, then growth, and where each tree's begin (B + 1,)."""
    live = np.flatnonzero((forest.left >= 0) & (forest.depth() >= 0))
    tree = np.searchsorted(forest.root, live, side="right") - 1
    splits = live[np.lexsort((forest.order[live], tree))]
    return splits, np.searchsorted(tree, np.arange(forest.n_trees + 1))


def _errors(
    forest: Forest, splits: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[NDArray[np.float64]]:
    if forest.value.shape[1] == 1:
        loss = forest.weight * forest.impurity
    else:
        loss = forest.weight * (1.0 - forest.value.max(axis=1))
    left = forest.left[splits]
    # no split raises the error of its node: a negative difference is rounding
    decrease = np.maximum(loss[splits] - loss[left] - loss[left + 1], 0.0)
    return [
        np.maximum(loss[root] - np.append(0.0, np.cumsum(decrease[lo:hi])), 0.0)
        / forest.weight[root]
        for root, lo, hi in zip(forest.root[:-1], ends[:-1], ends[1:], strict=True)
    ]


def _hull_slopes(error: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how fast the lower convex hull of (τ, R(τ)) falls after each τ, shape (t - 1,).

    The hull's slopes are the differences of R pooled until they no longer rise: an isotonic
    regression.
    """
    if len(error) == 1:
        return np.empty(0)
    slope = isotonic_regression(error[:-1] - error[1:], increasing=False).x / error[0]
    return np.round(slope, SLOPE_DIGITS) * error[0]


def _keep_first(
    forest: Forest,
    splits: NDArray[np.int64],
    ends: NDArray[np.int64],
    leaves: NDArray[np.int64],
) -> Forest:
    """Switch off all but the first ``leaves - 1`` splits of each tree."""
    tree = np.repeat(np.arange(forest.n_trees), np.diff(ends))
    rank = np.arange(len(splits)) - ends[tree]
    kept = np.zeros(forest.n_nodes, dtype=bool)
    kept[splits[rank < leaves[tree] - 1]] = True
    return forest.keeping(kept)
