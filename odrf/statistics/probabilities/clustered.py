"""Variances of means over rows of which whole groups are independent, not the rows."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.averaged.normal_tests import reach_in_errors

__all__ = ["effective_rows", "normal_or_t", "variance_of_groups"]

Groups = NDArray[np.int64] | None


@one_thread()
def variance_of_groups(parts: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """Return the variance of the sum of `parts` (n,), which have mean 0, of independent groups.

    The sum of the squared sums of the G groups, times G/(G - 1).  NaN for one group.
    """
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], parts)
    G = len(sums)
    return float(sums @ sums) * G / (G - 1) if G > 1 else float("nan")


def normal_or_t(level: float, groups: Groups) -> float:
    """Return how many standard errors an interval extends; by Student's t with G - 1 for G groups.

    NaN for one group.
    """
    if groups is None:
        return reach_in_errors(level)
    G = len(np.unique(groups))
    return reach_in_errors(level, G - 1) if G > 1 else float("nan")


@one_thread()
def effective_rows(
    event: NDArray[np.float64], weights: NDArray[np.float64], groups: Groups, level: float
) -> float:
    """Return how many independent rows of equal weight would tell as much of the event rate.

    Without groups, Kish's number.  With G groups, rate·(1 - rate) divided by the variance of the
    rate over groups; times the squared quotient of the quantiles of Student's t with n - 1 and with
    G - 1 degrees of freedom (Korn and Graubard 1998); at most Kish's number.  Where all rows agree,
    the groups count.

    References
    ----------
    Korn and Graubard (1998), Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data, Survey Methodology 24, 193-201.
    """
    share = weights / weights.sum()
    kish = float(1 / (share @ share))
    if groups is None:
        return kish
    G = len(np.unique(groups))
    rate = float(share @ event)
    if G < 2:
        return 1.0
    if (event == event[0]).all():
        return min(float(G), kish)
    variance = variance_of_groups(share * (event - rate), groups)
    if variance == 0:
        return kish
    tails = scipy.special.stdtrit([max(len(event) - 1, 1), G - 1], (1 + level) / 2)
    size = rate * (1 - rate) / variance * float(tails[0] / tails[1]) ** 2
    return min(max(size, 1.0), kish)
