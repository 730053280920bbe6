"""How often rows share leaves, and the weights of training rows in a prediction."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.memory import is_available, require_memory
from odrf.engine.running import end_if_stopped, row_blocks
from odrf.engine.trees.quantiles import LeafMembers

__all__ = ["leaf_indicators", "most_pairs", "prediction_weights", "shared", "shared_out_of_bag"]

Sparse: TypeAlias = "scipy.sparse.csr_array"
# Rows of which the pairs are counted together.
ROWS = 1024
# Bytes of an entry of a sparse matrix, and rows from which the number of entries is estimated.
ENTRY, JUDGED = 12.0, 32


def leaf_indicators(
    leaves: NDArray[np.int64], n_nodes: int, used: NDArray[np.bool_] | None = None
) -> Sparse:
    """Return which of all nodes each row reaches as a leaf: 1 or 0, (n, nodes).

    Parameters
    ----------
    leaves : (n, B) int64
        The leaf of each row in each tree, numbered over all trees.
    n_nodes : int
    used : (B, n) bool, optional
        Which trees count for each row; by default all.
    """
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
    """Return first (m, nodes) times second (nodes, n).

    Raises
    ------
    MemoryError
        Some rows of `first`, evenly apart, show that memory does not suffice for all.
    """
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


def shared_out_of_bag(indicators: Sparse, unseen: NDArray[np.bool_]) -> Sparse:
    """Return the share of the trees that drew neither of two rows in which they are in one leaf.

    Parameters
    ----------
    indicators : (n, nodes)
        Of the trees that did not draw the row.
    unseen : (B, n) bool
        Which trees did not draw each row.

    Returns
    -------
    (n, n)
        0 for two rows that no tree missed together.
    """
    both = product(indicators, scipy.sparse.csr_array(indicators.T))
    missed = unseen.T.astype(np.float32)
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

    They add up to 1, and Σ weight · response is the mean of the trees (Rhodes, Cutler and Moon
    2023, for rows out of bag).  A row without any tree has no weights.

    Parameters
    ----------
    indicators : (m, nodes)
        The leaves of the rows, in the trees that predict them.
    members : LeafMembers
        The training rows of each node.
    n : int
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
