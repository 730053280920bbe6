"""Complexity parameters for a forest: common to all trees, or one per tree from unseen rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.rows.draws import Draws
from odrf.engine.trees.forest_arrays import Forest
from odrf.pruning.choosing import MINIMUM, chosen
from odrf.pruning.held_out import held_out

__all__ = ["common_alphas", "unseen_alphas"]

# Number of common α: the number of splits falls by about the same factor from one to the next.
STEPS = 20


def common_alphas(critical: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of α, rising from 0, that keep fewer and fewer splits; the last keeps none.

    Parameters
    ----------
    critical : (m,) float64
        Critical α of the splits of all trees; 0 where there is no split.
    """
    rising = np.sort(critical[critical > 0])
    if len(rising) == 0:
        return np.zeros(1)
    kept = np.geomspace(len(rising), 1, STEPS).round().astype(np.int64)[1:]
    return np.unique(
        np.concatenate([[0.0], rising[len(rising) - 1 - kept[kept < len(rising)]], rising[-1:]])
    )


def unseen_alphas(
    forest: Forest,
    critical: NDArray[np.float64],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    draws: Draws,
) -> NDArray[np.float64]:
    """Return for each tree (B,) the α with the smallest error on the rows that it did not draw.

    Parameters
    ----------
    forest : Forest
    critical : (m,) float64
        Critical α of each split; 0 where there is no split.
    X, y
        The training rows, as in `odrf.engine.growth.forest_growth.grow_forest`.
    draws : Draws
        How the trees drew them.
    """
    weights = draws.weights

    def best(b: int) -> float:
        unseen = draws.unseen(b)
        if not weights[unseen].any():
            return 0.0
        of_tree = critical[forest.root[b] : forest.root[b + 1]]
        alpha = np.unique(np.append(0.0, of_tree))
        held = held_out(forest.tree(b), of_tree, alpha, X[:, unseen], y[unseen], weights[unseen])
        return float(alpha[chosen(held.mean, held.standard_error, MINIMUM)])

    return np.array(list(in_order(best, range(forest.n_trees), draws.n_jobs)))
