"""The training rows that share leaves with new ones, and what their responses say.

Of an honest tree those are the rows that fill its leaves, as its values are theirs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.parallel import in_order, row_blocks
from odrf.engine.rows.draws import Draws
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaves_of

__all__ = ["LeafMates", "leaf_mates", "quantiles_among"]

# New rows whose leaves are held at a time.
BLOCK = 1024

# Shares that add up to a level but for rounding do add up to it.
SLACK = 1e-10


class LeafMates(NamedTuple):
    """The rows that fill the leaves of each tree, for all m nodes of a forest.

    Attributes
    ----------
    start, end : (m,) int64
        Node i has the entries ``start[i]:end[i]``: its rows, or, as its value, those of the
        nearest node above that has some.
    row : (z,) int32
        Training rows.
    weight : (z,) float64
        Their case weights, a row drawn twice weighing double.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    row: NDArray[np.int32]
    weight: NDArray[np.float64]


@kernel
def _place(left, size, start, end):
    """Write to start and end (m,) where each node's rows are, those of a branch together.

    size (m,) holds how many rows end in each leaf, 0 elsewhere; it becomes the rows of each node.
    A node without any has the place of its parent's.
    """
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            size[node] = size[left[node]] + size[left[node] + 1]
    start[0], end[0] = 0, size[0]
    for node in range(len(left)):
        at = start[node]
        if left[node] >= 0:
            for child in range(left[node], left[node] + 2):
                start[child], end[child] = at, at + size[child]
                at = end[child]
                if size[child] == 0:
                    start[child], end[child] = start[node], end[node]


@kernel
def _quantiles(leaves, start, end, row, weight, y, levels, mass, out):
    """Write to out (m, q) the quantiles at the rising `levels` (q,) of rows' leaf mates.

    leaves (B, m) are the rows' own; y (n,) rises, and `row` counts along it; mass (n,) is
    overwritten.
    """
    last = len(y) - 1
    for i in range(leaves.shape[1]):
        total = 0.0
        for j in range(len(mass)):
            mass[j] = 0.0
        for b in range(leaves.shape[0]):
            first, behind, whole = start[leaves[b, i]], end[leaves[b, i]], 0.0
            for k in range(first, behind):
                whole += weight[k]
            for k in range(first, behind):
                mass[row[k]] += weight[k] / whole
                total += weight[k] / whole
        at, reached = 0, mass[0]
        for q in range(len(levels)):
            wanted = levels[q] * total * (1.0 - SLACK)
            while reached < wanted and at < last:
                at += 1
                reached += mass[at]
            out[i, q] = y[at]


def leaf_mates(
    forest: Forest,
    X: NDArray[np.float32],
    draws: Draws,
) -> LeafMates:
    """Sort the rows of X (p, n) that fill each tree, by its `draws`, by the leaves they are in."""
    packed = forest.packed
    every = slice(0, X.shape[1])

    def sort(b: int) -> LeafMates:
        counts = draws.filling(b)
        one = packed._replace(root=packed.root[b : b + 1])
        drawn = np.flatnonzero(counts)
        root, behind = forest.root[b : b + 2]
        leaf = leaves_of(one, X, every, counts[None] > 0)[0, drawn] - root
        left = forest.left[root:behind]
        size = np.bincount(leaf, minlength=len(left))
        start, end = np.zeros_like(size), np.zeros_like(size)
        _place(np.where(left >= 0, left - root, -1), size, start, end)
        order = np.argsort(start[leaf], kind="stable")
        rows = drawn[order]
        return LeafMates(start, end, rows.astype(np.int32), (counts * draws.weights)[rows])

    sorted_trees = list(in_order(sort, range(forest.n_trees), draws.n_jobs))
    before = np.cumsum([0, *(len(tree.row) for tree in sorted_trees[:-1])])
    offset = np.repeat(before, np.diff(forest.root))
    start, end, row, weight = (np.concatenate(parts) for parts in zip(*sorted_trees, strict=True))
    return LeafMates(start + offset, end + offset, row, weight)


def quantiles_among(
    mates: LeafMates,
    forest: Forest,
    y: NDArray[np.float64],
    X: NDArray[np.float32],
    levels: NDArray[np.float64],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the quantiles (m, q) of the responses y (n,) of each new row's leaf mates.

    A mate weighs as much as its shares of the leaves of all trees add up to, and the quantile is
    the least response up to which mates have the part `levels` (q,), rising, of the weight.
    X (p, m) are the new rows.
    """
    order = np.argsort(y, kind="stable")
    place = np.empty(len(y), dtype=np.int32)
    place[order] = np.arange(len(y))
    row, rising = place[mates.row], y[order]
    out = np.empty((X.shape[1], len(levels)))

    def run(block: slice) -> None:
        leaves = leaves_of(forest.packed, X, block)
        mass = np.empty(len(y))
        _quantiles(
            leaves, mates.start, mates.end, row, mates.weight, rising, levels, mass, out[block]
        )

    for _ in in_order(run, row_blocks(X.shape[1], BLOCK), n_jobs):
        pass
    return out
