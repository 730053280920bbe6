"""What is read from the rows of a grown tree: values of its nodes, computed again, and leaves.

Rows of a node are adjacent after growth, so none has to be sent down the tree again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.growth.tree_kernel import TreeBuffers
from odrf.engine.rows.rows import Rows
from odrf.engine.splits.impurity import describe

__all__ = ["describe_again", "recompute_gains", "write_leaves"]


def describe_again(
    rows: Rows,
    buffers: TreeBuffers,
    n_nodes: int,
    criterion: int,
    moments: NDArray[np.float64],
    logs: NDArray[np.float64],
) -> None:
    """Compute value, impurity and gain of every node of a tree from other responses of its rows.

    Parameters
    ----------
    rows : Rows
        The rows that the tree was grown on, in the order of its nodes, with these responses.
    buffers : TreeBuffers
        The grown tree; its nodes are overwritten.
    n_nodes : int
        Number of its nodes.
    criterion : int
        Impurity, as in `odrf.engine.settings.Settings`.
    moments, logs
        As `odrf.engine.splits.impurity.describe` takes them.
    """
    _describe_nodes(rows, buffers, n_nodes, criterion, moments, logs)
    recompute_gains(buffers, np.flatnonzero(buffers.left[:n_nodes] >= 0))


@kernel
def _describe_nodes(rows, buffers, n_nodes, criterion, moments, logs):
    value, impurity, begin, end = buffers.value, buffers.impurity, buffers.begin, buffers.end
    for i in range(n_nodes):
        lo, m = begin[i], end[i] - begin[i]
        impurity[i] = describe(rows, lo, m, value[i], moments, logs, criterion, 0.0).impurity


def recompute_gains(buffers: TreeBuffers, nodes: NDArray[np.int64]) -> None:
    """Set the gains of these split `nodes` to the decrease of impurity, at least 0."""
    left, weight, impurity = buffers.left[nodes], buffers.weight, buffers.impurity
    remaining = weight[left] * impurity[left] + weight[left + 1] * impurity[left + 1]
    buffers.gain[nodes] = np.maximum(0.0, impurity[nodes] - remaining / weight[nodes])


@kernel
def write_leaves(at, left, begin, end, n_nodes, leaf):
    """Write the number of the leaf of each row of a grown tree to leaf (n,).

    `at` are the row numbers of its `Rows`; `left`, `begin` and `end` are those of its buffers.
    """
    for node in range(n_nodes):
        if left[node] < 0:
            for i in range(np.uint64(begin[node]), np.uint64(end[node])):
                leaf[at[i]] = node
