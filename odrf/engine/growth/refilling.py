"""Compute the nodes of a grown tree anew: from all of its rows, or where a few rows are new.

A few rows change the nodes on their paths only.  Those above leaves are changed by what the new
rows add up to, without reading the old ones: means and sums of squares as Chan, Golub and LeVeque
(1983) add them.  The leaves at the ends of the paths are described by all of their rows.  So their
splits are the same bits as if all nodes were computed anew; nodes above differ by rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from odrf.engine.compiling import ZERO, inlined, kernel
from odrf.engine.growth.honesty import decrease_of_impurity, fill, load_direction
from odrf.engine.growth.tree_kernel import TreeBuffers, buffers_for
from odrf.engine.rows.rows import Rows, divide, project
from odrf.engine.settings import Settings
from odrf.engine.splits.impurity import describe, impurity, whole_logs
from odrf.engine.surrogates.scratch import surrogate_scratch
from odrf.engine.surrogates.sending import send_by_surrogates
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["filled_by", "refilled", "with_few_rows"]


def refilled(tree: Forest, rows: Rows, settings: Settings) -> tuple[Forest, TreeBuffers]:
    """Return the tree with node values computed from these rows, and its buffers.

    The rows, which are not copied, are put in the order of the nodes.
    """
    buffers = filled_by(tree, rows, settings)
    return _with_values(tree, buffers), buffers


def filled_by(tree: Forest, rows: Rows, settings: Settings) -> TreeBuffers:
    """Return buffers with the tree and the node values computed from these rows, as `refilled`."""
    n_nodes, buffers = tree.n_nodes, _buffers_of(tree)
    fill(rows, buffers, np.int64(n_nodes), settings.criterion, *_scratch(tree, rows, settings))
    return buffers


def with_few_rows(
    tree: Forest, of_new: TreeBuffers, rows: Rows, settings: Settings
) -> tuple[Forest, TreeBuffers]:
    """Return the tree with the nodes changed that new rows reach, and its buffers.

    Parameters
    ----------
    tree : Forest
        A forest of one tree, whose nodes have the values of its old rows.
    of_new : TreeBuffers
        The same tree, filled by the new rows alone.
    rows : Rows
        All rows, old and new, not copied.  Those of the leaves that new rows reach are put in the
        order of these leaves; in the buffers other leaves have none.
    settings : Settings
    """
    buffers, reached = _buffers_of(tree), of_new.n_rows > 0
    for mine, stored in (
        (buffers.value, tree.value), (buffers.n_rows, tree.count), (buffers.weight, tree.weight),
        (buffers.impurity, tree.impurity), (buffers.gain, tree.gain),
    ):  # fmt: skip
        mine[:] = stored
    buffers.begin[:], buffers.end[:] = 0, 0
    _add_new(buffers, of_new, settings.criterion)
    _send(rows, buffers, reached, settings.criterion, *_scratch(tree, rows, settings))
    return _with_values(tree, buffers), buffers


@inlined
def _add_to_node(buffers, i, value, weight, criterion):
    """Add new rows of this value (K,) and weight to what node i has of old rows."""
    before, K = buffers.weight[i], len(value)
    together = before + weight
    if K == 1:
        apart = value[0] - buffers.value[i, 0]
        between = before / together * weight / together * apart * apart
        buffers.impurity[i] = buffers.impurity[i] * (before / together) + between
        buffers.value[i, 0] += apart * (weight / together)
    else:
        for k in range(K):
            mine = before * buffers.value[i, k] + weight * value[k]
            buffers.value[i, k] = mine / together
        buffers.impurity[i] = impurity(buffers.value[i], criterion)
    buffers.weight[i] = together


@kernel
def _add_new(buffers, of_new, criterion):
    """Add to all nodes what they have of new rows: `of_new` has the nodes of these rows alone."""
    for i in range(len(of_new.n_rows)):
        if of_new.n_rows[i] > 0:
            weight = of_new.weight[i]
            _add_to_node(buffers, i, of_new.value[i], weight, criterion)
            if of_new.value.shape[1] == 1:
                buffers.impurity[i] += of_new.impurity[i] * (weight / buffers.weight[i])
            buffers.n_rows[i] += of_new.n_rows[i]


@kernel
def _send(
    rows, buffers, reached, criterion, columns, theta, values, goes_left, moments, logs, surrogates,
    work,
):  # fmt: skip
    """Send rows down to the leaves that are `reached` (m,), and describe these leaves.

    The other arguments are those of `odrf.engine.growth.honesty.fill`.
    """
    left, begin, end = buffers.left, buffers.begin, buffers.end
    begin[0], end[0] = 0, len(rows.at)
    for i in range(len(reached)):
        if not reached[i]:
            begin[i], end[i] = 0, 0
            continue
        lo, m, child = begin[i], end[i] - begin[i], left[i]
        if child < 0:
            node = describe(rows, lo, m, buffers.value[i], moments, logs, criterion, 0.0)
            buffers.weight[i], buffers.n_rows[i] = node.weight, node.n_rows
            buffers.impurity[i] = node.impurity
            continue
        size = load_direction(buffers, i, columns, theta)
        project(rows, lo, m, columns, theta, ZERO, size, values)
        send_by_surrogates(rows, lo, m, columns, size, surrogates, i, values, work)
        middle = lo + divide(rows, lo, m, buffers.threshold[i], values, goes_left, moments)
        begin[child], end[child] = lo, middle
        begin[child + 1], end[child + 1] = middle, end[i]
    for i in range(len(reached)):
        if reached[i]:
            buffers.gain[i] = decrease_of_impurity(buffers, i)


def _buffers_of(tree: Forest) -> TreeBuffers:
    """Return buffers that hold the splits of a forest of one tree."""
    buffers = buffers_for(tree.n_nodes, len(tree.index), tree.value.shape[1])
    buffers.left[:], buffers.threshold[:], buffers.start[:] = tree.left, tree.threshold, tree.start
    buffers.column[:], buffers.coef[:], buffers.order[:] = tree.index, tree.coef, tree.order
    return buffers


def _scratch(tree: Forest, rows: Rows, settings: Settings) -> tuple:
    """Return what `fill` takes after the criterion."""
    m, splits, work = len(rows.at), tree.surrogates, None
    widest = max(1, int(np.diff(tree.start).max()))
    if splits is not None:
        work = surrogate_scratch(m, splits.marks, tree.value.shape[1])
    return (
        np.empty((1, widest), dtype=np.int64), np.empty((1, widest), dtype=np.float32),
        np.empty(m, dtype=np.float32), np.empty(m, dtype=np.bool_), np.empty(m),
        whole_logs(settings.criterion, m), splits, work,
    )  # fmt: skip


def _with_values(tree: Forest, buffers: TreeBuffers) -> Forest:
    """Return the tree with the node values of the buffers, which both then have."""
    return replace(
        tree,
        value=buffers.value,
        count=buffers.n_rows,
        weight=buffers.weight,
        impurity=buffers.impurity,
        gain=buffers.gain,
    )
