"""The arrays of a tree that is updated row by row, and the steps that change them.

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
from odrf.engine.randomness import shuffle_front
from odrf.engine.sorting import sort_keys
from odrf.engine.splits.impurity import impurity

__all__ = [
    "OF_NODES",
    "OF_ROWS",
    "OF_TERMS",
    "UpdatableArrays",
    "UpdatableCells",
    "add_leaf_values",
    "become_leaves",
    "chain_rows",
    "choose_cuts",
    "come_and_go",
    "find_leaves",
    "gather_leaves",
    "reach",
    "restate",
]


class UpdatableCells(NamedTuple):
    """The training rows in places that they keep, as trees read them.

    Attributes
    ----------
    X : (r, room) float32; codes : (F, room) int32; place, level : (p,) int32
        As `odrf.engine.growth.tree_growth.read_by_growth` returns them.
    y, weights : (room,) float64
    """

    X: NDArray[np.float32]
    codes: NDArray[np.int32]
    place: NDArray[np.int32]
    level: NDArray[np.int32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


class UpdatableArrays(NamedTuple):
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


OF_NODES = UpdatableArrays._fields[: UpdatableArrays._fields.index("column")]
OF_TERMS = ("column", "coef")
OF_ROWS = ("following", "times")


@part
def _leaf(arrays, cells, i):
    node = 0
    while arrays.left[node] >= 0:
        projected = np.float32(0.0)
        begin = arrays.first[node]
        for t in range(begin, begin + arrays.size[node]):
            column = arrays.column[t]
            if len(cells.place) == 0:
                projected += arrays.coef[t] * cells.X[column, i]
            elif cells.place[column] >= 0:
                projected += arrays.coef[t] * cells.X[cells.place[column], i]
            elif cells.codes[-1 - cells.place[column], i] == cells.level[column]:
                projected += arrays.coef[t]
        node = arrays.left[node] + (not projected <= arrays.threshold[node])
    return node


@kernel
def find_leaves(arrays, cells, at, leaf):
    """Write to leaf (m,) which leaf the rows in the places `at` (m,) reach."""
    for i in range(len(at)):
        leaf[i] = _leaf(arrays, cells, at[i])


@kernel
def add_leaf_values(arrays, cells, at, out):
    """Add to out (m, K) the values of the leaves that the rows in the places `at` (m,) reach."""
    for i in range(len(at)):
        leaf = _leaf(arrays, cells, at[i])
        for k in range(out.shape[1]):
            out[i, k] += arrays.value[leaf, k]


@kernel
def chain_rows(arrays, at, leaf):
    """Add the rows in the ascending places `at` (m,) to the chains of their leaves (m,)."""
    for i in range(len(at)):
        arrays.following[at[i]] = arrays.head[leaf[i]]
        arrays.head[leaf[i]] = at[i]


@kernel
def release_rows(arrays, at, leaf):
    """Take the rows in the places `at` (m,) out of the chains of their leaves (m,)."""
    for i in range(len(at)):
        row = arrays.head[leaf[i]]
        if row == at[i]:
            arrays.head[leaf[i]] = arrays.following[row]
            continue
        while arrays.following[row] != at[i]:
            row = arrays.following[row]
        arrays.following[row] = arrays.following[at[i]]


@kernel
def mark_paths(arrays, leaf, number, reached, n):
    """Append to `reached`, which has n nodes, those on the paths to leaf (m,); return how many.

    They are marked with the `number`; nodes that have it are not appended again.
    """
    for i in range(len(leaf)):
        node = leaf[i]
        while node >= 0 and arrays.mark[node] != number:
            arrays.mark[node] = number
            reached[n] = node
            n += 1
            node = arrays.parent[node]
    return n


@part
def _describe_rows(arrays, cells, node):
    """Describe a leaf by its rows; if it has none, it keeps value and impurity."""
    value, K = arrays.value[node], arrays.value.shape[1]
    arrays.weight[node], arrays.n_rows[node] = 0.0, 0
    row = arrays.head[node]
    if row < 0:
        return
    origin = cells.y[row]
    weight, n_rows, pure = 0.0, 0, True
    for k in range(K):
        value[k] = 0.0
    while row >= 0:
        times = int(arrays.times[row])
        w = cells.weights[row] * times
        weight += w
        n_rows += times
        pure = pure and cells.y[row] == origin
        if K == 1:
            value[0] += w * (cells.y[row] - origin)
        else:
            value[int(cells.y[row])] += w
        row = arrays.following[row]
    for k in range(K):
        value[k] /= weight
    arrays.weight[node], arrays.n_rows[node] = weight, n_rows
    if K == 1:
        spread, row = 0.0, arrays.head[node]
        while row >= 0:
            apart = (cells.y[row] - origin) - value[0]
            spread += cells.weights[row] * int(arrays.times[row]) * apart * apart
            row = arrays.following[row]
        value[0] += origin
        arrays.impurity[node] = 0.0 if pure else spread / weight


@part
def _describe_children(arrays, node, criterion):
    """Describe a split by its two children."""
    a, b = arrays.left[node], arrays.left[node] + 1
    weight = arrays.weight[a] + arrays.weight[b]
    arrays.weight[node], arrays.n_rows[node] = weight, arrays.n_rows[a] + arrays.n_rows[b]
    if weight == 0.0:
        return
    K, p, q = arrays.value.shape[1], arrays.weight[a] / weight, arrays.weight[b] / weight
    within = p * arrays.impurity[a] + q * arrays.impurity[b]
    if K == 1:
        apart = arrays.value[b, 0] - arrays.value[a, 0]
        arrays.value[node, 0] = arrays.value[a, 0] + q * apart
        arrays.gain[node] = p * q * apart * apart
        arrays.impurity[node] = within + arrays.gain[node]
        return
    for k in range(K):
        arrays.value[node, k] = p * arrays.value[a, k] + q * arrays.value[b, k]
    arrays.impurity[node] = impurity(arrays.value[node], criterion)
    arrays.gain[node] = max(0.0, arrays.impurity[node] - within)


@part
def _restate_leaf(arrays, cells, node, criterion):
    _describe_rows(arrays, cells, node)
    if arrays.value.shape[1] > 1 and arrays.n_rows[node] > 0:
        # added to 0, so that an entropy of -0 is 0
        arrays.impurity[node] = 0.0 + impurity(arrays.value[node], criterion)


@kernel
def restate(arrays, cells, reached, criterion):
    """Describe the `reached` nodes, in descending order: leaves by rows, others by children."""
    for node in reached:
        if arrays.left[node] >= 0:
            _describe_children(arrays, node, criterion)
        else:
            _restate_leaf(arrays, cells, node, criterion)


@kernel
def reach(arrays, cells, at, gone, number, leaf, reached):
    """Find the leaves of rows that come and go, and the nodes on the paths to them.

    Parameters
    ----------
    arrays, cells
    at, gone : (m,), (k,) int64
        The places of the rows.
    number : int
        The number of the update.
    leaf : (m + k,) int64
        Receives the leaves.
    reached : (room,) int32
        Receives the nodes, those with new rows first.

    Returns
    -------
    Numbers of nodes with new rows, and of nodes.
    """
    m = len(at)
    find_leaves(arrays, cells, at, leaf[:m])
    find_leaves(arrays, cells, gone, leaf[m:])
    n_new = mark_paths(arrays, leaf[:m], number, reached, 0)
    return n_new, mark_paths(arrays, leaf[m:], number, reached, n_new)


@kernel
def come_and_go(arrays, cells, at, gone, leaf, reached, criterion):
    """Chain the rows `at` and release those `gone`; describe the `reached` nodes, descending.

    The first of the leaves (m + k,) are those of `at`.
    """
    m = len(at)
    release_rows(arrays, gone, leaf[m:])
    chain_rows(arrays, at, leaf[:m])
    restate(arrays, cells, reached, criterion)


@kernel
def choose_cuts(arrays, reached, has_new, revised, grown, min_leaf, number, cut, searched):
    """Write which of the `reached` nodes (m,) become leaves, and which leaves are searched.

    A split is removed if it was made on fewer than `revised` rows and a new row has come to its
    node, which has `grown` times as many; or if a child has fewer than `min_leaf`.  Nodes below it
    are neither.  A leaf is searched where a new row has come, or a split was removed.  `number` is
    that of the update.
    """
    for j in range(len(reached)):
        i = reached[j]
        child, since = arrays.left[i], arrays.n_at_split[i]
        if child >= 0:
            outdated = has_new[j] and since < revised and arrays.n_rows[i] >= grown * since
            fewest = min(arrays.n_rows[child], arrays.n_rows[child + 1])
            if outdated or fewest < min_leaf:
                arrays.mark[i] = -number
    for j in range(len(reached)):
        i = reached[j]
        above = arrays.parent[i]
        while above >= 0 and arrays.mark[above] != -number:
            above = arrays.parent[above]
        cut[j] = above < 0 and arrays.mark[i] == -number
        searched[j] = cut[j] or (above < 0 and arrays.left[i] < 0 and has_new[j])


@part
def _rows_below(arrays, node, waiting, rows, levels):
    """Write the rows of all leaves below a node to `rows`; return their number, and of splits.

    The nodes below are taken from the numbers of nodes by depth, `levels`.  waiting (depth + 2,) is
    scratch.
    """
    n_rows, n_splits, n_waiting = 0, 0, 1
    waiting[0] = node
    while n_waiting > 0:
        n_waiting -= 1
        here = waiting[n_waiting]
        child = arrays.left[here]
        if child >= 0:
            n_splits += 1
            levels[arrays.depth[child]] -= 2
            waiting[n_waiting], waiting[n_waiting + 1] = child, child + 1
            n_waiting += 2
            continue
        row = arrays.head[here]
        while row >= 0:
            rows[n_rows] = np.uint64(row)
            n_rows += 1
            row = arrays.following[row]
    return n_rows, n_splits


@kernel
def become_leaves(arrays, cells, nodes, waiting, rows, levels, criterion):
    """Make leaves of these nodes (m,), none of which is below another; return the splits removed.

    waiting (depth + 2,) int64 and rows (≥ those of a node,) uint64 are scratch; `levels` has the
    numbers of nodes by depth.
    """
    removed = 0
    for node in nodes:
        n_rows, n_splits = _rows_below(arrays, node, waiting, rows, levels)
        removed += n_splits
        arrays.left[node], arrays.threshold[node], arrays.size[node] = -1, np.nan, 0
        arrays.gain[node], arrays.order[node], arrays.head[node] = 0.0, 0, -1
        sort_keys(rows, n_rows)
        for i in range(n_rows):
            row = np.int64(rows[i])
            arrays.following[row] = arrays.head[node]
            arrays.head[node] = row
        _restate_leaf(arrays, cells, node, criterion)
    return removed


@kernel
def gather_leaves(arrays, leaves, state, rows, sizes):
    """Write the rows of the leaves (m,), in random order, one leaf after the other.

    `state` (4,) is advanced.  Writes rows (≥ those of all leaves,) int64 and sizes (m,) int64;
    returns how many rows there are.
    """
    end = 0
    for j in range(len(leaves)):
        begin, row = end, arrays.head[leaves[j]]
        while row >= 0:
            rows[end] = row
            end += 1
            row = arrays.following[row]
        sizes[j] = end - begin
        # the chain is in descending order; its rows are drawn from the ascending one
        for i in range(sizes[j] // 2):
            rows[begin + i], rows[end - 1 - i] = rows[end - 1 - i], rows[begin + i]
        shuffle_front(state, rows[begin:end], sizes[j])
    return end
