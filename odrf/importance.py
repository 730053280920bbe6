"""Importance of predictors from the impurity that their splits remove."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.forest import Forest
from odrf.units import node_of_terms

__all__ = ["impurity_importance"]


def impurity_importance(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each predictor's mean impurity decrease per tree.

    A split removes w(A)·Δ_A / w(root) of its tree's impurity.  Its columns share that in
    proportion to |θ_j| (scaled units, so that no unit of measurement weighs more), and a
    predictor collects what its columns get.  Over all predictors, the importances add up to the
    mean impurity that the trees removed.

    Parameters
    ----------
    forest : Forest
        Trees, pruned or not; splits switched off do not count.
    first : (P + 1,) int64
        Predictor j owns the columns ``first[j]:first[j + 1]``.

    Returns
    -------
    (P,) float64
        In units of the criterion.
    """
    splits = forest.is_split()
    root = np.repeat(forest.root[:-1], np.diff(forest.root))
    decrease = np.where(splits, forest.weight * forest.gain / forest.weight[root], 0.0)
    node = node_of_terms(forest)
    size = np.abs(forest.coef)
    whole = np.bincount(node, weights=size, minlength=forest.n_nodes)
    column = np.bincount(
        forest.index, weights=decrease[node] * size / whole[node], minlength=int(first[-1])
    )
    return np.add.reduceat(column, first[:-1]) / forest.n_trees
