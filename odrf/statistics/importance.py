"""Importance of predictors and directions: impurity that splits remove, and how often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import Forest
from odrf.text.units import node_of_terms

__all__ = [
    "Directions",
    "direction_importance",
    "distinct_directions",
    "importance_by_tree",
    "impurity_importance",
    "summed_importance",
    "usage",
]

# Coefficients of unit length that differ by less are the same.
ALIKE = 1e-4


class Directions(NamedTuple):
    """The distinct directions of a forest, θ and -θ being one.

    Attributes
    ----------
    of_node : (m,) int64
        The number of each node's direction, from 0; -1 where it is not split.
    example : (k,) int64
        A node that has it.
    """

    of_node: NDArray[np.int64]
    example: NDArray[np.int64]


def impurity_importance(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each predictor's mean impurity decrease per tree.

    A split removes w(A)·Δ_A / w(root) of its tree's impurity.  Its columns share that in
    proportion to |θ_j| (scaled units, so that no unit of measurement weighs more), and a
    predictor collects what its columns get.  Over all predictors, the importances add up to the
    mean impurity that the trees removed.

    Parameters
    ----------
    forest : Forest
        Trees, pruned or not; splits switched off do not count.
    first : (P + 1,) int64
        Predictor j owns the columns ``first[j]:first[j + 1]``.

    Returns
    -------
    (P,) float64
        In units of the criterion.
    """
    return _shared_out(forest, _decreases(forest), first) / forest.n_trees


def summed_importance(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the impurity that each predictor's splits remove of all trees together, (P,).

    For trees that are summed: w(A)·Δ_A of every split, shared among its columns as in
    `impurity_importance`, so that a tree counts by what it removes.
    """
    removed = np.where(forest.is_split(), forest.weight * forest.gain, 0.0)
    return _shared_out(forest, removed, first)


def _shared_out(
    forest: Forest, decrease: NDArray[np.float64], first: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Share what each node's split removes (m,) among the predictors of its columns."""
    node = node_of_terms(forest)
    size = np.abs(forest.coef)
    whole = np.bincount(node, weights=size, minlength=forest.n_nodes)
    column = np.bincount(
        forest.index, weights=decrease[node] * size / whole[node], minlength=int(first[-1])
    )
    return np.add.reduceat(column, first[:-1])


def _decreases(forest: Forest) -> NDArray[np.float64]:
    """Return what each node's split removes of its tree's impurity, (m,)."""
    root = np.repeat(forest.root[:-1], np.diff(forest.root))
    removed = forest.weight * forest.gain / forest.weight[root]
    return np.where(forest.is_split(), removed, 0.0)


def distinct_directions(forest: Forest) -> Directions:
    """Return which nodes split along the same direction (Tomita et al. 2020, section 4.5).

    In scaled units, of length 1; directions are the same if their coefficients, or those of one
    and the other turned round, differ by no more than rounding.
    """
    of_node = np.full(forest.n_nodes, -1)
    split, width = forest.is_split(), np.diff(forest.start)
    examples, known = [np.empty(0, dtype=np.int64)], 0
    for size in np.unique(width[split]):
        own = np.flatnonzero(split & (width == size))
        at = forest.start[own][:, None] + np.arange(size)
        columns, coef = forest.index[at], forest.coef[at].astype(np.float64)
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1)
        coef = np.take_along_axis(coef, order, axis=1)
        steps = np.round(np.sign(coef[:, :1]) * coef / ALIKE).astype(np.int64)
        _, first, number = np.unique(
            np.hstack([columns, steps]), axis=0, return_index=True, return_inverse=True
        )
        of_node[own] = known + number.reshape(-1)
        examples.append(own[first])
        known += len(first)
    return Directions(of_node, np.concatenate(examples))


def direction_importance(forest: Forest, directions: Directions) -> NDArray[np.float64]:
    """Return the mean impurity that the splits along each direction (k,) remove of a tree.

    Over all directions the importances add up to those of all predictors.
    """
    own = directions.of_node >= 0
    k = len(directions.example)
    removed = np.bincount(directions.of_node[own], weights=_decreases(forest)[own], minlength=k)
    return removed / forest.n_trees


def importance_by_tree(
    forest: Forest, directions: Directions, chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what the splits along the `chosen` directions (j,) remove of each tree, (B, j)."""
    place = np.full(len(directions.example) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    at = place[directions.of_node]
    own = np.flatnonzero(at >= 0)
    tree = np.searchsorted(forest.root, own, side="right") - 1
    removed = np.bincount(
        tree * len(chosen) + at[own],
        weights=_decreases(forest)[own],
        minlength=forest.n_trees * len(chosen),
    )
    return removed.reshape(forest.n_trees, len(chosen)).astype(np.float64)


def usage(forest: Forest, p: int) -> NDArray[np.int64]:
    """Return in how many splits of all trees each of p columns has a nonzero coefficient.

    π_k of Perry (2020), section 3.2; splits switched off do not count.
    """
    live = forest.is_split()[node_of_terms(forest)]
    return np.bincount(forest.index[live], minlength=p)
