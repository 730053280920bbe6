"""Errors of a tree pruned at each of many α, on rows that it was not grown on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.running import one_thread
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.engine.trees.routing import leaf_nodes

__all__ = ["HeldOut", "RowLosses", "held_out", "held_out_groups", "held_out_sums", "losses_of"]

RowLosses = Callable[[NDArray[np.float64], NDArray[np.float64], bool], NDArray[np.float64]]
"""The losses (m,) of predicting values (m, K) for responses (m, …), as `losses_of` gives them."""


@dataclass(frozen=True)
class HeldOut:
    """Sums over held-out rows of case weight w and loss l, for each of k values of α.

    Rows that belong together count as one unit: w is the sum of their weights, and l their mean
    loss.

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
        """Standard error of the mean loss (k,), for independent rows or groups of rows.

        One row, or one group, does not tell it: it is NaN.
        """
        if self.weight**2 <= self.squares:
            return np.full(len(self.loss), np.nan)
        mean = self.mean
        sum_of_squares = self.squared - 2 * mean * self.crossed + mean**2 * self.squares
        return np.sqrt(np.maximum(sum_of_squares, 0.0)) / self.weight


@one_thread()
def held_out_sums(
    losses: NDArray[np.float64],
    weights: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
) -> HeldOut:
    """Return the sums for losses (k, m) of rows with case weights and groups (m,)."""
    if groups is not None:
        different, unit = np.unique(groups, return_inverse=True)
        of_units = _of_each(len(losses), len(different))
        np.add.at(of_units.T, unit, (losses * weights).T)
        return held_out_groups(of_units, np.bincount(unit, weights).astype(np.float64))
    return HeldOut(
        float(weights.sum()),
        float(weights @ weights),
        losses @ weights,
        losses @ weights**2,
        losses**2 @ weights**2,
    )


def _of_each(k: int, n_groups: int) -> NDArray[np.float64]:
    """Return zeros (k, n_groups) if memory suffices for them."""
    require_memory(
        8.0 * k * n_groups,
        f"the errors of {k} subtrees in {n_groups} groups",
        "use larger leaves (min_leaf=), or fewer of them (max_leaves=)",
    )
    return np.zeros((k, n_groups))


def losses_of(
    value: NDArray[np.float64], y: NDArray[np.float64], ordered: bool = False
) -> NDArray[np.float64]:
    """Return the loss (m,) of predicting `value` (m, K): squared error for K = 1, else 0-1.

    With `ordered`, the predicted class is the median of the ordered classes.
    """
    if value.shape[1] == 1:
        return (y - value[:, 0]) ** 2
    return (predicted_classes(value, ordered) != y).astype(float)


@one_thread()
def held_out(
    tree: Forest,
    critical: NDArray[np.float64],
    alpha: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
    losses: RowLosses = losses_of,
) -> HeldOut:
    """Evaluate a tree, pruned at each of the `alpha` (k,), rising, on the rows of X (p, m).

    `tree` is a forest of one tree, `critical` (m,) holds the critical α of its nodes.  A row stops
    at the first node on its way down whose critical α is not above α.  So a node predicts for α
    from its critical α up to that of its parent, and one walk from the leaf to the root evaluates
    all α.  Rows of one group, of `groups` (m,), count as one unit.  The responses y (m, …) are what
    `losses` takes.
    """
    k = len(alpha)
    stops = _stops(tree, critical, alpha, X, y, losses)
    if groups is not None:
        different, unit = np.unique(groups, return_inverse=True)
        of_units = _of_each(k + 1, len(different))
        for begin, until, rows, loss in stops:
            np.add.at(of_units, (begin, unit[rows]), weights[rows] * loss)
            np.subtract.at(of_units, (until, unit[rows]), weights[rows] * loss)
        weight = np.bincount(unit, weights).astype(np.float64)
        return held_out_groups(np.cumsum(of_units, axis=0)[:k], weight)
    changes = np.zeros((3, k + 1))
    for begin, until, rows, loss in stops:
        w = weights[rows]
        for change, of_row in zip(changes, (w * loss, w**2 * loss, (w * loss) ** 2), strict=True):
            change += np.bincount(begin, of_row, k + 1)
            change -= np.bincount(until, of_row, k + 1)
    sums = np.cumsum(changes, axis=1)[:, :k]
    return HeldOut(float(weights.sum()), float(weights @ weights), *sums)


class _Stopped(NamedTuple):
    """Rows that stop at nodes of one depth from the leaves, from one α (by number) until another.

    `loss` is that of what these nodes predict.
    """

    begin: NDArray[np.int64]
    until: NDArray[np.int64]
    rows: NDArray[np.int64]
    loss: NDArray[np.float64]


def _stops(
    tree: Forest,
    critical: NDArray[np.float64],
    alpha: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    losses: RowLosses,
) -> Iterator[_Stopped]:
    """Yield where rows stop; see `held_out`."""
    k, starts, parents = len(alpha), np.searchsorted(alpha, critical), tree.parents()
    node, row = leaf_nodes(tree, X, 1)[:, 0], np.arange(len(y))
    while len(node):
        parent = parents[node]
        until = np.where(parent >= 0, starts[parent], k)
        predicts = starts[node] < until
        nodes, rows = node[predicts], row[predicts]
        loss = losses(tree.value[nodes], y[rows], bool(tree.ordered))
        yield _Stopped(starts[nodes], until[predicts], rows, loss)
        node, row = parent[parent >= 0], row[parent >= 0]


@one_thread()
def held_out_groups(loss: NDArray[np.float64], weight: NDArray[np.float64]) -> HeldOut:
    """Return the sums for weighted losses (k, G) and weights (G,) of groups."""
    return HeldOut(
        float(weight.sum()),
        float(weight @ weight),
        loss.sum(axis=1),
        loss @ weight,
        (loss**2).sum(axis=1),
    )
