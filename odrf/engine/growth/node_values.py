"""Values of the nodes of a grown tree, computed anew from other responses, other or further rows.

Honest trees: splits are placed where the rows that chose them happen to differ, so the values of
these rows are too extreme on either side.  Rows that had no part in choosing the splits have no
such bias (Athey, Tibshirani and Wager 2019).  So everything stored in a node comes from these
filling rows: its value, number of rows, weight, impurity, and the impurity decrease of its split.
Pruning, which sums these up, then evaluates subtrees on rows that had no part in choosing the
splits.

A few new rows change the nodes on their paths only.  Those above leaves are changed by what the new
rows add up to, without reading the old ones: means and sums of squares as Chan, Golub and LeVeque
(1983) add them.  The leaves at the ends of the paths are described by all of their rows.  So their
splits are the same bits as if all nodes were computed anew; nodes above differ by rounding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, inlined, kernel
from odrf.engine.kernel_params import KernelParams
from odrf.engine.rows import Rows, divide, project
from odrf.engine.splits.impurity import describe, impurity, whole_logs
from odrf.engine.splits.surrogate_choice import send_by_surrogates
from odrf.engine.splits.surrogate_scratch import surrogate_scratch
from odrf.engine.trees.forest import Forest

# The arrays of the nodes of a growing tree.

# Entries of `reached`: numbers of nodes searched, of nodes, of leaves, and of terms of directions.
NEXT, NODES, LEAVES, TERMS = 0, 1, 2, 3


class TreeBuffers(NamedTuple):
    """The arrays that a tree grows into, longer than it needs so far; see `Forest` for most.

    `left`, `n_rows`, `start`, `order` (room,), `threshold` (room,), `weight`, `impurity`, `gain`
    (room,), `value` (room, K), `column` (terms,).  `begin`, `end`, `depth` (room,): node i has the
    rows ``begin[i]:end[i]`` of the tree's `Rows`; and its depth.  `coef` (terms,): the directions,
    node by node.
    """

    left: np.ndarray
    threshold: np.ndarray
    start: np.ndarray
    value: np.ndarray
    n_rows: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    order: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    depth: np.ndarray
    column: np.ndarray
    coef: np.ndarray


def buffers_for(room: int, terms: int, K: int) -> TreeBuffers:
    """Allocate the arrays of a tree of up to `room` nodes and `terms` terms, for K values each."""
    return TreeBuffers(
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.float32),
        np.empty(room + 1, dtype=np.int64),
        np.empty((room, K)),
        np.empty(room, dtype=np.int32),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(terms, dtype=np.int32),
        np.empty(terms, dtype=np.float32),
    )


def enlarged(buffers: TreeBuffers, room: int, terms: int) -> TreeBuffers:
    """Return a copy of the buffers with room for so many nodes and terms."""
    longer = buffers_for(room, terms, buffers.value.shape[1])
    for old, new in zip(buffers, longer, strict=True):
        new[: len(old)] = old
    return longer


@inlined
def load_direction(buffers, i, columns, theta):
    """Write the direction of node i to columns[0] and theta[0]; return its number of columns."""
    first = buffers.start[i]
    size = buffers.start[i + 1] - first
    for j in range(size):
        columns[0, j], theta[0, j] = buffers.column[first + j], buffers.coef[first + j]
    return size


# The values of nodes.


def describe_again(
    rows: Rows,
    buffers: TreeBuffers,
    n_nodes: int,
    criterion: int,
    moments: NDArray[np.float64],
    logs: NDArray[np.float64],
) -> None:
    """Compute value, impurity and gain of every node of a tree from other responses of its rows.

    `rows`: those that the tree was grown on, in the order of its nodes, with these responses.
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

    A node that no row reaches gets the value and impurity of its parent. `rows`: the m ≥ 1 filling
    rows, not copied; they are reordered. `buffers`: the grown tree; its nodes are overwritten.
    `columns` (1, W), … `logs`: scratch. `surrogates`, `work`: those of the tree, if it has any, and
    scratch.
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


def refilled(tree: Forest, rows: Rows, settings: KernelParams) -> tuple[Forest, TreeBuffers]:
    """Return the tree with node values computed from these rows, and its buffers.

    The rows, which are not copied, are put in the order of the nodes.
    """
    buffers = filled_by(tree, rows, settings)
    return _with_values(tree, buffers), buffers


def filled_by(tree: Forest, rows: Rows, settings: KernelParams) -> TreeBuffers:
    """Return buffers with the tree and the node values computed from these rows, as `refilled`."""
    n_nodes, buffers = tree.n_nodes, _buffers_of(tree)
    fill(rows, buffers, np.int64(n_nodes), settings.criterion, *_scratch(tree, rows, settings))
    return buffers


def with_few_rows(
    tree: Forest, of_new: TreeBuffers, rows: Rows, settings: KernelParams
) -> tuple[Forest, TreeBuffers]:
    """Return the tree with the nodes changed that new rows reach, and its buffers.

    `of_new`: the tree, filled by the new rows alone. `rows`: all rows, old and new, not copied.
    Those of the leaves that new rows reach are put in the order of these leaves; in the buffers
    other leaves have none.
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

    The other arguments are those of `odrf.engine.growth.tree_builder.fill`.
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


def _scratch(tree: Forest, rows: Rows, settings: KernelParams) -> tuple:
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
