"""One number of the incidence of a cause in each leaf: its value if that number is predicted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.survival.curve_numbers import ROUNDING
from odrf.engine.survival.leaf_curves import LeafCurves

__all__ = ["incidence_at", "incidence_steps", "time_lost_at", "time_of_incidence"]


def incidence_at(curves: LeafCurves, cause: int, rank: int) -> NDArray[np.float64]:
    """Return the incidence (m,) of a cause, from 0, in each node at the event time of a rank.

    The Aalen–Johansen estimate; see `odrf.engine.survival.incidence_means.mean_incidences`.
    """
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
    and the restricted mean add up to the horizon.

    Parameters
    ----------
    curves : LeafCurves
    cause : int
        From 0.
    event_times : (R,) float64
    horizon : float

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
