"""Proximities: how often rows share leaves, and what follows from it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.memory import is_available, require_memory
from odrf.engine.running import end_if_stopped, one_thread, row_blocks
from odrf.engine.trees.quantiles import LeafMembers

Floats = NDArray[np.float64]

Sparse: TypeAlias = "scipy.sparse.csr_array"
# Rows of which the pairs are counted together.
ROWS = 1024
# Bytes of an entry of a sparse matrix, and rows from which the number of entries is estimated.
ENTRY, JUDGED = 12.0, 32


def leaf_indicators(
    leaves: NDArray[np.int64], n_nodes: int, used: NDArray[np.bool_] | None = None
) -> Sparse:
    """Return which nodes of all trees each row reaches as a leaf: 1 or 0, (n, nodes)."""
    n, B = leaves.shape
    number = np.full(n, B) if used is None else used.sum(axis=0)
    require_memory(
        ENTRY * float(number.sum()),
        f"the leaves of {n} rows in {B} trees",
        "use fewer rows or trees",
    )
    kept = leaves.ravel() if used is None else leaves[used.T]
    ends = np.concatenate([[0], np.cumsum(number)])
    return scipy.sparse.csr_array((np.ones(len(kept)), kept, ends), shape=(n, n_nodes))


def most_pairs(first: Sparse, second: Sparse) -> int:
    """Return an upper bound of the number of pairs of rows that share a leaf."""
    counts = [np.asarray(each.sum(axis=0)).ravel() for each in (first, second)]
    return int(min(counts[0] @ counts[1], first.shape[0] * second.shape[0]))


def shared(first: Sparse, second: Sparse, n_trees: int) -> Sparse:
    """Return the share of the trees in which rows (m) and rows (n) are in one leaf, (m, n)."""
    both = product(first, scipy.sparse.csr_array(second.T))
    both.data /= n_trees
    return both


def product(first: Sparse, second: Sparse) -> Sparse:
    """Return first (m, nodes) times second (nodes, n)."""
    m, n = first.shape[0], second.shape[1]
    uses = np.bincount(first.indices, minlength=first.shape[1]).astype(np.float64)
    if not is_available(ENTRY * min(float(uses @ np.diff(second.indptr)), float(m) * n)):
        some = first[:: -(-m // JUDGED)]
        share = scipy.sparse.csr_array(some @ second).nnz / (some.shape[0] * n)
        require_memory(
            ENTRY * share * m * n,
            f"the proximities of {m} rows to {n} rows",
            "give fewer rows as newdata=",
        )
    return scipy.sparse.csr_array(first @ second)


def shared_out_of_bag(indicators: Sparse, out_of_bag: NDArray[np.bool_]) -> Sparse:
    """Return the share (n, n) of the trees that drew neither row in which both are in one leaf."""
    both = product(indicators, scipy.sparse.csr_array(indicators.T))
    missed = out_of_bag.T.astype(np.float32)
    for block in row_blocks(len(missed), ROWS):
        end_if_stopped()
        begin, end = both.indptr[block.start], both.indptr[block.stop]
        together = missed[block] @ missed.T
        row = np.repeat(
            np.arange(block.stop - block.start), np.diff(both.indptr[block.start : block.stop + 1])
        )
        both.data[begin:end] /= together[row, both.indices[begin:end]]
    return both


def prediction_weights(indicators: Sparse, members: LeafMembers, n: int) -> Sparse:
    """Return the weights (m, n) of the n training rows in the prediction of each row.

    Σ weight · response is the mean of the trees (Rhodes, Cutler and Moon 2023); none without trees.
    `indicators` (m, nodes) are of the trees that predict each row.
    """
    used = np.flatnonzero(np.asarray(indicators.sum(axis=0)).ravel())
    size = members.end[used] - members.start[used]
    at = np.repeat(members.start[used] - np.cumsum(np.r_[0, size[:-1]]), size) + np.arange(
        size.sum()
    )
    node = np.repeat(used, size)
    weight = members.weight[at]
    total = np.bincount(node, weight, indicators.shape[1])
    shares = scipy.sparse.csr_array(
        (weight / total[node], (node, members.row[at])), shape=(indicators.shape[1], n)
    )
    trees = np.asarray(indicators.sum(axis=1)).ravel()
    scale = scipy.sparse.diags_array(
        np.divide(1.0, trees, out=np.zeros_like(trees), where=trees > 0)
    )
    return product(scipy.sparse.csr_array(scale @ indicators), shares)


# What follows from proximities: prototypes, outlier scores, a map.
class PlaneOfRows(NamedTuple):
    """Coordinates `at` (n, 2), and the `share` (2,) of the squared distances that each explains."""

    at: Floats
    share: Floats


def covering_rows(proximity: Sparse, weights: Floats, k: int) -> list[int]:
    """Return k rows that are near all rows: each adds most to Σ weight_i · max proximity (n, n).

    This greedy choice reaches at least 63 % of the best sum (Nemhauser, Wolsey and Fisher 1978).
    """
    n = proximity.shape[0]
    row = np.repeat(np.arange(n), np.diff(proximity.indptr))
    reached: Floats = np.zeros(n)
    chosen: list[int] = []
    for _ in range(min(k, n)):
        gain = np.maximum(proximity.data - reached[proximity.indices], 0.0)
        total = np.bincount(row, gain * weights[proximity.indices], n)
        total[chosen] = -1.0
        best = int(np.argmax(total))
        chosen.append(best)
        own = slice(proximity.indptr[best], proximity.indptr[best + 1])
        near = proximity.indices[own]
        reached[near] = np.maximum(reached[near], proximity.data[own])
    return chosen


def outlier_scores(proximity: Sparse, group: NDArray[np.int64], least: float) -> Floats:
    """Return Breiman's outlier score (n,) of each row within its group.

    The rows of the group over the sum of squared proximities, at least `least`; minus the median,
    over the mean absolute deviation from it; 0 if all are alike.
    """
    row = np.repeat(np.arange(len(group)), np.diff(proximity.indptr))
    inside = group[row] == group[proximity.indices]
    squares = np.bincount(row[inside], proximity.data[inside] ** 2, len(group))
    size = np.bincount(group)[group]
    raw = size / np.maximum(squares, least)
    out = np.zeros(len(group))
    for g in np.unique(group):
        of_group = group == g
        off = raw[of_group] - np.median(raw[of_group])
        spread = float(np.abs(off).mean())
        out[of_group] = off / spread if spread > 0 else 0.0
    return out


@one_thread()
def scaled_to_plane(indicators: Sparse, n_trees: int, seed: int) -> PlaneOfRows:
    """Scale rows to the plane: squared distance 1 - proximity, without building these."""
    n = indicators.shape[0]
    columns = scipy.sparse.csc_array(indicators)

    def product(vector: Floats) -> Floats:
        centred = vector - vector.mean()
        image = np.asarray(columns @ (columns.T @ centred.ravel())) / (2 * n_trees)
        return np.asarray(image - image.mean())

    size = np.asarray(columns.sum(axis=0)).ravel()
    trace = (n * n_trees - float(size @ size) / n) / (2 * n_trees)
    if trace < 1e-9 * n:
        return PlaneOfRows(np.zeros((n, 2)), np.zeros(2))
    operator = scipy.sparse.linalg.LinearOperator((n, n), product, dtype=np.float64)
    start = np.random.default_rng(seed).normal(size=n)
    value, vector = scipy.sparse.linalg.eigsh(operator, k=2, v0=start)
    value, vector = np.maximum(value[::-1], 0.0), vector[:, ::-1]
    # an eigenvector has no sign: its largest entry is above 0
    largest = np.abs(vector).argmax(axis=0)
    vector = vector * np.sign(vector[largest, [0, 1]])
    return PlaneOfRows(vector * np.sqrt(value), value / trace)
