"""Honest trees: shaped by some rows, filled by others.

Splits are made where the rows that shape a tree happen to differ, so what these say of the two
sides is more extreme than what is true.  Rows that had no part in it have no such bias (Athey,
Tibshirani and Wager 2019).  So all that a node says comes from them: its value, how many rows it
has, how impure they are, and how much of that its split removes.  Pruning, which adds these up,
then judges subtrees by rows that had no part in the splits.
"""

from __future__ import annotations

from odrf.engine.compiling import ZERO, inlined, kernel
from odrf.engine.rows.rows import divide, project
from odrf.engine.splits.impurity import describe

__all__ = ["fill"]


@inlined
def _load_direction(buffers, node, columns, theta):
    """Write a node's direction to columns[0] and theta[0]; return how many columns it has."""
    first = buffers.start[node]
    size = buffers.start[node + 1] - first
    for j in range(size):
        columns[0, j], theta[0, j] = buffers.column[first + j], buffers.coef[first + j]
    return size


@inlined
def _removed(buffers, node):
    """Return what a node's split removes of its impurity; no split adds any but by rounding."""
    left, weight, spread = buffers.left[node], buffers.weight, buffers.impurity
    if left < 0 or weight[node] == 0.0:
        return 0.0
    kept = weight[left] * spread[left] + weight[left + 1] * spread[left + 1]
    return max(0.0, spread[node] - kept / weight[node])


@kernel
def fill(rows, buffers, n_nodes, criterion, columns, theta, values, goes_left, moments, logs):
    """Send the filling rows down a grown tree, and let its nodes say what these do.

    A node without any takes value and impurity of its parent.

    Parameters
    ----------
    rows : Rows
        Those m ≥ 1 rows, not copied; they are moved.
    buffers : TreeBuffers
        The grown tree.
    n_nodes : int
        How many nodes it has.
    criterion : int
        Impurity.
    columns : (1, W) int64; theta : (1, W) float32
        Scratch for the widest direction.
    values : (≥ m,) float32; goes_left : (≥ m,) bool; moments : (≥ m,) float64
        Scratch for the rows.
    logs : (≥ 1,) float64
        As `odrf.engine.splits.impurity.describe` takes them.
    """
    left, begin, end, value = buffers.left, buffers.begin, buffers.end, buffers.value
    weight, count, spread, gain = buffers.weight, buffers.n_rows, buffers.impurity, buffers.gain
    begin[0], end[0] = 0, len(rows.at)
    for i in range(n_nodes):
        lo, m, child = begin[i], end[i] - begin[i], left[i]
        weight[i], count[i], middle = 0.0, 0, lo
        if m > 0:
            node = describe(rows, lo, m, value[i], moments, logs, criterion)
            weight[i], count[i], spread[i] = node.weight, node.n_rows, node.impurity
        if m > 0 and child >= 0:
            size = _load_direction(buffers, i, columns, theta)
            project(rows, lo, m, columns, theta, ZERO, size, values)
            middle += divide(rows, lo, m, buffers.threshold[i], values, goes_left, moments)
        if child >= 0:
            begin[child], end[child] = lo, middle
            begin[child + 1], end[child + 1] = middle, end[i]
            for j in range(child, child + 2):
                spread[j] = spread[i]
                for k in range(value.shape[1]):
                    value[j, k] = value[i, k]
    for i in range(n_nodes):
        gain[i] = _removed(buffers, i)
