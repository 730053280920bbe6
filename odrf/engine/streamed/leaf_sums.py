"""Sums of responses over the rows that reach each leaf and were not drawn by its tree."""

from __future__ import annotations

from odrf.engine.compiling import kernel

__all__ = ["add_to_leaves"]


@kernel
def add_to_leaves(leaves, unseen, begin, y, weights, classes, sums):
    """Add rows to the sums (nodes, K + 1) of the leaves that they reach.

    leaves (B, m) are those of the rows from `begin` on, valid where unseen (B, n) is true.  The
    first K sums of a leaf are those of weights times responses, or of the weights of each class if
    `classes`; the last one is that of the weights.
    """
    last = sums.shape[1] - 1
    for b in range(leaves.shape[0]):
        for i in range(leaves.shape[1]):
            row = begin + i
            if unseen[b, row]:
                leaf = leaves[b, i]
                if classes:
                    sums[leaf, int(y[row])] += weights[row]
                else:
                    sums[leaf, 0] += weights[row] * y[row]
                sums[leaf, last] += weights[row]
