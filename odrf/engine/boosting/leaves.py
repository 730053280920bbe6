"""Leaf values of boosted trees: Newton steps, medians, and steps for Huber's loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel

__all__ = ["LeafRows", "huber_values", "median_values", "newton_values", "weighted_quantile"]

Array = NDArray[np.float64]


class LeafRows(NamedTuple):
    """The rows that trees were grown on, with what leaf values are computed from.

    With several trees, each row is there once for each of them, and leaves are numbered over all.

    Attributes
    ----------
    leaf : (n,) int64
        Number of each row's leaf, from 0 to `n_leaves` - 1.
    n_leaves : int
        How many numbers there are; some may have no row.
    residuals : (n,) float64
        Response minus score.
    first, second : (n,) float64
        First and second derivative of the loss with respect to the score.
    weights : (n,) float64
        Case weights, above 0.
    """

    leaf: NDArray[np.int64]
    n_leaves: int
    residuals: Array
    first: Array
    second: Array
    weights: Array

    def sums(self, values: Array) -> Array:
        """Return each leaf's weighted sum of `values` (n,)."""
        return np.asarray(np.bincount(self.leaf, self.weights * values, self.n_leaves), np.float64)


def newton_values(rows: LeafRows, l2: float) -> Array:
    """Return -G/(H + l2) of each leaf, G and H its sums of derivatives; 0 without rows."""
    gradient, curvature = np.empty(rows.n_leaves), np.empty(rows.n_leaves)
    _newton_steps(rows.leaf, rows.first, rows.second, rows.weights, l2, gradient, curvature)
    return gradient


@kernel
def _newton_steps(leaf, first, second, weights, l2, steps, curvature):
    """Write the Newton step of each leaf to `steps`; curvature (n_leaves,) is scratch."""
    steps[:], curvature[:] = 0.0, 0.0
    for i in range(np.uint64(len(leaf))):
        at, weight = np.uint64(leaf[i]), weights[i]
        steps[at] += weight * first[i]
        curvature[at] += weight * second[i]
    for k in range(len(steps)):
        total = curvature[k] + l2
        steps[k] = -steps[k] / total if total > 0.0 else 0.0


def median_values(rows: LeafRows) -> Array:
    """Return the weighted median of each leaf's residuals; 0 for a leaf without rows.

    It is the value at which the cumulative weight exceeds one half of the total.  Where it equals
    one half exactly, it is the mean of that value and the next.
    """
    order = np.lexsort((rows.residuals, rows.leaf))
    leaf, values = rows.leaf[order], rows.residuals[order]
    passed = np.cumsum(rows.weights[order])
    present, first = np.unique(leaf, return_index=True)
    last = np.append(first[1:], len(leaf)) - 1
    before = np.where(first > 0, passed[first - 1], 0.0)
    half = 0.5 * (before + passed[last])
    # tolerance for the rounding of cumulative weights
    slack = 1e-12 * passed[-1]
    # within the leaf, even if all of its weights are less than that
    low = np.clip(np.searchsorted(passed, half - slack), first, last)
    high = np.minimum(np.searchsorted(passed, half + slack, side="right"), last)
    medians = np.zeros(rows.n_leaves)
    medians[present] = 0.5 * (values[low] + values[high])
    return medians


def huber_values(rows: LeafRows, delta: float) -> Array:
    """Return each leaf's median residual plus the mean of the deviations from it, clipped to ±δ.

    One step of Friedman (2001), Algorithm 4.
    """
    median = median_values(rows)
    clipped = np.clip(rows.residuals - median[rows.leaf], -delta, delta)
    weight = rows.sums(np.ones_like(clipped))
    step = np.divide(rows.sums(clipped), weight, out=np.zeros(rows.n_leaves), where=weight > 0)
    return median + step


def weighted_quantile(values: Array, weights: Array, share: float) -> float:
    """Return the weighted quantile of `values` (n,) at the level `share`.

    It is the value at which the cumulative weight exceeds this share of the total.  Where it equals
    the share exactly, it is the mean of that value and the next.
    """
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    wanted, slack = share * passed[-1], 1e-12 * passed[-1]
    last = len(values) - 1
    low = min(int(np.searchsorted(passed, wanted - slack)), last)
    high = min(int(np.searchsorted(passed, wanted + slack, side="right")), last)
    return float(0.5 * (values[order[low]] + values[order[high]]))
