"""What the trees of a kind say of the rows that they did not draw."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel

__all__ = ["write_own_values", "write_unseen_values"]


@kernel
def write_unseen_values(table, leaves, unseen, centre, scale, first, last, values):
    """Write the values of the trees ``first:last`` of b, centred and scaled.

    Parameters
    ----------
    table : (N, K) float64
        Values of nodes.
    leaves : (m, b) int32
        In which node each row ends in each tree.
    unseen : (m, b) bool
        Which rows a tree did not draw; what it says of others is 0.
    centre, scale : (m, K) or (1, K) float64
        Of each row, or of all: they are subtracted, and multiply the difference.
    first, last : int
    values : (m, b, K) float64
        Receives the values.
    """
    apart = np.uint64(len(centre) > 1)
    for r in range(np.uint64(len(leaves))):
        c = r * apart
        for t in range(np.uint64(first), np.uint64(last)):
            if unseen[r, t]:
                node = np.uint64(leaves[r, t])
                for k in range(np.uint64(table.shape[1])):
                    values[r, t, k] = (table[node, k] - centre[c, k]) * scale[c, k]
            else:
                for k in range(np.uint64(table.shape[1])):
                    values[r, t, k] = 0.0


@kernel
def write_own_values(table, leaves, unseen, code, first, last, own):
    """Write what the trees ``first:last`` say of the class `code` (m,) of each row.

    To own (m, b) float64; the other arguments are those of `write_unseen_values`.
    """
    for r in range(np.uint64(len(leaves))):
        k = np.uint64(code[r])
        for t in range(np.uint64(first), np.uint64(last)):
            own[r, t] = table[np.uint64(leaves[r, t]), k] if unseen[r, t] else 0.0
