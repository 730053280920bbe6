"""Splits in the units of the data: directions and thresholds without the scaling to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.directions.missing import FILL
from odrf.engine.trees.forest import Forest

__all__ = ["UserSplits", "node_of_terms", "user_splits"]


@dataclass(frozen=True)
class UserSplits:
    """Directions and thresholds of a forest's m nodes, for predictors in the units of the data.

    A split on a single column is divided by the absolute value of its coefficient, so that it is
    ±1·column ≤ t.  The column of its empty cells does not count as another one.

    Attributes
    ----------
    coef : (z,) float64
        θ_j / range_j for each entry of ``forest.coef``; 0 for a column that was constant in
        training, which has no influence.
    threshold : (m,) float64
        s + Σ θ_j·low_j / range_j; NaN for a node without a split.
    fill : (z,) float64
        What an empty cell of the term counts as, ±∞ in a split on one predictor; NaN if the
        predictor has no empty cells in training, or is a factor, or has several columns.
    told : (z,) bool
        Whether the term is that of empty cells, and another term's `fill` says the same.
    """

    coef: NDArray[np.float64]
    threshold: NDArray[np.float64]
    fill: NDArray[np.float64]
    told: NDArray[np.bool_]


def node_of_terms(forest: Forest) -> NDArray[np.int64]:
    """Return for each coefficient (z,) the number of the node that it belongs to."""
    return np.repeat(np.arange(forest.n_nodes), np.diff(forest.start))


def user_splits(forest: Forest, design: Design) -> UserSplits:
    """Return the splits of the forest in the units of the data."""
    low, span = design.scaling.low[forest.index], design.scaling.range[forest.index]
    varies = span > 0
    coef = np.divide(forest.coef, span, out=np.zeros(len(span)), where=varies)
    node = node_of_terms(forest)

    def per_node(terms: NDArray) -> NDArray[np.float64]:
        return np.bincount(node, weights=terms, minlength=forest.n_nodes).astype(np.float64)

    threshold = forest.threshold + per_node(coef * low)
    numbers = varies & ~design.of_empty_cells[forest.index]
    n_numbers = per_node(numbers)
    size = np.where(n_numbers == 1, per_node(np.abs(coef) * numbers), 1.0)
    return UserSplits(coef / size[node], threshold / size, *_fills(forest, design, node))


def _fills(
    forest: Forest, design: Design, node: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return `fill` and `told` of `UserSplits`; `node` (z,) is that of each coefficient."""
    fills, told = np.full(len(forest.index), np.nan), np.zeros(len(forest.index), dtype=np.bool_)
    groups = design.feature_groups
    if groups.holes is None or not design.has_fills:
        return fills, told
    column = np.full(len(design.columns), -1)
    first = design.first[:-1][groups.holes & (groups.n_numbers == 1)]
    column[first] = first + 1
    terms = np.flatnonzero(column[forest.index] >= 0)
    if not len(terms):
        return fills, told
    p = len(design.columns)
    key = node * p + forest.index
    of_empty_cells = np.flatnonzero(design.of_empty_cells[forest.index])
    in_order = of_empty_cells[np.argsort(key[of_empty_cells], kind="stable")]
    wanted = node[terms] * p + column[forest.index[terms]]
    at = np.searchsorted(key[in_order], wanted)
    found = np.append(in_order, -1)[at]
    same = (found >= 0) & (key[found] == wanted)
    coef = np.where(same, forest.coef[found], 0.0)
    told[found[same]] = True
    scaling, columns = design.scaling, forest.index[terms]
    scaled = (coef / forest.coef[terms]).astype(np.float64)
    scaled[np.abs(scaled) >= FILL] *= np.inf
    fills[terms] = scaling.low[columns] + scaling.range[columns] * scaled
    return fills, told
