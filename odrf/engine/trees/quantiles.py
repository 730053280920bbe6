"""Conditional quantiles from the training rows that share leaves with a new row (Meinshausen 2006).

In an honest tree these are the rows that fill its leaves, as its values are computed from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.resamples import Draws, rows_drawn_once
from odrf.engine.running import in_blocks, in_order, row_blocks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaves_of, routing_blocks

# New rows whose leaves are held in memory at a time.
BLOCK = 1024
# Bytes of an entry of `LeafMembers`.
OF_ENTRY = 4 + 8

# Relative tolerance, so that rounding does not keep a sum of shares below its level.
SLACK = 1e-10


class LeafMembers(NamedTuple):
    """The training rows in the leaves of each tree, for all m nodes of a forest.

    `start`, `end` (m,): node i has the entries ``start[i]:end[i]``: its rows or, if it has none,
    those of the nearest ancestor that has rows, from which its value comes too.  `row` (z,):
    numbers of training rows.  `weight` (z,): their case weights; a row drawn twice has twice the
    weight.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    row: NDArray[np.int32]
    weight: NDArray[np.float64]


@kernel
def _place(left, size, start, end):
    """Write to start and end (m,) the range of each node's rows; those of a branch are adjacent.

    size (m,) holds the number of rows in each leaf, 0 elsewhere; it is overwritten by the number of
    rows of each node.  A node without rows has the range of its parent.
    """
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            size[node] = size[left[node]] + size[left[node] + 1]
    start[0], end[0] = 0, size[0]
    for node in range(len(left)):
        begin = start[node]
        if left[node] >= 0:
            for child in range(left[node], left[node] + 2):
                start[child], end[child] = begin, begin + size[child]
                begin = end[child]
                if size[child] == 0:
                    start[child], end[child] = start[node], end[node]


@kernel
def _quantiles(leaves, start, end, row, weight, y, levels, mass, out):
    """Write to out (m, q) the quantiles, at the ascending `levels` (q,), for the rows of `leaves`.

    leaves (B, m) are the leaves of the new rows; y (n,) are the training responses in ascending
    order, which `row` refers to; mass (n,) is scratch.  A negative leaf is that of a tree that does
    not predict the row; without any other, the quantiles are NaN.
    """
    largest = len(y) - 1
    for i in range(leaves.shape[1]):
        total = 0.0
        for j in range(len(mass)):
            mass[j] = 0.0
        for b in range(leaves.shape[0]):
            if leaves[b, i] < 0:
                continue
            first, last, leaf_weight = start[leaves[b, i]], end[leaves[b, i]], 0.0
            for k in range(first, last):
                leaf_weight += weight[k]
            for k in range(first, last):
                mass[row[k]] += weight[k] / leaf_weight
                total += weight[k] / leaf_weight
        at, reached = 0, mass[0]
        for q in range(len(levels)):
            wanted = levels[q] * total * (1.0 - SLACK)
            while reached < wanted and at < largest:
                at += 1
                reached += mass[at]
            out[i, q] = y[at] if total > 0.0 else np.nan


def leaf_members(forest: Forest, X: Matrix, draws: Draws) -> LeafMembers:
    """Return which rows of X (p, n) are in which leaf of each tree, drawn as `draws` repeats."""
    n = int(np.count_nonzero(draws.weights))
    entries = [rows_drawn_once(sampling, n) for sampling in draws.samplings]
    require_memory(
        OF_ENTRY * sum(entries),
        f"which of {n} rows are in which leaf of {forest.n_trees} trees",
        "use fewer trees (n_trees=) or rows",
    )
    packed, blocks = forest.packed_for(X), routing_blocks(forest, X, 1)

    def sort(b: int) -> LeafMembers:
        counts = draws.filling(b)
        tree = packed._replace(root=packed.root[b : b + 1])
        drawn = np.flatnonzero(counts)
        root, end_of_tree = forest.root[b : b + 2]
        every = [leaves_of(tree, X, block, counts[None] > 0)[0] for block in blocks]
        leaf = np.concatenate(every)[drawn] - root
        left = forest.left[root:end_of_tree]
        size = np.bincount(leaf, minlength=len(left))
        start, end = np.zeros_like(size), np.zeros_like(size)
        _place(np.where(left >= 0, left - root, -1), size, start, end)
        order = np.argsort(start[leaf], kind="stable")
        rows = drawn[order]
        return LeafMembers(start, end, rows.astype(np.int32), (counts * draws.weights)[rows])

    sorted_trees = list(in_order(sort, range(forest.n_trees), draws.n_jobs))
    before = np.cumsum([0, *(len(tree.row) for tree in sorted_trees[:-1])])
    offset = np.repeat(before, np.diff(forest.root))
    start, end, row, weight = (np.concatenate(parts) for parts in zip(*sorted_trees, strict=True))
    return LeafMembers(start + offset, end + offset, row, weight)


def forest_quantiles(
    members: LeafMembers,
    forest: Forest,
    y: NDArray[np.float64],
    X: Matrix,
    levels: NDArray[np.float64],
    n_jobs: int,
    predicting: NDArray[np.bool_] | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the conditional quantiles (m, q) of the response for the new rows X (p, m).

    The weight of a training row is its share of the weight of the new row's leaf, summed over the
    trees: all, or those that are `predicting` (B, m) the new row.  The quantile is the smallest
    response of y (n,) up to which the weights reach the level; `levels` (q,) are ascending.
    `advance` is called with numbers of new rows when they are done.
    """
    order = np.argsort(y, kind="stable")
    place = np.empty(len(y), dtype=np.int32)
    place[order] = np.arange(len(y))
    row, ascending = place[members.row], y[order]
    out = np.empty((X.shape[1], len(levels)))

    def run(block: slice) -> None:
        leaves = leaves_of(forest.packed_for(X), X, block)
        if predicting is not None:
            leaves[~predicting[:, block]] = -1
        mass = np.empty(len(y))
        of_leaves = members.start, members.end, row, members.weight
        _quantiles(leaves, *of_leaves, ascending, levels, mass, out[block])

    for _ in in_blocks(run, row_blocks(X.shape[1], BLOCK), n_jobs, advance):
        pass
    return out
