"""Gray's test of the hypothesis that groups have the same cumulative incidence of a cause."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.statistics.survival.aalen_johansen import cumulative_incidence
from odrf.statistics.survival.kaplan_meier import product_limit
from odrf.statistics.survival.log_rank import quadratic_form, rows_of_strata
from odrf.statistics.survival.risk_sets import number_at_risk, sums_at

__all__ = ["GraysTest", "grays_test"]

Floats = NDArray[np.float64]
# An incidence as near to 1 is 1.
ROUNDING = 1e-12


class GraysTest(NamedTuple):
    """Gray's test of K groups.

    Attributes
    ----------
    statistic : float
        Its distribution is nearly χ² if all groups have the same incidence.
    df : int
        Degrees of freedom: the number of groups that can be compared, minus 1.
    p_value : float
    groups : (K,)
        Ascending.
    score : (K,) float64
        The weight of events of the cause, minus that expected if the incidences are the same.
    covariance : (K, K) float64
        Of the scores.
    """

    statistic: float
    df: int
    p_value: float
    groups: NDArray
    score: Floats
    covariance: Floats


class _Groups(NamedTuple):
    """What is known of K groups at R times; by time and group, (R, K).

    Attributes
    ----------
    at_risk, own, other : (R, K) float64
        Weights of rows at risk, of events of the cause and of other causes.
    before, after : (R, K) float64
        The survival just before each time, and at it.
    incidence_before : (R, K) float64
        Of the cause.
    """

    at_risk: Floats
    own: Floats
    other: Floats
    before: Floats
    after: Floats
    incidence_before: Floats


def grays_test(
    time: Floats,
    event: NDArray[np.int64],
    group: NDArray,
    cause: int = 1,
    weights: Floats | None = None,
    stratum: NDArray | None = None,
    start: Floats | None = None,
) -> GraysTest:
    """Test whether groups of rows have the same cumulative incidence of a cause.

    It compares subdistribution hazards, as the log-rank test compares hazards.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64
        0 for a censored row, otherwise the cause.
    group : (n,)
        The groups; any values that can be sorted.
    cause : int
        From 1; the other causes compete.
    weights : (n,) float64, optional
        Numbers of rows; by default 1.
    stratum : (n,), optional
        Incidences are compared within strata only; by default all rows are one.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    Notes
    -----
    The rows of group k that count as exposed to the cause are Y_k(t)·(1 - F_k(t-))/S_k(t-): those
    at risk, and for each of them those who had an event of another cause.  With late entry Y_k are
    the rows that have entered, and S_k and F_k the estimates that allow for it; these are the
    weights of Geskus (2011), by a censoring and an entry curve of each group.  Score and variance
    are sums over martingales of events that need no more of Y_k than to be known before each time,
    so they are the same with late entry, if entry does not depend on events.

    References
    ----------
    Gray (1988), A class of K-sample tests for comparing the cumulative incidence of a competing
    risk, Annals of Statistics 16, 1141-1154, with ρ = 0.

    Geskus (2011), Cause-specific cumulative incidence estimation and the Fine and Gray model under
    both left truncation and right censoring, Biometrics 67, 39-49.

    Examples
    --------
    >>> time, event = np.arange(1.0, 9.0), np.array([1, 2, 1, 0, 2, 1, 1, 0])
    >>> test = grays_test(time, event, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> test.df, round(test.statistic, 3)
    (1, 2.232)
    """
    groups, code = np.unique(group, return_inverse=True)
    code = code.reshape(-1)
    weights = np.ones(len(time)) if weights is None else weights
    score, covariance, scale = np.zeros(len(groups)), np.zeros((len(groups), len(groups))), 0.0
    for rows in rows_of_strata(stratum, len(time)):
        entry = None if start is None else start[rows]
        known = _groups(
            time[rows], event[rows], code[rows], len(groups), cause, weights[rows], entry
        )
        of_stratum, variance, size = _score(known)
        score += of_stratum
        covariance += variance
        scale += size
    statistic, df = quadratic_form(score, covariance, scale)
    p_value = float(scipy.special.chdtrc(df, statistic)) if df else float("nan")
    return GraysTest(statistic, df, p_value, groups, score, covariance)


def _groups(
    time: Floats,
    event: NDArray[np.int64],
    code: NDArray[np.int64],
    K: int,
    cause: int,
    weights: Floats,
    start: Floats | None,
) -> _Groups:
    times = np.unique(time[(event > 0) & (weights > 0)])
    found = np.zeros((len(_Groups._fields), len(times), K))
    known = _Groups(*found)
    known.before[:] = known.after[:] = 1.0
    for k in np.unique(code):
        of = code == k
        entry = None if start is None else start[of]
        each = cumulative_incidence(time[of], event[of], cause, weights[of], entry)
        known.at_risk[:, k] = number_at_risk(times, time[of], weights[of], entry)
        for counts, happened in (
            (known.own, event == cause),
            (known.other, (event > 0) & (event != cause)),
        ):
            rows = of & happened & (weights > 0)
            place = np.searchsorted(times, time[rows])
            counts[:, k] = sums_at(place, weights[rows], len(times))
        product = product_limit(each.sets).curve
        known.before[:, k], known.after[:, k] = product.just_before(times), product(times)
        known.incidence_before[:, k] = each.curve.just_before(times)
        # rows that enter after the estimate has come to 0 stand for nobody
        for counts in (known.at_risk, known.own, known.other):
            counts[known.before[:, k] == 0, k] = 0.0
    return known


def _score(known: _Groups) -> tuple[Floats, Floats, float]:
    """Return the scores (K,) of the groups, their covariance (K, K), and the size of its terms.

    With h_k = Y_k/S_k(t-), of which H is the sum, the incidence F of all groups grows by d/H if
    they have the same.  A score reacts to an event in group k at u by a_ik(u), and by what the
    changed survival of the group does at all later times, which is a multiple of D_ik(u).
    """
    share = _quotient(known.at_risk, known.before)
    whole = share.sum(axis=1)
    d = known.own.sum(axis=1)
    expected = share * (1 - known.incidence_before)
    expected = _quotient(expected, expected.sum(axis=1, keepdims=True))
    score = (known.own - d[:, None] * expected).sum(axis=0)
    step = _quotient(d, whole)
    F = np.cumsum(step)
    # with late entry the estimate can come to 1 early, by few rows at risk
    rest = 1 - (F - step)
    hazard = _quotient(step, np.where(rest > ROUNDING, rest, 0.0))
    part = _quotient(share, whole[:, None])
    # how much of the incidence to come a survivor of the group stands for
    left = _quotient(1 - F[:, None], known.after)
    of_cause, of_others = _variances(known, whole, d)
    K = share.shape[1]
    covariance, scale = np.zeros((K, K)), 0.0
    for k in range(K):
        of_k = slice(k, k + 1)
        # a_ik and D_ik, by time and i
        a = share * ((np.arange(K) == k) - part[:, of_k])
        later = _later(a * hazard[:, None])
        by_cause = a + (1 - left[:, of_k]) * later
        by_others = left[:, of_k] * later
        covariance += (by_cause * of_cause[:, of_k]).T @ by_cause
        covariance += (by_others * of_others[:, of_k]).T @ by_others
        # a_kk is a difference of this share and a part of it
        later = _later(share[:, of_k] * hazard[:, None])
        scale += float((share[:, of_k] ** 2 * of_cause[:, of_k]).sum())
        scale += float(((1 - left[:, of_k]) ** 2 * later**2 * of_cause[:, of_k]).sum())
        scale += float((left[:, of_k] ** 2 * later**2 * of_others[:, of_k]).sum())
    return score, covariance, scale


def _later(step: Floats) -> Floats:
    """Return the sums of the steps (R, K) after each time."""
    grown = np.cumsum(step, axis=0)
    return grown[-1:] - grown


def _variances(known: _Groups, whole: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Return the variances (R, K) of the steps of incidence: of the cause, and of the others.

    Those of the cause are expected ones, if all groups have the same incidence; the variance of
    several events at a time is that of draws without replacement.
    """
    there = known.at_risk > 0
    rows = whole[:, None] * known.before
    ties = np.where(d > 1, d - 1, 0.0)[:, None]
    of_cause = (
        (1 - _quotient(ties, rows - 1))
        * known.before
        * _quotient(d[:, None], whole[:, None] * known.at_risk)
    )
    ties = np.where(known.other > 1, known.other - 1, 0.0)
    of_others = (
        (1 - _quotient(ties, known.at_risk - 1))
        * known.before**2
        * _quotient(known.other, known.at_risk**2)
    )
    return np.where(there, of_cause, 0.0), np.where(there & (known.after > 0), of_others, 0.0)


def _quotient(part: Floats, whole: Floats) -> Floats:
    """Return part/whole, and 0 where the whole is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.where(whole != 0, part / np.where(whole != 0, whole, 1.0), 0.0)
