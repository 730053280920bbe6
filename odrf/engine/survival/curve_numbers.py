"""One number of the curve of each leaf: the value of the leaf if that number is predicted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.survival.curves import LeafCurves
from odrf.engine.trees.forest import Forest

# A survival that rounding keeps above a bound has reached it.
ROUNDING = 1e-12


def survival_at(curves: LeafCurves, rank: int) -> NDArray[np.float64]:
    """Return the Kaplan–Meier survival (m,) of each node's curve at the event time of a rank."""
    out = np.empty(len(curves.start) - 1)
    _survival_at(curves.start, curves.rank, curves.hazard, rank, out)
    return out


def hazard_at(curves: LeafCurves, rank: int) -> NDArray[np.float64]:
    """Return the cumulative hazard (m,) of each node's curve at the event time of a rank."""
    out = np.empty(len(curves.start) - 1)
    _weighted_hazard(curves.start, curves.rank, curves.hazard, np.ones(rank + 1), out)
    return out


def mortality(curves: LeafCurves, n_times: int) -> NDArray[np.float64]:
    """Return the cumulative hazard (m,) of each node's curve, added up over all R event times.

    The mortality of Ishwaran et al. (2008): with everybody like the rows of the node, the number of
    events that one would expect.
    """
    out = np.empty(len(curves.start) - 1)
    later = n_times + 1.0 - np.arange(n_times + 1)
    _weighted_hazard(curves.start, curves.rank, curves.hazard, later, out)
    return out


def restricted_mean_at(
    curves: LeafCurves, event_times: NDArray[np.float64], horizon: float
) -> NDArray[np.float64]:
    """Return each node's (m,) survival, integrated up to a time; `event_times` (R,)."""
    out = np.empty(len(curves.start) - 1)
    _restricted_mean(curves.start, curves.rank, curves.hazard, event_times, horizon, out)
    return out


def quantile_at(
    curves: LeafCurves, event_times: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return the time (m,) by which a `share` of each node has had the event; inf for never."""
    out = np.empty(len(curves.start) - 1)
    bound = 1.0 - share + ROUNDING
    _quantile_at(curves.start, curves.rank, curves.hazard, event_times, bound, out)
    return out


def with_means_above(forest: Forest, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values (m,), of nodes above leaves the means of the leaves below, by weight."""
    out = value.copy()
    _fill_above(forest.left, forest.weight, out)
    return out


@kernel
def _survival_at(start, rank, hazard, last, out):
    for i in range(len(out)):
        out[i] = 1.0
        for e in range(start[i], start[i + 1]):
            if rank[e] > last:
                break
            out[i] *= 1.0 - hazard[e]


@kernel
def _weighted_hazard(start, rank, hazard, times, out):
    """Write the sums over the increments, each so many `times` as this has at its rank."""
    for i in range(len(out)):
        out[i] = 0.0
        for e in range(start[i], start[i + 1]):
            if rank[e] >= len(times):
                break
            out[i] += hazard[e] * times[rank[e]]


@kernel
def _restricted_mean(start, rank, hazard, event_times, horizon, out):
    for i in range(len(out)):
        survival, before, total = 1.0, 0.0, 0.0
        for e in range(start[i], start[i + 1]):
            time = event_times[rank[e] - 1]
            if time >= horizon:
                break
            total += survival * (time - before)
            survival *= 1.0 - hazard[e]
            before = time
        out[i] = total + survival * (horizon - before)


@kernel
def _fill_above(left, weight, out):
    for i in range(len(out) - 1, -1, -1):
        child = left[i]
        if child >= 0:
            total = weight[child] + weight[child + 1]
            if total > 0.0:
                share = weight[child] / total
                out[i] = share * out[child] + (1.0 - share) * out[child + 1]
            else:
                out[i] = out[child]


@kernel
def _quantile_at(start, rank, hazard, event_times, bound, out):
    for i in range(len(out)):
        survival, out[i] = 1.0, np.inf
        for e in range(start[i], start[i + 1]):
            survival *= 1.0 - hazard[e]
            if survival <= bound:
                out[i] = event_times[rank[e] - 1]
                break


# One number of the incidence of a cause in each leaf: its value if that number is predicted.


def incidence_at(curves: LeafCurves, cause: int, rank: int) -> NDArray[np.float64]:
    """Return the Aalen–Johansen incidence (m,) of a cause, from 0, at the time of a rank."""
    out = np.empty(len(curves.start) - 1)
    of_cause = curves.by_cause[:, cause]
    _incidence_at(curves.start, curves.rank, curves.hazard, of_cause, rank, out)
    return out


def incidence_steps(curves: LeafCurves, cause: int, node: int) -> NDArray[np.float64]:
    """Return the incidence (E,) of a cause, from 0, after each step of the curve of a node."""
    steps = slice(curves.start[node], curves.start[node + 1])
    survival = np.cumprod(1.0 - curves.hazard[steps])
    before = np.concatenate([[1.0], survival[:-1]])[: len(survival)]
    incidence: NDArray[np.float64] = np.cumsum(before * curves.by_cause[steps, cause])
    return incidence


def time_of_incidence(
    curves: LeafCurves, cause: int, event_times: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return the time (m,) by which a share had an event of a cause, from 0; inf if it is never."""
    out = np.full(len(curves.start) - 1, np.inf)
    for node in range(len(out)):
        reached = incidence_steps(curves, cause, node) >= share - ROUNDING
        if reached.any():
            out[node] = event_times[curves.rank[curves.start[node] + reached.argmax()] - 1]
    return out


def time_lost_at(
    curves: LeafCurves, cause: int, event_times: NDArray[np.float64], horizon: float
) -> NDArray[np.float64]:
    """Return the time (m,) that rows of each node are expected to lose by a cause up to a horizon.

    It is the incidence of the cause, integrated up to the horizon.  The times that all causes take
    and the restricted mean add up to the horizon.  `event_times` (R,).  `cause`: from 0.

    References
    ----------
    P. K. Andersen (2013). Decomposition of number of life years lost according to causes of death.
    Statistics in Medicine 32, 5278-5285.
    """
    out = np.empty(len(curves.start) - 1)
    of_cause = curves.by_cause[:, cause]
    _time_lost(curves.start, curves.rank, curves.hazard, of_cause, event_times, horizon, out)
    return out


@kernel
def _incidence_at(start, rank, hazard, of_cause, last, out):
    for i in range(len(out)):
        survival, incidence = 1.0, 0.0
        for e in range(start[i], start[i + 1]):
            if rank[e] > last:
                break
            incidence += survival * of_cause[e]
            survival *= 1.0 - hazard[e]
        out[i] = incidence


@kernel
def _time_lost(start, rank, hazard, of_cause, event_times, horizon, out):
    for i in range(len(out)):
        survival, total = 1.0, 0.0
        for e in range(start[i], start[i + 1]):
            time = event_times[rank[e] - 1]
            if time >= horizon:
                break
            total += survival * of_cause[e] * (horizon - time)
            survival *= 1.0 - hazard[e]
        out[i] = total
