"""The training rows that share leaves with new ones, and what their responses say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.forest import Forest
from odrf.engine.parallel import in_order, row_blocks
from odrf.engine.routing import leaves_of
from odrf.engine.sampling import Sampling, draw_counts

__all__ = ["LeafMates", "leaf_mates", "quantiles_among"]

# New rows whose leaves are held at a time.
BLOCK = 1024

# Shares that add up to a level but for rounding do add up to it.
SLACK = 1e-10


class LeafMates(NamedTuple):
    """The rows that each tree drew, leaf by leaf, for all m nodes of a forest.

    Attributes
    ----------
    start : (m + 1,) int64
        Node i has the entries ``start[i]:start[i + 1]``; none if rows do not end there.
    row : (z,) int32
        Training rows.
    share : (z,) float64
        Each one's part of the weight in its leaf, a row drawn twice weighing double.
    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    share: NDArray[np.float64]


@kernel
def _quantiles(leaves, start, row, share, y, levels, mass, out):
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
            for k in range(start[leaves[b, i]], start[leaves[b, i] + 1]):
                mass[row[k]] += share[k]
                total += share[k]
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
    weights: NDArray[np.float64],
    samplings: Sequence[Sampling],
    streams: NDArray[np.uint64],
    n_jobs: int,
) -> LeafMates:
    """Sort the rows of X (p, n) that each tree drew by the leaves they are in.

    The draws are not kept: each tree's `streams` (B, 4) and `samplings` (B) repeat them.
    """
    packed = forest.packed
    every = slice(0, X.shape[1])

    def sort(b: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        counts = draw_counts(streams[b].copy(), weights, samplings[b])
        one = packed._replace(root=packed.root[b : b + 1])
        drawn = np.flatnonzero(counts)
        leaf = leaves_of(one, X, every, counts[None] > 0)[0, drawn] - forest.root[b]
        mass = (counts * weights)[drawn]
        n_nodes = int(forest.root[b + 1] - forest.root[b])
        share = mass / np.bincount(leaf, mass, n_nodes)[leaf]
        order = np.argsort(leaf, kind="stable")
        rows = drawn[order].astype(np.int32)
        return np.bincount(leaf, minlength=n_nodes), rows, share[order]

    sizes, rows, shares = zip(*in_order(sort, range(forest.n_trees), n_jobs), strict=True)
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return LeafMates(start, np.concatenate(rows), np.concatenate(shares))


def quantiles_among(
    mates: LeafMates,
    forest: Forest,
    y: NDArray[np.float64],
    X: NDArray[np.float32],
    levels: NDArray[np.float64],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the quantiles (m, q) of the responses y (n,) of each new row's leaf mates.

    A mate weighs as much as its shares in the leaves of all trees add up to, and the quantile is
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
        _quantiles(leaves, mates.start, row, mates.share, rising, levels, mass, out[block])

    for _ in in_order(run, row_blocks(X.shape[1], BLOCK), n_jobs):
        pass
    return out
