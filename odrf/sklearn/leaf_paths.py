"""The nodes that rows pass on their way to the leaves, as scikit-learn shows them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from odrf.engine.trees.forest import Forest

__all__ = ["passed_nodes"]


def passed_nodes(forest: Forest, leaves: NDArray[np.int64]) -> csr_matrix:
    """Return which of the m nodes of all trees each row passes, (n, m) with ones.

    Parameters
    ----------
    forest : Forest
    leaves : (n, B) int64
        The number of each row's leaf within each tree.
    """
    n, above = len(leaves), forest.parents()
    nodes = (leaves + forest.root[:-1]).ravel()
    rows = np.repeat(np.arange(n), forest.n_trees)
    passed = [(rows, nodes)]
    while len(nodes):
        nodes = above[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        passed.append((rows, nodes))
    at = tuple(np.concatenate(part) for part in zip(*passed, strict=True))
    ones = np.ones(len(at[0]), dtype=np.int64)
    return csr_matrix((ones, at), shape=(n, forest.n_nodes))
