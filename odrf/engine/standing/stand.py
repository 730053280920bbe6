"""The arrays of a tree that stands ready for further rows, and the steps that change them.

Each leaf knows its rows: a chain from its last row to the one before, and so on.  A row that comes
or leaves changes the nodes on its path only.  Its leaf is described anew from its rows, and every
node above from its two children: so nothing is ever subtracted, and no rounding error is carried
from update to update.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.splits.impurity import impurity

__all__ = [
    "OF_NODES",
    "OF_ROWS",
    "OF_TERMS",
    "Stand",
    "StandingCells",
    "add_leaf_values",
    "chain_rows",
    "count_children",
    "find_leaves",
    "mark_paths",
    "release_rows",
    "restate",
    "rows_below",
]


class StandingCells(NamedTuple):
    """The training rows in places that they keep, as trees read them.

    Attributes
    ----------
    X : (r, room) float32; codes : (F, room) int32; place, level : (p,) int32
        As `odrf.engine.growth.forest_growth.read_by_growth` returns them.
    y, weights : (room,) float64
    """

    X: NDArray[np.float32]
    codes: NDArray[np.int32]
    place: NDArray[np.int32]
    level: NDArray[np.int32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


class Stand(NamedTuple):
    """The arrays of one tree, with room for more nodes, terms and rows.

    Attributes
    ----------
    left, threshold, value, n_rows, weight, impurity, gain, n_at_split : (nodes, …)
        As in `odrf.engine.growth.tree_kernel.TreeBuffers`.  A split that was removed leaves the
        nodes below it behind, which no row reaches.
    order : (nodes,) int32
        Splits that were made later have larger numbers.
    first, size : (nodes,) int64, int32
        Where a node's direction begins in `column` and `coef`, and its number of terms.
    depth, parent : (nodes,) int32
    mark : (nodes,) int64
        The last update that reached the node.
    head : (nodes,) int32
        The last row of a leaf, -1 if it has none.
    column, coef : (terms,) int32, float32
    following : (rows,) int32
        The row before, in the same leaf; -1 for the first one.
    times : (rows,) uint16
        How often the tree drew the row.
    """

    left: NDArray[np.int32]
    threshold: NDArray[np.float32]
    first: NDArray[np.int64]
    size: NDArray[np.int32]
    value: NDArray[np.float64]
    n_rows: NDArray[np.int32]
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    order: NDArray[np.int32]
    n_at_split: NDArray[np.int32]
    depth: NDArray[np.int32]
    parent: NDArray[np.int32]
    mark: NDArray[np.int64]
    head: NDArray[np.int32]
    column: NDArray[np.int32]
    coef: NDArray[np.float32]
    following: NDArray[np.int32]
    times: NDArray[np.uint16]


OF_NODES = Stand._fields[: Stand._fields.index("column")]
OF_TERMS = ("column", "coef")
OF_ROWS = ("following", "times")


@part
def _leaf(stand, cells, i):
    node = 0
    while stand.left[node] >= 0:
        projected = np.float32(0.0)
        begin = stand.first[node]
        for t in range(begin, begin + stand.size[node]):
            column = stand.column[t]
            if len(cells.place) == 0:
                projected += stand.coef[t] * cells.X[column, i]
            elif cells.place[column] >= 0:
                projected += stand.coef[t] * cells.X[cells.place[column], i]
            elif cells.codes[-1 - cells.place[column], i] == cells.level[column]:
                projected += stand.coef[t]
        node = stand.left[node] + (not projected <= stand.threshold[node])
    return node


@kernel
def find_leaves(stand, cells, at, leaf):
    """Write to leaf (m,) which leaf the rows in the places `at` (m,) reach."""
    for i in range(len(at)):
        leaf[i] = _leaf(stand, cells, at[i])


@kernel
def add_leaf_values(stand, cells, at, out):
    """Add to out (m, K) the values of the leaves that the rows in the places `at` (m,) reach."""
    for i in range(len(at)):
        leaf = _leaf(stand, cells, at[i])
        for k in range(out.shape[1]):
            out[i, k] += stand.value[leaf, k]


@kernel
def chain_rows(stand, at, leaf):
    """Add the rows in the ascending places `at` (m,) to the chains of their leaves (m,)."""
    for i in range(len(at)):
        stand.following[at[i]] = stand.head[leaf[i]]
        stand.head[leaf[i]] = at[i]


@kernel
def release_rows(stand, at, leaf):
    """Take the rows in the places `at` (m,) out of the chains of their leaves (m,)."""
    for i in range(len(at)):
        row = stand.head[leaf[i]]
        if row == at[i]:
            stand.head[leaf[i]] = stand.following[row]
            continue
        while stand.following[row] != at[i]:
            row = stand.following[row]
        stand.following[row] = stand.following[at[i]]


@kernel
def mark_paths(stand, leaf, number, reached, n):
    """Append to `reached`, which has n nodes, those on the paths to leaf (m,); return how many.

    They are marked with the `number`; nodes that have it are not appended again.
    """
    for i in range(len(leaf)):
        node = leaf[i]
        while node >= 0 and stand.mark[node] != number:
            stand.mark[node] = number
            reached[n] = node
            n += 1
            node = stand.parent[node]
    return n


@part
def _describe_rows(stand, cells, node):
    """Describe a leaf by its rows; if it has none, it keeps value and impurity."""
    value, K = stand.value[node], stand.value.shape[1]
    stand.weight[node], stand.n_rows[node] = 0.0, 0
    row = stand.head[node]
    if row < 0:
        return
    origin = cells.y[row]
    weight, n_rows, pure = 0.0, 0, True
    for k in range(K):
        value[k] = 0.0
    while row >= 0:
        times = int(stand.times[row])
        w = cells.weights[row] * times
        weight += w
        n_rows += times
        pure = pure and cells.y[row] == origin
        if K == 1:
            value[0] += w * (cells.y[row] - origin)
        else:
            value[int(cells.y[row])] += w
        row = stand.following[row]
    for k in range(K):
        value[k] /= weight
    stand.weight[node], stand.n_rows[node] = weight, n_rows
    if K == 1:
        spread, row = 0.0, stand.head[node]
        while row >= 0:
            apart = (cells.y[row] - origin) - value[0]
            spread += cells.weights[row] * int(stand.times[row]) * apart * apart
            row = stand.following[row]
        value[0] += origin
        stand.impurity[node] = 0.0 if pure else spread / weight


@part
def _describe_children(stand, node, criterion):
    """Describe a split by its two children."""
    a, b = stand.left[node], stand.left[node] + 1
    weight = stand.weight[a] + stand.weight[b]
    stand.weight[node], stand.n_rows[node] = weight, stand.n_rows[a] + stand.n_rows[b]
    if weight == 0.0:
        return
    K, p, q = stand.value.shape[1], stand.weight[a] / weight, stand.weight[b] / weight
    within = p * stand.impurity[a] + q * stand.impurity[b]
    if K == 1:
        apart = stand.value[b, 0] - stand.value[a, 0]
        stand.value[node, 0] = stand.value[a, 0] + q * apart
        stand.gain[node] = p * q * apart * apart
        stand.impurity[node] = within + stand.gain[node]
        return
    for k in range(K):
        stand.value[node, k] = p * stand.value[a, k] + q * stand.value[b, k]
    stand.impurity[node] = impurity(stand.value[node], criterion)
    stand.gain[node] = max(0.0, stand.impurity[node] - within)


@kernel
def restate(stand, cells, reached, criterion):
    """Describe the `reached` nodes anew, in descending order: leaves by rows, others by children.

    The impurity of leaves is known for classes only where a row came or left.
    """
    for node in reached:
        if stand.left[node] >= 0:
            _describe_children(stand, node, criterion)
            continue
        _describe_rows(stand, cells, node)
        if stand.value.shape[1] > 1 and stand.n_rows[node] > 0:
            # added to 0, so that an entropy of -0 is 0
            stand.impurity[node] = 0.0 + impurity(stand.value[node], criterion)


@kernel
def count_children(stand, reached, fewest):
    """Write for the `reached` nodes (m,) how many rows the smaller child has; of a leaf, none."""
    for i in range(len(reached)):
        child = stand.left[reached[i]]
        fewest[i] = 0
        if child >= 0:
            fewest[i] = min(stand.n_rows[child], stand.n_rows[child + 1])


@kernel
def rows_below(stand, node, waiting, rows, levels):
    """Write the rows of all leaves below a node to `rows`; return their number, and of splits.

    The nodes below are taken from the numbers of nodes by depth, `levels`.  waiting (depth + 2,) is
    scratch.
    """
    n_rows, n_splits, n_waiting = 0, 0, 1
    waiting[0] = node
    while n_waiting > 0:
        n_waiting -= 1
        here = waiting[n_waiting]
        child = stand.left[here]
        if child >= 0:
            n_splits += 1
            levels[stand.depth[child]] -= 2
            waiting[n_waiting], waiting[n_waiting + 1] = child, child + 1
            n_waiting += 2
            continue
        row = stand.head[here]
        while row >= 0:
            rows[n_rows] = row
            n_rows += 1
            row = stand.following[row]
    return n_rows, n_splits
