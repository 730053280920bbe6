"""Importance of predictors and directions: impurity removed, counts of splits, standard errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest
from odrf.statistics.distinct_rows import distinct_rows
from odrf.text.splits import node_of_terms

__all__ = [
    "Directions",
    "direction_importance",
    "distinct_directions",
    "importance_by_tree",
    "impurity_importance",
    "sampling_errors",
    "summed_importance",
    "usage",
]

# Directions of unit length whose coefficients differ by less are the same.
ALIKE = 1e-4
MOST_STEPS = 2.0**62


class Directions(NamedTuple):
    """The distinct directions of a forest; θ and -θ are the same direction.

    Attributes
    ----------
    of_node : (m,) int64
        The number of the direction of each node, from 0; -1 for a node without a split.
    example : (k,) int64
        For each direction, one node that has it.
    """

    of_node: NDArray[np.int64]
    example: NDArray[np.int64]


def impurity_importance(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean impurity decrease per tree of each predictor.

    A split decreases the impurity of its tree by w(A)·Δ_A / w(root).  This is divided among its
    predictors in proportion to |θ_j|, or of a factor to the range of its coefficients, with
    predictors scaled to [0, 1] so that units of measurement have no influence; see `shared_out`.
    The importances of all predictors add up to the mean impurity decrease of a tree.

    Parameters
    ----------
    forest : Forest
        Trees, pruned or not; pruned splits do not count.
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.

    Returns
    -------
    (P,) float64
        In units of the criterion.
    """
    return shared_out(forest, _decreases(forest), first) / forest.n_trees


def summed_importance(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the impurity decrease of each predictor (P,), summed over all trees.

    For trees that are summed, as in boosting: the decrease w(A)·Δ_A of every split is divided among
    its columns as in `impurity_importance`, so that a tree counts by the impurity it removes.
    """
    removed = np.where(forest.is_split(), forest.weight * forest.gain, 0.0)
    return shared_out(forest, removed, first)


def sampling_errors(
    of_row: NDArray,
    share: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the standard errors (P,) of means over rows; NaN with fewer than two rows, or groups.

    Parameters
    ----------
    of_row : (P, n) float32
        What each row contributes to the P means: its value times its share.
    share : (n,) float64
        The share of each row; rows with a share of 0 are not counted.
    groups : (n,) int64, optional
        Groups, which are then the units of the sample in place of the rows.
    """
    if groups is not None:
        in_groups = [np.bincount(groups, row).astype(np.float64) for row in (share, *of_row)]
        return sampling_errors(np.array(in_groups[1:]), in_groups[0])
    known = share > 0
    m = int(known.sum())
    if m < 2:
        return np.full(len(of_row), np.nan)
    part = share[known] / share[known].sum()
    errors = [
        np.sum((values - part * values.sum()) ** 2)
        for values in (row[known].astype(np.float64) for row in of_row)
    ]
    return np.sqrt(np.array(errors) * m / (m - 1))


def shared_out(
    forest: Forest, decrease: NDArray[np.float64], first: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Divide the decrease of each split (m,) among its predictors (P,), in proportion to ranges.

    The range of a predictor is the largest minus the smallest of the coefficients of its columns
    and 0.  For a number, scaled to [0, 1], this is |θ_j|: the range of θ_j x_j.  A row has one
    level of a factor: so a factor of many levels counts as much as a number that moves rows as
    far, and not as much as all its levels together.
    """
    P = len(first) - 1
    if not len(forest.coef):
        return np.zeros(P)
    predictor = np.repeat(np.arange(P), np.diff(first))
    pair = node_of_terms(forest) * P + predictor[forest.index]
    order = np.argsort(pair, kind="stable")
    begins = np.flatnonzero(np.diff(pair[order], prepend=-1))
    coef = forest.coef[order].astype(np.float64)
    size = np.maximum(np.maximum.reduceat(coef, begins), 0.0)
    size -= np.minimum(np.minimum.reduceat(coef, begins), 0.0)
    node, of = np.divmod(pair[order[begins]], P)
    whole = np.bincount(node, weights=size, minlength=forest.n_nodes)
    shared: NDArray[np.float64] = np.zeros(P)
    np.add.at(shared, of, decrease[node] * size / whole[node])
    return shared


def _decreases(forest: Forest) -> NDArray[np.float64]:
    """Return by how much each split decreases the impurity of its tree, (m,)."""
    root = np.repeat(forest.root[:-1], np.diff(forest.root))
    # a tree without a split may have no weight either
    return np.divide(
        forest.weight * forest.gain,
        forest.weight[root],
        out=np.zeros(forest.n_nodes),
        where=forest.is_split(),
    )


def distinct_directions(forest: Forest) -> Directions:
    """Return which nodes split along the same direction (Tomita et al. 2020, section 4.5).

    Directions have length 1 in predictors scaled to [0, 1].  θ and θ' are the same if the
    coefficients of θ' or -θ' differ from those of θ by rounding only.
    """
    of_node = np.full(forest.n_nodes, -1)
    split, width = forest.is_split(), np.diff(forest.start)
    examples, known = [np.empty(0, dtype=np.int64)], 0
    for size in np.unique(width[split]):
        nodes = np.flatnonzero(split & (width == size))
        terms = forest.start[nodes][:, None] + np.arange(size)
        columns, coef = forest.index[terms], forest.coef[terms].astype(np.float64)
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1)
        coef = np.take_along_axis(coef, order, axis=1)
        steps = np.round(np.sign(coef[:, :1]) * coef / ALIKE)
        # the term of empty cells that always go one way is beyond whole numbers
        steps = np.clip(steps, -MOST_STEPS, MOST_STEPS).astype(np.int64)
        first, number = distinct_rows(np.hstack([columns, steps]))
        of_node[nodes] = known + number
        examples.append(nodes[first])
        known += len(first)
    return Directions(of_node, np.concatenate(examples))


def direction_importance(forest: Forest, directions: Directions) -> NDArray[np.float64]:
    """Return the mean impurity decrease per tree by the splits along each direction (k,).

    The importances of all directions and those of all predictors have the same sum.
    """
    nodes = directions.of_node >= 0
    k = len(directions.example)
    removed = np.bincount(directions.of_node[nodes], weights=_decreases(forest)[nodes], minlength=k)
    return removed / forest.n_trees


def importance_by_tree(
    forest: Forest, directions: Directions, chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the impurity decrease (B, j) of each tree by splits along the `chosen` directions."""
    place = np.full(len(directions.example) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    place_of_node = place[directions.of_node]
    nodes = np.flatnonzero(place_of_node >= 0)
    tree = np.searchsorted(forest.root, nodes, side="right") - 1
    removed = np.bincount(
        tree * len(chosen) + place_of_node[nodes],
        weights=_decreases(forest)[nodes],
        minlength=forest.n_trees * len(chosen),
    )
    return removed.reshape(forest.n_trees, len(chosen)).astype(np.float64)


def usage(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of splits (P,) of all trees in which each predictor has a coefficient.

    π_k of Perry (2020), section 3.2; pruned splits do not count.  Predictor j has the columns
    ``first[j]:first[j + 1]``; a split that has several of them counts once.
    """
    node = node_of_terms(forest)
    in_split = forest.is_split()[node]
    predictor = np.searchsorted(first, forest.index[in_split], side="right") - 1
    P = len(first) - 1
    once = np.unique(node[in_split] * P + predictor)
    return np.bincount(once % P, minlength=P)
