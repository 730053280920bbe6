"""Sums over boosted trees: what the leaves that a row reaches add up to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.forest import Forest
from odrf.engine.parallel import in_order
from odrf.engine.routing import leaves_of, routing_blocks

__all__ = ["added_up", "added_up_by_round"]


@kernel
def _add(leaves, value, first, last, out):
    """Add to out (K, m) the values (m,) of the leaves (B, m) of the trees from `first` to `last`.

    Tree b is of output b modulo K; trees are added in their order.
    """
    K = np.uint64(len(out))
    for b in range(np.uint64(first), np.uint64(last)):
        k = b % K
        for i in range(np.uint64(leaves.shape[1])):
            out[k, i] += value[np.uint64(leaves[b, i]), 0]


def added_up(
    forest: Forest, X: NDArray[np.float32], start: NDArray[np.float64], n_jobs: int
) -> NDArray[np.float64]:
    """Return the scores (K, n) of each row of X (p, n).

    Parameters
    ----------
    forest : Forest
        Round after round, one tree for each of the K outputs; values (m, 1).
    X : (p, n) float32
    start : (K,) float64
        Scores before the first round.
    n_jobs : int
        Threads; the sums are the same for any number.
    """
    out = np.empty((len(start), X.shape[1]))
    for block, leaves in _sent(forest, X, n_jobs):
        own = np.repeat(start[:, None], leaves.shape[1], axis=1)
        _add(leaves, forest.value, 0, forest.n_trees, own)
        out[:, block] = own
    return out


def added_up_by_round(
    forest: Forest, X: NDArray[np.float32], start: NDArray[np.float64], n_jobs: int
) -> NDArray[np.float64]:
    """Return the scores (R, K, n) after each of the R rounds; arguments as of `added_up`."""
    K = len(start)
    out = np.empty((forest.n_trees // K, K, X.shape[1]))
    for block, leaves in _sent(forest, X, n_jobs):
        own = np.repeat(start[:, None], leaves.shape[1], axis=1)
        for r in range(len(out)):
            _add(leaves, forest.value, r * K, (r + 1) * K, own)
            out[r, :, block] = own
    return out


def _sent(forest, X, n_jobs):
    """Yield each block of rows and its leaves (B, m)."""
    packed = forest.packed

    def send(block):
        return block, leaves_of(packed, X, block)

    yield from in_order(send, routing_blocks(forest, X, n_jobs), n_jobs)
