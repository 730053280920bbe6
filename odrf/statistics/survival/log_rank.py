"""The log-rank test of the hypothesis that groups have the same hazard at every time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.statistics.survival.risk_sets import RiskSets, risk_sets, sums_at

__all__ = ["LogRank", "log_rank", "quadratic_form", "rows_of_strata"]

Floats = NDArray[np.float64]

# Eigenvalues of a covariance that are smaller, compared with what it is a difference of, are 0.
ROUNDING = 1e-10


class LogRank(NamedTuple):
    """A log-rank test of K groups.

    Attributes
    ----------
    statistic : float
        Its distribution is nearly χ² if all groups have the same hazard.
    df : int
        Degrees of freedom: the number of groups that can be compared, minus 1.
    p_value : float
    groups : (K,)
        Ascending.
    observed, expected : (K,) float64
        The weights of events, and those expected if the hazards are the same.
    covariance : (K, K) float64
        Of the differences of both.
    """

    statistic: float
    df: int
    p_value: float
    groups: NDArray
    observed: Floats
    expected: Floats
    covariance: Floats


def log_rank(
    time: Floats,
    event: NDArray,
    group: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
    stratum: NDArray | None = None,
) -> LogRank:
    """Test whether groups of rows have the same hazard.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row; every cause counts as the event.
    group : (n,)
        The groups; any values that can be sorted.
    weights : (n,) float64, optional
        Numbers of rows; by default 1.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.
    stratum : (n,), optional
        Hazards are compared within strata only; by default all rows are one.

    References
    ----------
    Mantel (1966), Evaluation of survival data and two new rank order statistics arising in its
    consideration, Cancer Chemotherapy Reports 50, 163-170.

    Examples
    --------
    >>> time, group = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0, 0, 1, 0, 1])
    >>> test = log_rank(time, np.array([1, 1, 1, 0, 1]), group)
    >>> test.df, test.observed, test.expected.round(3)
    (1, array([2., 2.]), array([1.433, 2.567]))
    """
    groups, code = np.unique(group, return_inverse=True)
    K = len(groups)
    observed, expected, covariance, scale = np.zeros(K), np.zeros(K), np.zeros((K, K)), 0.0
    for rows in rows_of_strata(stratum, len(time)):
        sets = risk_sets(
            time[rows],
            event[rows],
            None if weights is None else weights[rows],
            None if start is None else start[rows],
        )
        share = _shares_at_risk(sets, code[rows], K)
        observed += sums_at(code[rows][sets.happened], sets.weights[sets.happened], K)
        expected += sets.events @ share
        n, d = sets.at_risk, sets.events
        # the variance of a hypergeometric number of events; none if one row alone is at risk
        spread = np.where(n > 1, d * sets.survivors / np.where(n > 1, n - 1, 1.0), 0.0)
        covariance += np.diag(spread @ share) - share.T @ (spread[:, None] * share)
        scale += spread.sum()
    statistic, df = quadratic_form(observed - expected, covariance, scale)
    p_value = float(scipy.special.chdtrc(df, statistic)) if df else float("nan")
    return LogRank(statistic, df, p_value, groups, observed, expected, covariance)


def quadratic_form(difference: Floats, covariance: Floats, scale: float) -> tuple[float, int]:
    """Return δ'·C⁻·δ and the rank of C, whose rows add up to 0 but for rounding.

    C is a difference of terms of the size `scale`: what is left of equal terms is rounding.
    """
    size, direction = np.linalg.eigh(covariance)
    used = size > ROUNDING * scale
    along = difference @ direction[:, used]
    return float(np.sum(along**2 / size[used])), int(used.sum())


def rows_of_strata(stratum: NDArray | None, n: int) -> list[NDArray[np.int64]]:
    """Return the rows of each stratum."""
    if stratum is None:
        return [np.arange(n)]
    _, code, size = np.unique(stratum, return_inverse=True, return_counts=True)
    return np.split(np.argsort(code, kind="stable"), np.cumsum(size)[:-1])


def _shares_at_risk(sets: RiskSets, code: NDArray[np.int64], K: int) -> Floats:
    """Return the share of each group among those at risk at each time: (R, K)."""
    size = (len(sets.times) + 1) * K
    waiting = sums_at(sets.last * K + code, sets.weights, size)
    waiting -= sums_at(sets.first * K + code, sets.weights, size)
    present = np.cumsum(waiting.reshape(-1, K)[::-1], axis=0)[::-1][1:]
    return present / sets.at_risk[:, None]
