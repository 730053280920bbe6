"""What the leaves of a boosted tree add: Newton steps, medians, Huber's steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LeafRows", "huber_values", "median_values", "newton_values", "weighted_quantile"]

Array = NDArray[np.float64]


class LeafRows(NamedTuple):
    """The rows that a tree was grown on, as its leaves see them.

    Attributes
    ----------
    leaf : (n,) int32
        Number of each row's leaf, below `n_leaves`.
    n_leaves : int
        Numbers that there are; some may have no row.
    residuals : (n,) float64
        Response less score.
    first, second : (n,) float64
        Derivatives of the loss by the score.
    weights : (n,) float64
        Case weights, above 0.
    """

    leaf: NDArray[np.int32]
    n_leaves: int
    residuals: Array
    first: Array
    second: Array
    weights: Array

    def sums(self, values: Array) -> Array:
        """Return each leaf's weighted sum of `values` (n,)."""
        return np.asarray(np.bincount(self.leaf, self.weights * values, self.n_leaves), np.float64)


def newton_values(rows: LeafRows, l2: float) -> Array:
    """Return -G/(H + l2) of each leaf, G and H the sums of its derivatives; 0 without rows."""
    fall, curvature = -rows.sums(rows.first), rows.sums(rows.second) + l2
    return np.divide(fall, curvature, out=np.zeros(rows.n_leaves), where=curvature > 0)


def median_values(rows: LeafRows) -> Array:
    """Return the weighted median of each leaf's residuals; 0 without rows.

    The value at which the weights pass one half of their sum; where a value ends exactly there,
    the mean of it and the next.
    """
    order = np.lexsort((rows.residuals, rows.leaf))
    leaf, values = rows.leaf[order], rows.residuals[order]
    passed = np.cumsum(rows.weights[order])
    present, first = np.unique(leaf, return_index=True)
    last = np.append(first[1:], len(leaf)) - 1
    before = np.where(first > 0, passed[first - 1], 0.0)
    half = 0.5 * (before + passed[last])
    # sums of weights are rounded: what falls short of one half by that much reaches it
    slack = 1e-12 * passed[-1]
    low = np.minimum(np.searchsorted(passed, half - slack), last)
    high = np.minimum(np.searchsorted(passed, half + slack, side="right"), last)
    found = np.zeros(rows.n_leaves)
    found[present] = 0.5 * (values[low] + values[high])
    return found


def huber_values(rows: LeafRows, bend: float) -> Array:
    """Return each leaf's median plus its mean deviation from it, held within ±`bend`.

    One step of Friedman (2001), Algorithm 4.
    """
    median = median_values(rows)
    beyond = np.clip(rows.residuals - median[rows.leaf], -bend, bend)
    weight = rows.sums(np.ones_like(beyond))
    step = np.divide(rows.sums(beyond), weight, out=np.zeros(rows.n_leaves), where=weight > 0)
    return median + step


def weighted_quantile(values: Array, weights: Array, share: float) -> float:
    """Return the value up to which this share of the weights lies.

    Where a value ends exactly there, the mean of it and the next.
    """
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    wanted, slack = share * passed[-1], 1e-12 * passed[-1]
    last = len(values) - 1
    low = min(int(np.searchsorted(passed, wanted - slack)), last)
    high = min(int(np.searchsorted(passed, wanted + slack, side="right")), last)
    return float(0.5 * (values[order[low]] + values[order[high]]))
