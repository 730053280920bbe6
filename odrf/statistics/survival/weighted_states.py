"""States of rows at a time, weighted by the inverse probability to be observed (IPCW).

A row whose state is known stands for others that are not seen then.  One with an event by then is
weighted by 1/K(T-), one that is observed at the time and longer by 1/K(t), K being the probability
to be under observation: see `odrf.statistics.survival.observation`.  So rows stand for those that
were censored before and, if rows enter late, for those that had the event before they could enter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.statistics.survival.observation import ObservationCurve, observation_curve
from odrf.statistics.survival.risk_sets import inverse_or_zero

__all__ = ["StatesAt", "WeightedStates", "ascending_times", "weighted_states", "weights_at"]

Floats = NDArray[np.float64]


class StatesAt(NamedTuple):
    """The states of n rows at a time.

    Attributes
    ----------
    past : (n,) bool
        Whether the row is not observed any longer.
    weight : (n,) float64
        0 for rows that were censored before or enter later, and where K is 0.
    passed : (n,) int64
        Where K was read, as index of its values.
    reached : bool
        Whether rows could be observed then: K(t) is not 0.
    """

    past: NDArray[np.bool_]
    weight: Floats
    passed: NDArray[np.int64]
    reached: bool


class WeightedStates(NamedTuple):
    """Rows, and the curve they are weighted by.

    Attributes
    ----------
    time, weights : (n,) float64
    of_event : (n,) float64
        The case weight divided by K(T-), of rows with an event; 0 of others.
    passed : (n,) int64
        Where K(T-) was read.
    curve : ObservationCurve
    start : (n,) float64 or None
        When rows enter; None: all are there from the beginning.
    is_known : bool
        Whether the curve is known, and not estimated from these rows.
    """

    time: Floats
    weights: Floats
    of_event: Floats
    passed: NDArray[np.int64]
    curve: ObservationCurve
    start: Floats | None
    is_known: bool

    def at(self, t: float) -> StatesAt:
        """Return the states at a time."""
        past = self.time <= t
        passed = int(self.curve.passed_with(np.array(t)))
        beyond = self.curve.values[passed]
        later = self.weights * (1 / beyond if beyond > 0 else 0.0)
        if self.start is not None:
            later = np.where(self.start <= t, later, 0.0)
        return StatesAt(
            past,
            np.where(past, self.of_event, later),
            np.where(past, self.passed, passed),
            bool(beyond > 0),
        )

    def influence(self, states: StatesAt, parts: Floats) -> Floats:
        """Return what each row adds to the error of an estimate by way of the curve: (n,).

        `parts` (n,) are the derivatives of the estimate by the logarithms of the weights.
        """
        if self.is_known:
            return np.zeros(len(parts))
        return self.curve.influence(states.passed, -parts)


def weighted_states(
    time: Floats,
    event: NDArray,
    weights: Floats | None,
    observed: ObservationCurve | None,
    start: Floats | None = None,
) -> WeightedStates:
    """Return rows with the curve that is `observed`, or else with that estimated from them."""
    K = observation_curve(time, event, weights, start) if observed is None else observed
    weights = np.ones(len(time)) if weights is None else weights
    passed = K.passed(time)
    of_event = np.where(event > 0, weights * inverse_or_zero(K.values[passed]), 0.0)
    return WeightedStates(time, weights, of_event, passed, K, start, observed is not None)


def weights_at(time: Floats, event: NDArray, weights: Floats, start: Floats, t: float) -> Floats:
    """Return the inverse probability weights (n,) of rows that enter late, at a time t.

    They are the case weights where no row can be observed at t.
    """
    found = weighted_states(time, event, weights, None, start).at(t)
    return found.weight if found.reached else weights


def ascending_times(at: Floats) -> Floats:
    """Return the times (m,) at which something is asked for; they must ascend."""
    at = np.asarray(at, dtype=np.float64)
    if at.ndim != 1 or not len(at) or not (np.diff(at) > 0).all():
        raise InputError("at= must be one or more times in ascending order: use np.unique(times)")
    return at
