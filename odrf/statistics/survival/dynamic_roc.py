"""How well scores tell rows with an event by a time from rows without: ROC curves at times.

Cases are the rows with an event by then (cumulative), controls those without one (dynamic).  Rows
whose state is known stand for those that are not seen then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.survival.aalen_johansen import cumulative_incidence
from odrf.statistics.survival.observation import ObservationCurve
from odrf.statistics.survival.risk_sets import sums_at
from odrf.statistics.survival.rowwise_errors import RowwiseShare
from odrf.statistics.survival.weighted_states import (
    StatesAt,
    WeightedStates,
    ascending_times,
    weighted_states,
)

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
    mean : RowwiseShare
        The mean of the areas, each weighted by the probability of an event since the time before.
    """

    at: Floats
    area: Floats
    std_error: Floats
    mean: RowwiseShare


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


def dynamic_areas(
    time: Floats,
    event: NDArray,
    score: Floats,
    at: Floats,
    cause: int | None = None,
    weights: Floats | None = None,
    observed: ObservationCurve | None = None,
    start: Floats | None = None,
) -> DynamicAreas:
    """Estimate the probability that a row with an event by a time has a higher score than another.

    Equal scores count half.  Weights are 1/K(T-) of cases, and 1/K(t) of controls, K being
    the probability to be observed.

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
    observed : ObservationCurve, optional
        The probability to be observed: that of other rows, such as those of training, which is
        taken as known.  By default it is estimated from these rows, which the standard errors
        allow for.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.  See
        `odrf.statistics.survival.observation.LateEntryCurve`.

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
    at = ascending_times(at)
    states = weighted_states(time, event, weights, observed, start)
    of_cause = (event > 0) if cause is None else (event == cause)
    incidence = cumulative_incidence(time, event, cause, weights, start)
    probability = np.diff(incidence.curve(at), prepend=0.0)
    share = probability / probability.sum() if probability.sum() > 0 else probability * np.nan
    area, error = np.empty((2, len(at)))
    of_mean = np.zeros(len(time))
    rank = np.zeros(len(time), np.int64)
    for m, t in enumerate(at):
        if score.ndim == 2 or m == 0:
            column = score[:, m] if score.ndim == 2 else score
            rank = np.unique(column, return_inverse=True)[1].reshape(-1)
        found = _area(states, of_cause, rank, float(t))
        area[m], error[m] = found.estimate, found.std_error
        if share[m] != 0:  # before the first event there is no area, and no weight
            of_mean += share[m] * found.influence
    mean = float(np.sum((share * area)[share != 0]))
    # Σ a_m·(F(t_m) - F(t_{m-1})) / F(t_M), by the derivative with respect to each F(t_m)
    known = np.where(share != 0, area - mean, 0.0)
    for t, factor in zip(at, known - np.append(known[1:], 0.0), strict=True):
        if factor:
            of_mean += factor / probability.sum() * incidence.influence(float(t))
    return DynamicAreas(at, area, error, RowwiseShare(mean, of_mean))


def roc_at(
    time: Floats,
    event: NDArray,
    score: Floats,
    t: float,
    cause: int | None = None,
    weights: Floats | None = None,
    observed: ObservationCurve | None = None,
    start: Floats | None = None,
) -> RocAt:
    """Estimate the ROC curve at a time t, by scores (n,).

    Other arguments as for `dynamic_areas`.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 1])
    >>> roc_at(time, event, np.array([3.0, 1.0, 2.0, 0.0]), 2.0).sensitivity
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    states = weighted_states(time, event, weights, observed, start).at(t)
    of_cause = (event > 0) if cause is None else (event == cause)
    case, control = _cases(states, of_cause)
    level, rank = np.unique(score, return_inverse=True)
    found, left = (
        sums_at(rank.reshape(-1), parts, len(level))[::-1].cumsum() for parts in (case, control)
    )
    with np.errstate(invalid="ignore"):  # without cases or controls
        sensitivity, specificity = found / found[-1], 1 - left / left[-1]
    return RocAt(
        np.insert(level[::-1], 0, np.inf),
        np.insert(sensitivity, 0, 0.0),
        np.insert(specificity, 0, 1.0),
    )


def _cases(states: StatesAt, of_cause: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the weights of rows as cases and as controls: (n,)."""
    case = states.past & of_cause
    return np.where(case, states.weight, 0.0), np.where(case, 0.0, states.weight)


@one_thread()
def _area(
    states: WeightedStates, of_cause: NDArray[np.bool_], rank: Integers, t: float
) -> RowwiseShare:
    """Return the area at a time of scores with these ranks (n,)."""
    now, levels = states.at(t), int(rank.max()) + 1
    as_case, as_control = _cases(now, of_cause)
    case, control = sums_at(rank, as_case, levels), sums_at(rank, as_control, levels)
    of_cases, of_controls = case.sum(), control.sum()
    if not (of_cases > 0 and of_controls > 0):
        return RowwiseShare(float("nan"), np.full(len(rank), np.nan))
    # of a case the share of controls with lower scores, of a control that of cases with higher ones
    lower = (np.cumsum(control) - control / 2) / of_controls
    higher = 1 - (np.cumsum(case) - case / 2) / of_cases
    area = float(case @ lower) / of_cases
    parts = as_case * ((lower - area) / of_cases)[rank]
    parts += as_control * ((higher - area) / of_controls)[rank]
    return RowwiseShare(area, parts + states.influence(now, parts))
