"""Prices of a leaf for a forest: common ones, or for each tree what its own unseen rows say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.rows.draws import Draws
from odrf.engine.trees.forest_arrays import Forest
from odrf.pruning.choosing import MINIMUM, chosen
from odrf.pruning.held_out import held_out

__all__ = ["common_alphas", "unseen_alphas"]

# Common prices that are tried: each leaves about as much smaller a forest as the one before.
STEPS = 20


def common_alphas(prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return prices of a leaf, rising from 0, at which fewer and fewer splits are left, then none.

    Parameters
    ----------
    prices : (m,) float64
        Price of each split of all trees; 0 where there is none.
    """
    dear = np.sort(prices[prices > 0])
    if len(dear) == 0:
        return np.zeros(1)
    kept = np.geomspace(len(dear), 1, STEPS).round().astype(np.int64)[1:]
    return np.unique(
        np.concatenate([[0.0], dear[len(dear) - 1 - kept[kept < len(dear)]], dear[-1:]])
    )


def unseen_alphas(
    forest: Forest,
    prices: NDArray[np.float64],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    draws: Draws,
) -> NDArray[np.float64]:
    """Return for each tree (B,) the α at which the rows that it did not draw find it best.

    Parameters
    ----------
    forest : Forest
    prices : (m,) float64
        Price of each split; 0 where there is none.
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
        own = prices[forest.root[b] : forest.root[b + 1]]
        alpha = np.unique(np.append(0.0, own))
        judged = held_out(forest.tree(b), own, alpha, X[:, unseen], y[unseen], weights[unseen])
        return float(alpha[chosen(judged.mean, judged.standard_error, MINIMUM)])

    return np.array(list(in_order(best, range(forest.n_trees), draws.n_jobs)))
