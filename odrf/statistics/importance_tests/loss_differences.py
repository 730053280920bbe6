"""Tests that differences of losses are above 0, and their adjustment for several tests."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["ADJUSTMENTS", "ROW_TESTS", "WILCOXON", "adjusted", "judged_differences"]

T, WILCOXON = "t", "wilcoxon"
ROW_TESTS = (T, WILCOXON)
HOLM, BH = "holm", "bh"
ADJUSTMENTS = (HOLM, BH)
# Sums that are smaller, compared with those of the absolute values, are 0.
ROUNDING = 1e-12


def judged_differences(
    difference: NDArray[np.float64],
    weights: NDArray[np.float64],
    groups: NDArray[np.int64],
    test: str,
    level: float,
    inflation: float = 1.0,
) -> tuple[float, float, float, float, float, float]:
    """Return the mean of differences (n,), and test whether it is above 0.

    The rows of a group are one unit: the standard error is that of the sum over units, with as many
    degrees of freedom as units less 1.

    Parameters
    ----------
    difference, weights : (n,) float64
    groups : (n,) int64
        The unit of each row.
    test : {"t", "wilcoxon"}
        Student's t of the mean, or the signed ranks of the mean differences of the units.
    level : float
        Coverage of the interval, which has two sides and is Student's for both tests.
    inflation : float
        How many times the variance of the mean over rows the whole variance is: more than 1 if both
        losses are of trees that chance made better or worse.

    Returns
    -------
    estimate, std_error, statistic, p_value, conf_low, conf_high : float
        If the differences of each unit add up to 0, these are 0 but for a p-value of 1.
    """
    _, unit = np.unique(groups, return_inverse=True)
    estimate = float(np.average(difference, weights=weights))
    off = np.bincount(unit, weights * (difference - estimate))
    G = len(off)
    std_error = float(np.sqrt(inflation * G / (G - 1) * (off**2).sum()) / weights.sum())
    half = float(scipy.stats.t.ppf((1 + level) / 2, G - 1)) * std_error
    sums = np.bincount(unit, weights * difference)
    if (np.abs(sums) <= ROUNDING * np.bincount(unit, weights * np.abs(difference))).all():
        return 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
    if test == T:
        statistic = estimate / std_error if std_error > 0 else float(np.copysign(np.inf, estimate))
        p_value = float(scipy.stats.t.sf(statistic, G - 1))
    else:
        means = sums / np.bincount(unit, weights)
        statistic, of_rows = map(float, scipy.stats.wilcoxon(means, alternative="greater"))
        p_value = float(scipy.special.ndtr(scipy.special.ndtri(of_rows) / np.sqrt(inflation)))
    return estimate, std_error, statistic, p_value, estimate - half, estimate + half


def adjusted(p: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """Return p-values (T,) adjusted for T tests, by Holm or by Benjamini and Hochberg."""
    m, order = len(p), np.argsort(p, kind="stable")
    out = np.empty(m)
    if method == HOLM:
        raised = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    else:
        raised = p[order] * m / np.arange(1, m + 1)
        raised = np.minimum.accumulate(raised[::-1])[::-1]
    out[order] = np.minimum(1.0, raised)
    return out
