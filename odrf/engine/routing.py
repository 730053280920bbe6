"""Send rows down the trees: leaves and predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, part
from odrf.engine.forest import Forest
from odrf.engine.packing import HEAD
from odrf.engine.parallel import in_order, row_blocks

__all__ = ["leaf_nodes", "leaf_of", "predict", "rows_of"]


# Rows that walk down a tree together: their steps do not wait for each other's, and the nodes
# they meet stay in the cache.
TOGETHER = 256


@allocating
def rows_of(X, lo, hi):
    """Return the rows lo … hi of X (p, n) as (hi - lo, p): a row's values side by side."""
    out = np.empty((hi - lo, X.shape[0]), dtype=np.float32)
    for j in range(X.shape[0]):
        for i in range(hi - lo):
            out[i, j] = X[j, lo + i]
    return out


@part
def _step(rows, i, at, words, floats):
    """Return the child that row i of rows (m, p) goes to from the packed node `at`."""
    i, node, one, two = np.uint64(i), np.uint64(at), np.uint64(1), np.uint64(2)
    projected = np.float32(0.0)
    term = node + np.uint64(HEAD)
    for _ in range(words[node + np.uint64(3)]):
        projected += floats[term + one] * rows[i, np.uint64(words[term])]
        term += two
    child = words[node + np.uint64(not projected <= floats[node + two])]
    return child if child < 0 else at + child


@part
def leaf_of(rows, i, at, words, floats):
    """Return the leaf that row i of rows (m, p) reaches from the packed node `at`."""
    while at >= 0:
        at = _step(rows, i, at, words, floats)
    return -1 - at


@part
def _walk(rows, root, words, floats, active, leaves):
    """Write to leaves (≥ m,) where the rows (m, p) end, each taking a step in turn."""
    n = 0
    for i in range(len(rows)):
        active[n] = i
        leaves[i] = root
        n += root >= 0
    while n > 0:
        kept = 0
        for a in range(n):
            i = active[a]
            leaves[i] = _step(rows, i, leaves[i], words, floats)
            active[kept] = i
            kept += leaves[i] >= 0
        n = kept
    for i in range(len(rows)):
        leaves[i] = -1 - leaves[i]


@allocating
def _leaves(X, lo, hi, root, words, floats, out):
    active, leaves = np.empty((2, TOGETHER), dtype=np.int64)
    for first in range(lo, hi, TOGETHER):
        rows = rows_of(X, first, min(first + TOGETHER, hi))
        for b in range(len(root)):
            _walk(rows, root[b], words, floats, active, leaves)
            for i in range(len(rows)):
                out[first + i, b] = leaves[i]


@allocating
def _means(X, lo, hi, root, words, floats, value, out):
    K = value.shape[1]
    active, leaves = np.empty((2, TOGETHER), dtype=np.int64)
    for first in range(lo, hi, TOGETHER):
        rows = rows_of(X, first, min(first + TOGETHER, hi))
        for b in range(len(root)):
            _walk(rows, root[b], words, floats, active, leaves)
            for i in range(len(rows)):
                for k in range(K):
                    out[first + i, k] += value[leaves[i], k]
        for i in range(len(rows)):
            for k in range(K):
                out[first + i, k] /= len(root)


def leaf_nodes(forest: Forest, X: NDArray[np.float32], n_jobs: int) -> NDArray[np.int64]:
    """Return the node (n, B) in which each row of X (p, n) ends in each tree."""
    out = np.empty((X.shape[1], forest.n_trees), dtype=np.int64)
    packed = forest.packed

    def run(block: slice) -> None:
        _leaves(X, block.start, block.stop, *packed, out)

    for _ in in_order(run, row_blocks(X.shape[1]), n_jobs):
        pass
    return out


def predict(forest: Forest, X: NDArray[np.float32], n_jobs: int) -> NDArray[np.float64]:
    """Return the mean (n, K) over the trees of the value of each row's leaf.

    For classes this averages the leaves' proportions; equation (4.1) of Zhan, Liu and Xia.
    """
    out = np.zeros((X.shape[1], forest.value.shape[1]))
    packed = forest.packed

    def run(block: slice) -> None:
        _means(X, block.start, block.stop, *packed, forest.value, out)

    for _ in in_order(run, row_blocks(X.shape[1]), n_jobs):
        pass
    return out
