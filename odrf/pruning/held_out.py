"""Errors of a tree pruned at each of many α, on rows that it was not grown on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.coded import Matrix
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.prediction_rule import predicted_classes
from odrf.engine.trees.routing import leaf_nodes

__all__ = ["HeldOut", "held_out", "held_out_sums", "losses_of"]


@dataclass(frozen=True)
class HeldOut:
    """Sums over held-out rows of case weight w and loss l, for each of k values of α.

    Attributes
    ----------
    weight, squares : float
        Σw and Σw².
    loss, crossed, squared : (k,) float64
        Σwl, Σw²l and Σw²l².
    """

    weight: float
    squares: float
    loss: NDArray[np.float64]
    crossed: NDArray[np.float64]
    squared: NDArray[np.float64]

    def __add__(self, other: HeldOut) -> HeldOut:
        return HeldOut(
            self.weight + other.weight,
            self.squares + other.squares,
            self.loss + other.loss,
            self.crossed + other.crossed,
            self.squared + other.squared,
        )

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean loss of a row (k,)."""
        return self.loss / self.weight

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of the mean loss (k,), for independent rows."""
        mean = self.mean
        sum_of_squares = self.squared - 2 * mean * self.crossed + mean**2 * self.squares
        return np.sqrt(np.maximum(sum_of_squares, 0.0)) / self.weight


def held_out_sums(losses: NDArray[np.float64], weights: NDArray[np.float64]) -> HeldOut:
    """Return the sums for losses (k, m) of rows with case weights (m,)."""
    return HeldOut(
        float(weights.sum()),
        float(weights @ weights),
        losses @ weights,
        losses @ weights**2,
        losses**2 @ weights**2,
    )


def losses_of(
    value: NDArray[np.float64], y: NDArray[np.float64], ordered: bool = False
) -> NDArray[np.float64]:
    """Return the loss (m,) of predicting `value` (m, K): squared error for K = 1, else 0-1.

    With `ordered`, the predicted class is the median of the ordered classes.
    """
    if value.shape[1] == 1:
        return (y - value[:, 0]) ** 2
    return (predicted_classes(value, ordered) != y).astype(float)


def held_out(
    tree: Forest,
    critical: NDArray[np.float64],
    alpha: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> HeldOut:
    """Evaluate a tree, pruned at each of the `alpha` (k,), rising, on the rows of X (p, m).

    `tree` is a forest of one tree, `critical` (m,) holds the critical α of its nodes.  A row stops
    at the first node on its way down whose critical α is not above α.  So a node predicts for α
    from its critical α up to that of its parent, and one walk from the leaf to the root evaluates
    all α.
    """
    k = len(alpha)
    changes = np.zeros((3, k + 1))
    starts = np.searchsorted(alpha, critical)
    parents = tree.parents()
    node, row = leaf_nodes(tree, X, 1)[:, 0], np.arange(len(y))
    while len(node):
        parent = parents[node]
        until = np.where(parent >= 0, starts[parent], k)
        predicts = starts[node] < until
        nodes, rows = node[predicts], row[predicts]
        loss, w = losses_of(tree.value[nodes], y[rows], bool(tree.ordered)), weights[rows]
        for change, of_row in zip(changes, (w * loss, w**2 * loss, (w * loss) ** 2), strict=True):
            change += np.bincount(starts[nodes], of_row, k + 1)
            change -= np.bincount(until[predicts], of_row, k + 1)
        node, row = parent[parent >= 0], row[parent >= 0]
    sums = np.cumsum(changes, axis=1)[:, :k]
    return HeldOut(float(weights.sum()), float(weights @ weights), *sums)
