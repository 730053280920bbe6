"""Honest trees: some rows choose the splits, others give the values of the nodes.

Splits are placed where the shaping rows happen to differ, so the values of these rows are too
extreme on either side.  Rows that had no part in choosing the splits have no such bias (Athey,
Tibshirani and Wager 2019).  So everything stored in a node comes from these filling rows: its
value, number of rows, weight, impurity, and the impurity decrease of its split.  Pruning, which
sums these up, then evaluates subtrees on rows that had no part in choosing the splits.
"""

from __future__ import annotations

from odrf.engine.compiling import ZERO, inlined, kernel
from odrf.engine.rows.rows import divide, project
from odrf.engine.splits.impurity import describe
from odrf.engine.surrogates.sending import send_by_surrogates

__all__ = ["decrease_of_impurity", "fill", "load_direction"]


@inlined
def load_direction(buffers, node, columns, theta):
    """Write a node's direction to columns[0] and theta[0]; return its number of columns."""
    first = buffers.start[node]
    size = buffers.start[node + 1] - first
    for j in range(size):
        columns[0, j], theta[0, j] = buffers.column[first + j], buffers.coef[first + j]
    return size


@inlined
def decrease_of_impurity(buffers, node):
    """Return the impurity decrease of a node's split, at least 0; 0 for a leaf."""
    left, weight, impurity = buffers.left[node], buffers.weight, buffers.impurity
    if left < 0 or weight[node] == 0.0:
        return 0.0
    remaining = weight[left] * impurity[left] + weight[left + 1] * impurity[left + 1]
    return max(0.0, impurity[node] - remaining / weight[node])


@kernel
def fill(
    rows, buffers, n_nodes, criterion, columns, theta, values, goes_left, moments, logs,
    surrogates, work,
):  # fmt: skip
    """Send rows down a grown tree and recompute value, counts, impurity and gain of every node.

    A node that no row reaches gets the value and impurity of its parent.

    Parameters
    ----------
    rows : Rows
        The m ≥ 1 filling rows, not copied; they are reordered.
    buffers : TreeBuffers
        The grown tree; its nodes are overwritten.
    n_nodes : int
        Number of its nodes.
    criterion : int
        Impurity, as in `odrf.engine.settings.Settings`.
    columns : (1, W) int64; theta : (1, W) float32
        Scratch for the widest direction.
    values : (≥ m,) float32; goes_left : (≥ m,) bool; moments : (≥ m,) float64
        Scratch for the rows.
    logs : (≥ 1,) float64
        As `odrf.engine.splits.impurity.describe` takes them.
    surrogates : SurrogateSplits or None; work : SurrogateScratch or None
        Those of the tree, if it has any, and scratch.
    """
    left, begin, end, value = buffers.left, buffers.begin, buffers.end, buffers.value
    weight, count, impurity, gain = buffers.weight, buffers.n_rows, buffers.impurity, buffers.gain
    begin[0], end[0] = 0, len(rows.at)
    for i in range(n_nodes):
        lo, m, child = begin[i], end[i] - begin[i], left[i]
        weight[i], count[i], middle = 0.0, 0, lo
        if m > 0:
            node = describe(rows, lo, m, value[i], moments, logs, criterion, 0.0)
            weight[i], count[i], impurity[i] = node.weight, node.n_rows, node.impurity
        if m > 0 and child >= 0:
            size = load_direction(buffers, i, columns, theta)
            project(rows, lo, m, columns, theta, ZERO, size, values)
            send_by_surrogates(rows, lo, m, columns, size, surrogates, i, values, work)
            middle += divide(rows, lo, m, buffers.threshold[i], values, goes_left, moments)
        if child >= 0:
            begin[child], end[child] = lo, middle
            begin[child + 1], end[child + 1] = middle, end[i]
            for j in range(child, child + 2):
                impurity[j] = impurity[i]
                for k in range(value.shape[1]):
                    value[j, k] = value[i, k]
    for i in range(n_nodes):
        gain[i] = decrease_of_impurity(buffers, i)
