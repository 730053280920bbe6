"""Splits in the units of the data: directions and thresholds without the scaling to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["UserSplits", "node_of_terms", "user_splits"]


@dataclass(frozen=True)
class UserSplits:
    """Directions and thresholds of a forest's m nodes, for predictors in the units of the data.

    A split on a single column is divided by the absolute value of its coefficient, so that it is
    ±1·column ≤ t.

    Attributes
    ----------
    coef : (z,) float64
        θ_j / range_j for each entry of ``forest.coef``; 0 for a column that was constant in
        training, which has no influence.
    threshold : (m,) float64
        s + Σ θ_j·low_j / range_j; NaN for a node without a split.
    """

    coef: NDArray[np.float64]
    threshold: NDArray[np.float64]


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
    size = np.where(per_node(varies) == 1, per_node(np.abs(coef)), 1.0)
    return UserSplits(coef=coef / size[node], threshold=threshold / size)
