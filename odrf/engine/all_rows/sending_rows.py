"""Rows of a stripe sent to the sides of the splits of their nodes, and what each side sums up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, kernel
from odrf.engine.directions.missing import settled
from odrf.engine.rows import Rows, project
from odrf.engine.splits.factor_splits import send_absent_levels
from odrf.engine.splits.impurity import (
    CRITERIA,
    ENTROPY,
    NEGLIGIBLE,
    ORDINAL,
    Node,
    impurity,
    uses_moments,
)

__all__ = [
    "LEFT",
    "RIGHT",
    "NodeSums",
    "described_side",
    "of_sample",
    "send_stripe",
    "settle_split",
]

LEFT, RIGHT = 0, 1
# The first sums of a side; those of its classes, or of w·d and w·d², d = y - centre, follow.
COUNT, WEIGHT, FIRST = 0, 1, 2


class NodeSums(NamedTuple):
    """What is known of the responses of a node.

    Attributes
    ----------
    n_rows : int
        N(A).
    weight : float
        Sum of the weights.
    value : (K,) float64
        Mean response, or class shares.
    impurity : float
    """

    n_rows: int
    weight: float
    value: NDArray[np.float64]
    impurity: float

    def as_node(self, criterion: int, unit: bool) -> Node:
        """Return what gains of cuts are computed from, without the rows."""
        K = len(self.value)
        factor = 0.0
        if uses_moments(K):
            factor = 1.0 / self.weight if criterion == ENTROPY else float(K)
            factor = 1.0 if criterion == ORDINAL else factor
        nothing = np.empty(0)
        return Node(
            nothing, nothing, np.empty(0, dtype=np.int32), nothing, self.value, self.weight,
            self.n_rows, NEGLIGIBLE * self.weight, self.impurity, factor, criterion, unit, nothing,
        )  # fmt: skip

    def centre(self, criterion: int) -> float:
        """Return what moments are taken around; see `Node`."""
        return 0.0 if criterion == ENTROPY else float(self.value[-1])


def of_sample(rows: Rows, sums: NodeSums, criterion: int) -> Node:
    """Return a node with the rows of a sample, for `settle_split`."""
    node = sums.as_node(criterion, rows.unit)
    return node._replace(
        y=rows.y, weights=rows.weights, counts=rows.counts, weight=float(rows.weights.sum())
    )


def described_side(sums: NDArray[np.float64], low: float, high: float, centre: float,
              criterion: int) -> NodeSums:  # fmt: skip
    """Return what the `sums` that `send_stripe` has added up say of a side.

    `low` and `high` are its smallest and largest response.
    """
    weight = float(sums[WEIGHT])
    if CRITERIA[criterion].of_classes:
        value = sums[FIRST:] / weight
        found = float(impurity(value, criterion)) if low < high else 0.0
        return NodeSums(int(sums[COUNT]), weight, value, found)
    if low == high:
        return NodeSums(int(sums[COUNT]), weight, np.array([low]), 0.0)
    off = sums[FIRST] / weight
    found = max(sums[FIRST + 1] / weight - off * off, 0.0)
    return NodeSums(int(sums[COUNT]), weight, np.array([centre + off]), float(found))


@kernel
def send_stripe(rows, begin, columns, theta, sizes, threshold, first, centre, values, nodes, sums,
                low, high):  # fmt: skip
    """Send the rows of a stripe to the children of their nodes.

    Parameters
    ----------
    rows : Rows
        Not copied: `rows.at` are the places of the rows in the stripe, in the order of the slots.
    begin : (S + 1,) int64
        Where the rows of each slot begin.
    columns, theta, sizes, threshold : (S, W), (S, W), (S,), (S,)
        The split of each slot.
    first : (S,) int32
        The left child of each; the right one is the next.
    centre : (S,) or (0,) float64
        Empty for classes.
    values : (≥ m,) float32
        Scratch.
    nodes : (m,) int32
        The node of each row of the stripe; updated.
    sums : (S, 2, 2 + K) or (S, 2, 4) float64
        Of each side: rows and weight; then the weights of classes if K > 1, or the sums of w·d and
        w·d² with d = y - centre.
    low, high : (S, 2) float64
        The smallest and the largest response.
    """
    numbers = len(centre) > 0
    for s in range(len(begin) - 1):
        lo, m = begin[s], begin[s + 1] - begin[s]
        project(rows, lo, m, columns, theta, s, sizes[s], values)
        for i in range(m):
            side = LEFT if values[i] <= threshold[s] else RIGHT
            nodes[rows.at[lo + i]] = first[s] + side
            y, weight = rows.y[lo + i], rows.weights[lo + i]
            sums[s, side, COUNT] += 1.0
            sums[s, side, WEIGHT] += weight
            if numbers:
                off = y - centre[s]
                sums[s, side, FIRST] += weight * off
                sums[s, side, FIRST + 1] += weight * off * off
            else:
                sums[s, side, FIRST + np.uint64(y)] += weight
            low[s, side], high[s, side] = min(low[s, side], y), max(high[s, side], y)


@kernel
def settle_split(rows, node, feature_groups, size, threshold, scratch, empty):
    """Return threshold and size of a split as it is kept: see `search` and `grow_tree`.

    rows (m,) are a sample of those of the node, and `node` describes the sample.  The direction is
    in scratch.columns[0] and scratch.theta[0], and is changed where levels are absent or where the
    split only tells empty cells from others.  A sample that is on one side tells neither.
    """
    m, n_left = len(rows.y), 0
    project(rows, ZERO, m, scratch.columns, scratch.theta, ZERO, size, scratch.values)
    for i in range(m):
        n_left += scratch.values[i] <= threshold
    if n_left == 0 or n_left == m:
        return threshold, size
    threshold, size = settled(rows, ZERO, m, scratch.columns, scratch.theta, threshold, size, empty)
    project(rows, ZERO, m, scratch.columns, scratch.theta, ZERO, size, scratch.values)
    size, threshold = send_absent_levels(
        rows, ZERO, node, feature_groups, size, threshold, scratch, scratch.levels
    )
    return threshold, size
