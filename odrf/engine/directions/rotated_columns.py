"""Trees grown on rotated columns: all columns of a tree multiplied by an orthogonal matrix.

A split on a rotated column is a split along a column of the matrix.  The rotated columns are
computed once for the whole tree, in float32 and in the order in which routing adds terms: so
training and prediction agree exactly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import PLAIN, FeatureGroups
from odrf.engine.rows.rows import Rows
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["rotated_back", "rotated_feature_groups", "rotated_rows"]

# Rows that are rotated at a time: few enough for all their columns to stay in the cache.
ABREAST = 256


@kernel
def _rotate(X, matrix, out):
    """Write Σ_k matrix[k, j]·X[k] to out[j], all float32, for every j."""
    p, n = np.uint64(X.shape[0]), np.uint64(X.shape[1])
    for first in range(np.uint64(0), n, np.uint64(ABREAST)):
        last = min(first + np.uint64(ABREAST), n)
        for j in range(p):
            for i in range(first, last):
                out[j, i] = np.float32(0.0)
            for k in range(p):
                coefficient = matrix[k, j]
                if coefficient != np.float32(0.0):
                    for i in range(first, last):
                        out[j, i] += coefficient * X[k, i]


def rotated_rows(rows: Rows, matrix: NDArray[np.float32]) -> Rows:
    """Return the rows with their columns rotated by the orthogonal matrix (p, p)."""
    X = np.empty_like(rows.X)
    _rotate(rows.X, matrix, X)
    return rows._replace(X=X)


def rotated_feature_groups(p: int) -> FeatureGroups:
    """Return the feature groups of p rotated columns: each column is a predictor."""
    return FeatureGroups(np.arange(p + 1), np.full(p, PLAIN, dtype=np.int8))


def rotated_back(tree: Forest, matrix: NDArray[np.float32]) -> Forest:
    """Return the tree with its splits on rotated columns as directions in the original columns."""
    rotated_column, column = np.nonzero(matrix.T)
    begin = np.searchsorted(rotated_column, np.arange(len(matrix) + 1))
    n_terms = np.zeros(len(tree.left), dtype=np.int64)
    split = np.diff(tree.start) > 0
    n_terms[split] = np.diff(begin)[tree.index]
    start = np.concatenate([[0], np.cumsum(n_terms)])
    at = np.arange(start[-1])
    at += np.repeat(begin[tree.index] - start[:-1][split], n_terms[split])
    return replace(
        tree,
        start=start,
        index=column[at].astype(np.int32),
        coef=matrix[column[at], rotated_column[at]],
    )
