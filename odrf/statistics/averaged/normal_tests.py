"""Tests and intervals of estimates with normal errors, whose variances may be of few units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

__all__ = ["NUMBERS", "with_errors"]

NUMBERS = ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
"""The columns of every table of estimates, after those that name them."""


def with_errors(
    labels: pd.DataFrame,
    estimate: NDArray[np.float64],
    std_error: NDArray[np.float64],
    level: float,
    null: float = 0.0,
    df: float = np.inf,
) -> pd.DataFrame:
    """Return labels and estimates (M,) with tests of `null` and intervals.

    They are by Student's t with `df` degrees of freedom, by default normal.  Without standard
    errors (NaN), tests and intervals are NaN, too.
    """
    law = scipy.stats.t(df)
    half = float(law.ppf((1 + level) / 2)) * std_error
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = (estimate - null) / std_error
    p_value = 2 * law.sf(np.abs(statistic))
    columns = (estimate, std_error, statistic, p_value, estimate - half, estimate + half)
    return labels.assign(**dict(zip(NUMBERS, columns, strict=True)))
