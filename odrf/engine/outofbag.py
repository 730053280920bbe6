"""What each tree says of the rows it did not draw: predictions, error path, permutations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, part
from odrf.engine.forest import Forest
from odrf.engine.parallel import in_order, row_blocks
from odrf.engine.randomness import shuffle_front
from odrf.engine.routing import leaf_of, rows_of
from odrf.engine.sampling import Sampling, draw_counts

__all__ = ["OutOfBag", "out_of_bag", "permutation_loss"]


class OutOfBag(NamedTuple):
    """Out-of-bag results of a forest.

    Attributes
    ----------
    value : (n, K) float64
        Mean leaf value over the trees that did not draw the row; NaN where every tree did.
    votes : (n,) int64
        Number of those trees.
    error_path : (B,) float64
        Weighted mean loss (squared error; 0-1 for classes) of the first b trees' out-of-bag
        predictions, over the rows that have one.
    """

    value: NDArray[np.float64]
    votes: NDArray[np.int64]
    error_path: NDArray[np.float64]


@allocating
def _undrawn(state, weights, sampling):
    return draw_counts(state, weights, sampling) == 0


@part
def _loss(value, y, classes):
    """Squared error of value[0], or whether the first largest of `value` (K,) is not class y."""
    if not classes:
        return (value[0] - y) ** 2
    largest = 0
    for k in range(1, len(value)):
        if value[k] > value[largest]:
            largest = k
    return 0.0 if largest == int(y) else 1.0


@allocating
def _accumulate(X, y, weights, lo, hi, undrawn, packed, value, classes, out, votes, path):
    """Add up the rows lo … hi, tree by tree; path (B, 2) gathers weighted losses and weights."""
    root, words, floats = packed
    n_classes = value.shape[1]
    mean = np.empty(n_classes)
    rows = rows_of(X, lo, hi)
    for row in range(lo, hi):
        loss = 0.0
        for b in range(len(root)):
            if undrawn[b, row]:
                leaf = leaf_of(rows, row - lo, root[b], words, floats)
                votes[row] += 1
                for k in range(n_classes):
                    out[row, k] += value[leaf, k]
                    mean[k] = out[row, k] / votes[row]
                loss = _loss(mean, y[row], classes)
            if votes[row] > 0:
                path[b, 0] += weights[row] * loss
                path[b, 1] += weights[row]
        for k in range(n_classes):
            out[row, k] = out[row, k] / votes[row] if votes[row] > 0 else np.nan


@part
def _exchange(X, rows, first, last, own):
    """Copy rows of X (p, n) to own (m, p), the predictor columns first … last only."""
    for j in range(first, last):
        for i in range(len(rows)):
            own[i, j] = X[j, rows[i]]


@allocating
def _permuted_losses(X, y, weights, rows, first, state, index, packed, value, classes, out):
    """Write to out (P,) the rise of a tree's loss on `rows` when each predictor is permuted."""
    root, words, floats = packed
    n_predictors = len(first) - 1
    used = np.zeros(X.shape[0], dtype=np.bool_)
    for column in index:
        used[column] = True
    own = np.empty((len(rows), X.shape[0]), dtype=np.float32)
    _exchange(X, rows, 0, X.shape[0], own)
    base, total = np.empty(len(rows)), 0.0
    for i in range(len(rows)):
        leaf = leaf_of(own, i, root[0], words, floats)
        base[i] = _loss(value[leaf], y[rows[i]], classes)
        total += weights[rows[i]]
    permuted = rows.copy()
    for j in range(n_predictors):
        if total <= 0.0 or not used[first[j] : first[j + 1]].any():
            continue
        shuffle_front(state, permuted, len(permuted))
        _exchange(X, permuted, first[j], first[j + 1], own)
        rise = 0.0
        for i in range(len(rows)):
            leaf = leaf_of(own, i, root[0], words, floats)
            rise += weights[rows[i]] * (_loss(value[leaf], y[rows[i]], classes) - base[i])
        _exchange(X, rows, first[j], first[j + 1], own)
        out[j] = rise / total


def out_of_bag(
    forest: Forest,
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    streams: NDArray[np.uint64],
    n_jobs: int,
) -> OutOfBag:
    """Predict every training row by the trees that did not draw it.

    The draws are not kept: each tree's `streams` (B, 4) repeat them.
    """
    n, K = X.shape[1], forest.value.shape[1]
    undrawn = np.empty((forest.n_trees, n), dtype=np.bool_)

    def redraw(b: int) -> None:
        undrawn[b] = _undrawn(streams[b].copy(), weights, sampling)

    for _ in in_order(redraw, range(forest.n_trees), n_jobs):
        pass
    value, votes = np.zeros((n, K)), np.zeros(n, dtype=np.int64)
    packed = forest.packed

    def run(block: slice) -> NDArray[np.float64]:
        path = np.zeros((forest.n_trees, 2))
        _accumulate(
            X, y, weights, block.start, block.stop, undrawn, packed,
            forest.value, K > 1, value, votes, path,
        )  # fmt: skip
        return path

    path = sum(in_order(run, row_blocks(n), n_jobs), np.zeros((forest.n_trees, 2)))
    with np.errstate(invalid="ignore"):
        return OutOfBag(value, votes, path[:, 0] / path[:, 1])


def permutation_loss(
    forest: Forest,
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: NDArray[np.int64],
    sampling: Sampling,
    streams: NDArray[np.uint64],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the rise (B, P) of each tree's out-of-bag loss when a predictor is permuted.

    All columns ``first[j]:first[j + 1]`` of predictor j move together, among the tree's
    out-of-bag rows (Breiman 2001, section 10).  A predictor the tree does not use has rise 0.
    """
    rise = np.zeros((forest.n_trees, len(first) - 1))

    def run(b: int) -> None:
        state = streams[b].copy()
        rows = np.nonzero(_undrawn(state, weights, sampling))[0]
        tree = forest.tree(b)
        _permuted_losses(
            X, y, weights, rows, first, state, tree.index, tree.packed, tree.value,
            tree.value.shape[1] > 1, rise[b],
        )  # fmt: skip

    for _ in in_order(run, range(forest.n_trees), n_jobs):
        pass
    return rise
