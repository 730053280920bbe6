"""How much each training row is used in predictions, and how much it changes them."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread

__all__ = ["row_influence"]

# Weights that add up to 1 do so within this.
ROUNDING = 1e-9


@one_thread()
def row_influence(
    weights: scipy.sparse.csr_array, y: NDArray[np.float64], case_weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leverage and the influence (n,) of training rows on predictions of m rows.

    A forest predicts row i by Σ_j w_ij·y_j.  The leverage of row j is Σ_i w_ij, the predictions in
    which it counts; its mean over the rows is m/n.  As a sum over rows it may be more than 1.  The
    leverages of a linear model, the diagonal of its hat matrix, are at most 1, but out of bag this
    diagonal is 0.  Without its response, the other weights would be divided by 1 - w_ij, and the
    prediction would change by w_ij·(y_j - prediction)/(1 - w_ij).
    The influence of row j is the root of the mean square of these changes over all rows: Cook's
    distance of a linear smoother, not yet divided by the variance of the residuals.  Splits are
    kept; trees that are grown without the row may differ more.

    Parameters
    ----------
    weights : (m, n)
        The weights of the n training rows in the predictions of m rows; those of a row add up to 1,
        or are all 0.
    y : (n,) float64
        The training responses.
    case_weights : (m,) float64
        How much each of the m rows counts.

    References
    ----------
    Cook (1977), Detection of influential observation in linear regression, Technometrics 19, 15-18.

    Hastie and Tibshirani (1990), Generalized additive models, section 3.4.
    """
    m, n = weights.shape
    row = np.repeat(np.arange(m), np.diff(weights.indptr))
    known = np.bincount(row, weights.data, m) > 0
    counted = np.where(known, case_weights, 0.0)
    share = counted / counted.sum()
    predicted = np.asarray(weights @ y)
    w, of = weights.data, y[weights.indices]
    # the mean of all responses predicts a row of which only one response was known
    alone = w >= 1.0 - ROUNDING
    rest = np.where(alone, 1.0, 1.0 - w)
    change = np.where(alone, of - y.mean(), w * (of - predicted[row]) / rest)
    leverage = np.bincount(weights.indices, w * share[row], n) * known.sum()
    squares = np.bincount(weights.indices, change**2 * share[row], n)
    return leverage, np.sqrt(squares)
