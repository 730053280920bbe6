"""How often rows share leaves, and the weights of training rows in a prediction."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.parallel import end_if_stopped, row_blocks
from odrf.engine.trees.leaf_quantiles import LeafMembers

__all__ = ["leaf_indicators", "most_pairs", "prediction_weights", "shared", "shared_out_of_bag"]

Sparse: TypeAlias = "scipy.sparse.csr_array"
# Rows of which the pairs are counted together.
ROWS = 1024


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
    rows = np.repeat(np.arange(n), B)
    kept = slice(None) if used is None else used.T.ravel()
    ones = np.ones(n * B)[kept]
    return scipy.sparse.csr_array((ones, (rows[kept], leaves.ravel()[kept])), shape=(n, n_nodes))


def most_pairs(first: Sparse, second: Sparse) -> int:
    """Return an upper bound of the number of pairs of rows that share a leaf."""
    counts = [np.asarray(each.sum(axis=0)).ravel() for each in (first, second)]
    return int(min(counts[0] @ counts[1], first.shape[0] * second.shape[0]))


def shared(first: Sparse, second: Sparse, n_trees: int) -> Sparse:
    """Return the share of the trees in which rows (m) and rows (n) are in one leaf, (m, n)."""
    return scipy.sparse.csr_array(first @ second.T) / n_trees


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
    both = scipy.sparse.csr_array(indicators @ indicators.T)
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
    return scipy.sparse.csr_array(scale @ indicators @ shares)
