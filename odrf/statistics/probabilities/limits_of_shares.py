"""Intervals of estimates that lie between 0 and 1, from their standard errors."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

__all__ = ["limits_of_share"]

ROUNDING = 1e-12  # sums of shares are 1 but for this


def limits_of_share(
    estimate: ArrayLike, reach: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of estimates between 0 and 1, such as C, areas, scores, probabilities.

    They are symmetric on the scale of log(p/(1 - p)), where an error of p is one of 1/(p·(1 - p))
    times its size (delta method): so they never pass 0 or 1, and extend further to the side where
    there is more room.

    Parameters
    ----------
    estimate : float64, of any shape
    reach : float64, of the same shape
        Half the length of the interval that is symmetric for p: some standard errors.

    Returns
    -------
    low, high : float64, of this shape
        NaN where the estimate is 0 or 1, where the scale ends, or beyond.

    Examples
    --------
    >>> low, high = limits_of_share([0.5, 0.95], [0.1, 0.1])
    >>> low.round(3), high.round(3)
    (array([0.401, 0.698]), array([0.599, 0.994]))
    """
    p = np.asarray(estimate, dtype=np.float64)
    p = np.where((p > ROUNDING) & (p < 1 - ROUNDING), p, np.nan)
    half = np.asarray(reach) / (p * (1 - p))
    middle = scipy.special.logit(p)
    return scipy.special.expit(middle - half), scipy.special.expit(middle + half)
