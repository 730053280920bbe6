"""Sums over the rows in leaves, row by row."""

from __future__ import annotations

import numpy as np

__all__ = ["leaf_sums"]


def leaf_sums(leaves, unseen, y, weights, n_nodes, n_classes):
    """Return sums of responses, or of classes, and of weights, of each node (nodes, K + 1)."""
    sums = np.zeros((n_nodes, n_classes + 1))
    for b, of_tree in enumerate(leaves):
        for row, leaf in enumerate(of_tree):
            if not unseen[b][row]:
                continue
            response = [y[row]] if n_classes == 1 else [y[row] == k for k in range(n_classes)]
            sums[leaf] += weights[row] * np.array([*response, 1.0])
    return sums
