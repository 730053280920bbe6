"""Intervals of estimates that lie between 0 and 1, from their standard errors."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

__all__ = ["limits_of_predicted_share", "limits_of_share"]

ROUNDING = 1e-12  # sums of shares are 1 but for this
# Ends of intervals of predicted probabilities are so many times as far as those of plain ones.
FARTHEST = 2.0


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


def limits_of_predicted_share(
    estimate: ArrayLike, reach: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of probabilities whose errors do not vanish where these are near 0 or 1.

    Those of means over trees are so: the number of trees adds to them.  There an error that exceeds
    the probability itself would make the end on the other side go to anywhere on the scale of the
    log odds.  So limits are those of `limits_of_share`, but at most twice as far from the estimate
    as plain ones; of an estimate of 0 or 1, plain ones, cut there.

    Parameters
    ----------
    estimate, reach
        As for `limits_of_share`.

    Examples
    --------
    >>> low, high = limits_of_predicted_share([0.5, 0.01, 0.0], [0.1, 0.05, 0.1])
    >>> low.round(3), high.round(3)
    (array([0.401, 0.   , 0.   ]), array([0.599, 0.11 , 0.1  ]))
    """
    p, reach = np.asarray(estimate, dtype=np.float64), np.asarray(reach, dtype=np.float64)
    low, high = limits_of_share(p, reach)
    inside = ~np.isnan(low)
    far = np.where(inside, FARTHEST, 1.0) * reach
    low = np.maximum(np.where(inside, low, 0.0), p - far)
    high = np.minimum(np.where(inside, high, 1.0), p + far)
    return low, high
