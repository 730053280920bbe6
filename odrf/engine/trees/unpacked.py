"""Predict a few rows by trees that are not packed: to pack them would take much longer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["predict_few"]


@kernel
def _add_leaves(root, left, threshold, start, index, coef, value, X, out):
    """Add to out (n, K) the values of the leaves that the rows X (p, n) reach, tree by tree."""
    for b in range(len(root) - 1):
        for i in range(X.shape[1]):
            node = root[b]
            while left[node] >= 0:
                projected = np.float32(0.0)
                for t in range(start[node], start[node + 1]):
                    projected += coef[t] * X[index[t], i]
                node = left[node] + (not projected <= threshold[node])
            for k in range(out.shape[1]):
                out[i, k] += value[node, k]


def predict_few(forest: Forest, X: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the mean over the trees (n, K), as `odrf.engine.trees.routing.predict`.

    Parameters
    ----------
    forest : Forest
        Trees without surrogates.
    X : (p, n) float32
        Predictors, an indicator for each level.
    """
    out = np.zeros((X.shape[1], forest.value.shape[1]))
    arrays = forest.root, forest.left, forest.threshold, forest.start, forest.index, forest.coef
    _add_leaves(*arrays, forest.value, X, out)
    return out / forest.n_trees
