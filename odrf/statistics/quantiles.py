"""Quantile regression forests: the distribution of a response, not only its mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.resamples import Draws
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.quantiles import forest_quantiles, leaf_members

__all__ = ["conditional_quantiles"]


def conditional_quantiles(
    forest: Forest,
    new: Matrix,
    levels: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    draws: Draws,
    predicting: NDArray[np.bool_] | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return quantiles (m, q) of the response, given the predictors `new` (p, m).

    The weight of training row i at x is w_i(x) = 1/B Σ_b N_bi·c_i·1{i in the leaf of x} /
    Σ_j N_bj·c_j·1{j in the leaf of x}, with N_bi how often the row fills tree b and c_i its case
    weight.  The weights add up to 1, and Σ w_i(x)·y_i is the forest's prediction.  The quantile at
    level q is the smallest y with Σ w_i(x)·1{y_i ≤ y} ≥ q.  (Meinshausen 2006 uses all rows of a
    leaf, drawn or not; with the rows drawn, mean and quantiles belong to one distribution.)

    The same responses that chose the splits are used for the quantiles.  With much noise and few
    training rows, a few rows have most of the weight, and outer quantiles are too close together.
    Intervals of `odrf.statistics.conformal` are calibrated; honest trees use the responses of
    other rows.

    Parameters
    ----------
    forest : Forest
        Trees for a numeric response.
    new : (p, m) float32
        Predictors of the rows to predict.
    levels : (q,) float64
        Above 0 and below 1, in any order.
    X, y
        The training rows, as in `odrf.engine.growth.forest_builder.grow_forest`.
    draws : Draws
        How the trees drew the training rows.
    predicting : (B, m) bool, optional
        Which trees predict each new row; by default all.  B is then the number of these, and the
        quantiles of a row without any are NaN.
    advance : callable
        Called with numbers of new rows when they are done.

    References
    ----------
    Meinshausen (2006), Quantile regression forests, JMLR 7, 983-999.
    """
    members = leaf_members(forest, X, draws)
    order = np.argsort(levels, kind="stable")
    out = np.empty((new.shape[1], len(levels)))
    out[:, order] = forest_quantiles(
        members, forest, y, new, levels[order], draws.n_jobs, predicting, advance
    )
    return out
