"""How well scores tell rows with an event by a time from rows without: ROC curves at times.

Cases are the rows with an event by then (cumulative), controls those without one (dynamic).  Rows
whose state is known stand for those that were censored before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.statistics.survival.aalen_johansen import cumulative_incidence
from odrf.statistics.survival.censoring import CensoringCurve, censoring_curve, inverse_or_zero
from odrf.statistics.survival.risk_sets import sums_at
from odrf.statistics.survival.rowwise_errors import RowwiseEstimate

__all__ = ["DynamicAreas", "RocAt", "dynamic_areas", "roc_at"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class DynamicAreas(NamedTuple):
    """Areas under the ROC curves at m times.

    Attributes
    ----------
    at : (m,) float64
        The times.
    area, std_error : (m,) float64
        NaN where there are no cases, or no controls.
    mean : RowwiseEstimate
        The mean of the areas, each weighted by the probability of an event since the time before.
    """

    at: Floats
    area: Floats
    std_error: Floats
    mean: RowwiseEstimate


class RocAt(NamedTuple):
    """A ROC curve at a time.

    Attributes
    ----------
    threshold : (k,) float64
        Events are predicted for scores from it on; the first is infinite, then they fall.
    sensitivity, specificity : (k,) float64
        The shares of cases and of controls that are predicted correctly.
    """

    threshold: Floats
    sensitivity: Floats
    specificity: Floats


class _Cases(NamedTuple):
    """Weights of rows as cases and as controls at a time, and where G was read for them."""

    case: Floats
    control: Floats
    passed: Integers


def dynamic_areas(
    time: Floats,
    event: NDArray,
    score: Floats,
    at: Floats,
    cause: int | None = None,
    weights: Floats | None = None,
    censoring: CensoringCurve | None = None,
) -> DynamicAreas:
    """Estimate the probability that a row with an event by a time has a higher score than another.

    Equal scores count half.  Weights are 1/G(T-) of cases, and 1/G(t) of controls.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row, otherwise the cause.
    score : (n,) or (n, m) float64
        The higher, the more an event is expected; one for all times, or one for each.
    at : (m,) float64
        The times, ascending.
    cause : int, optional
        Only its events are cases; rows with events of other causes are controls, also afterwards.
        By default every cause counts.
    weights : (n,) float64, optional
        Case weights; by default 1.
    censoring : CensoringCurve, optional
        From other rows, such as those of training, and then taken as known.  By default it is
        estimated from these rows, which the standard errors allow for.

    References
    ----------
    Uno, Cai, Tian and Wei (2007), Evaluating prediction rules for t-year survivors with censored
    regression models, JASA 102, 527-537.

    Blanche, Dartigues and Jacqmin-Gadda (2013), Estimating and comparing time-dependent areas under
    receiver operating characteristic curves for censored event times with competing risks,
    Statistics in Medicine 32, 5381-5397: competing causes.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 1])
    >>> dynamic_areas(time, event, np.array([3.0, 1.0, 2.0, 0.0]), np.array([1.0, 2.0])).area
    array([1.  , 0.75])
    """
    at = np.asarray(at, dtype=np.float64)
    if at.ndim != 1 or not len(at) or not (np.diff(at) > 0).all():
        raise InputError("at= must be one or more times in ascending order: use np.unique(times)")
    G = censoring_curve(time, event, weights) if censoring is None else censoring
    of_cause = (event > 0) if cause is None else (event == cause)
    incidence = cumulative_incidence(time, event, cause, weights)
    probability = np.diff(incidence.curve(at), prepend=0.0)
    share = probability / probability.sum() if probability.sum() > 0 else probability * np.nan
    area, error = np.empty((2, len(at)))
    of_mean = np.zeros(len(time))
    rank = np.zeros(len(time), np.int64)
    for m, t in enumerate(at):
        if score.ndim == 2 or m == 0:
            column = score[:, m] if score.ndim == 2 else score
            rank = np.unique(column, return_inverse=True)[1].reshape(-1)
        found = _area(_cases(time, event, of_cause, float(t), weights, G), rank, G, censoring)
        area[m], error[m] = found.estimate, found.std_error
        if share[m] != 0:  # before the first event there is no area, and no weight
            of_mean += share[m] * found.influence
    mean = float(np.sum((share * area)[share != 0]))
    # Σ a_m·(F(t_m) - F(t_{m-1})) / F(t_M), by the derivative with respect to each F(t_m)
    known = np.where(share != 0, area - mean, 0.0)
    for t, factor in zip(at, known - np.append(known[1:], 0.0), strict=True):
        if factor:
            of_mean += factor / probability.sum() * incidence.influence(float(t))
    return DynamicAreas(at, area, error, RowwiseEstimate(mean, of_mean))


def roc_at(
    time: Floats,
    event: NDArray,
    score: Floats,
    t: float,
    cause: int | None = None,
    weights: Floats | None = None,
    censoring: CensoringCurve | None = None,
) -> RocAt:
    """Estimate the ROC curve at a time t, by scores (n,).

    Other arguments as for `dynamic_areas`.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 1])
    >>> roc_at(time, event, np.array([3.0, 1.0, 2.0, 0.0]), 2.0).sensitivity
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    G = censoring_curve(time, event, weights) if censoring is None else censoring
    of_cause = (event > 0) if cause is None else (event == cause)
    cases = _cases(time, event, of_cause, t, weights, G)
    level, rank = np.unique(score, return_inverse=True)
    found, left = (
        sums_at(rank.reshape(-1), parts, len(level))[::-1].cumsum()
        for parts in (cases.case, cases.control)
    )
    with np.errstate(invalid="ignore"):  # without cases or controls
        sensitivity, specificity = found / found[-1], 1 - left / left[-1]
    return RocAt(
        np.insert(level[::-1], 0, np.inf),
        np.insert(sensitivity, 0, 0.0),
        np.insert(specificity, 0, 1.0),
    )


def _cases(
    time: Floats,
    event: NDArray,
    of_cause: NDArray[np.bool_],
    t: float,
    weights: Floats | None,
    G: CensoringCurve,
) -> _Cases:
    past = time <= t
    passed = np.where(past, G.passed(time), G.passed_with(np.array(t)))
    known = np.where(past & (event == 0), 0.0, inverse_or_zero(G.values[passed]))
    if weights is not None:
        known = known * weights
    case = past & of_cause
    return _Cases(np.where(case, known, 0.0), np.where(case, 0.0, known), passed)


def _area(
    cases: _Cases, rank: Integers, G: CensoringCurve, known: CensoringCurve | None
) -> RowwiseEstimate:
    """Return the area of scores with these ranks (n,)."""
    levels = int(rank.max()) + 1
    case = sums_at(rank, cases.case, levels)
    control = sums_at(rank, cases.control, levels)
    of_cases, of_controls = case.sum(), control.sum()
    if not (of_cases > 0 and of_controls > 0):
        return RowwiseEstimate(float("nan"), np.full(len(rank), np.nan))
    # of a case the share of controls with lower scores, of a control that of cases with higher ones
    lower = (np.cumsum(control) - control / 2) / of_controls
    higher = 1 - (np.cumsum(case) - case / 2) / of_cases
    area = float(case @ lower) / of_cases
    influence = cases.case * (lower[rank] - area) / of_cases
    influence += cases.control * (higher[rank] - area) / of_controls
    if known is None:
        influence = influence + G.influence(cases.passed, -influence)
    return RowwiseEstimate(area, influence)
