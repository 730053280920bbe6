"""Tests and intervals of estimates with normal errors, whose variances may be of few units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.statistics.probabilities.limits_of_shares import limits_of_predicted_share

__all__ = ["NUMBERS", "reach_in_errors", "with_errors"]

NUMBERS = ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
"""The columns of every table of estimates, after those that name them."""

# Errors that are smaller parts of the estimate are what rounding leaves of 0.
ROUNDING = 1e-14


def reach_in_errors(level: float, df: float = np.inf) -> float:
    """Return how many standard errors an interval extends to either side.

    By Student's t if the variance has `df` degrees of freedom, as one over few groups of rows has.
    """
    tail = (1 + level) / 2
    return float(scipy.special.ndtri(tail) if np.isinf(df) else scipy.special.stdtrit(df, tail))


def with_errors(
    labels: pd.DataFrame,
    estimate: NDArray[np.float64],
    std_error: NDArray[np.float64],
    level: float,
    null: float = 0.0,
    df: float = np.inf,
    probabilities: bool = False,
) -> pd.DataFrame:
    """Return labels and estimates (M,) with tests of `null` and intervals.

    They are by Student's t with `df` degrees of freedom, by default normal.  Without standard
    errors (NaN), tests and intervals are NaN, too; also where the error is 0: the trees then agree,
    which does not make the estimate certain.  Intervals of `probabilities` are those of
    `odrf.statistics.probabilities.limits_of_shares.limits_of_predicted_share`.
    """
    law = scipy.stats.t(df)
    std_error = np.where(std_error <= ROUNDING * np.abs(estimate), 0.0, std_error)
    spread = np.where(std_error > 0, std_error, np.nan)
    half = reach_in_errors(level, df) * spread
    statistic = (estimate - null) / spread
    p_value = 2 * law.sf(np.abs(statistic))
    ends = estimate - half, estimate + half
    if probabilities:
        ends = limits_of_predicted_share(estimate, half)
    columns = (estimate, std_error, statistic, p_value, *ends)
    return labels.assign(**dict(zip(NUMBERS, columns, strict=True)))
