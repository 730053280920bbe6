"""Send rows down the trees: leaves and predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.forest import Forest
from odrf.engine.parallel import in_order, row_blocks

__all__ = ["leaf_nodes", "leaf_of", "predict"]


@kernel
def leaf_of(X, row, node, left, threshold, start, index, coef):
    """Return the leaf that `row` of X (p, n) reaches from `node`."""
    while left[node] >= 0:
        projected = 0.0
        for at in range(start[node], start[node + 1]):
            projected += coef[at] * X[index[at], row]
        node = left[node] if projected <= threshold[node] else left[node] + 1
    return node


@kernel
def _leaves(X, lo, hi, root, left, threshold, start, index, coef, out):
    for row in range(lo, hi):
        for b in range(len(root) - 1):
            out[row, b] = leaf_of(X, row, root[b], left, threshold, start, index, coef)


@kernel
def _means(X, lo, hi, root, left, threshold, start, index, coef, value, out):
    n_trees = len(root) - 1
    for row in range(lo, hi):
        for b in range(n_trees):
            leaf = leaf_of(X, row, root[b], left, threshold, start, index, coef)
            for k in range(value.shape[1]):
                out[row, k] += value[leaf, k]
        for k in range(value.shape[1]):
            out[row, k] /= n_trees


def leaf_nodes(forest: Forest, X: NDArray[np.float64], n_jobs: int) -> NDArray[np.int64]:
    """Return the node (n, B) in which each row of X (p, n) ends in each tree."""
    out = np.empty((X.shape[1], forest.n_trees), dtype=np.int64)

    def run(block: slice) -> None:
        _leaves(X, block.start, block.stop, *_paths(forest), out)

    for _ in in_order(run, row_blocks(X.shape[1]), n_jobs):
        pass
    return out


def predict(forest: Forest, X: NDArray[np.float64], n_jobs: int) -> NDArray[np.float64]:
    """Return the mean (n, K) over the trees of the value of each row's leaf.

    For classes this averages the leaves' proportions; equation (4.1) of Zhan, Liu and Xia.
    """
    out = np.zeros((X.shape[1], forest.value.shape[1]))

    def run(block: slice) -> None:
        _means(X, block.start, block.stop, *_paths(forest), forest.value, out)

    for _ in in_order(run, row_blocks(X.shape[1]), n_jobs):
        pass
    return out


def _paths(forest: Forest) -> tuple[NDArray, ...]:
    return (
        forest.root,
        forest.left,
        forest.threshold,
        forest.start,
        forest.index,
        forest.coef,
    )
