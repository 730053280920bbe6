"""Rows whose state at a time is known, weighted so that they stand for those that were censored.

A row with an event by then is weighted by 1/G(T-), one that is observed longer by 1/G(t), G being
the probability not to be censored so early.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.statistics.survival.censoring import CensoringCurve, censoring_curve, inverse_or_zero

__all__ = ["KnownStates", "StatesAt", "ascending_times", "known_states"]

Floats = NDArray[np.float64]


class StatesAt(NamedTuple):
    """The states of n rows at a time.

    Attributes
    ----------
    past : (n,) bool
        Whether the row is not observed any longer.
    weight : (n,) float64
        0 for rows that were censored before, and where G is 0.
    passed : (n,) int64
        Where G was read, as index of its values.
    reached : bool
        Whether rows could be observed so long: G(t) is not 0.
    """

    past: NDArray[np.bool_]
    weight: Floats
    passed: NDArray[np.int64]
    reached: bool


class KnownStates(NamedTuple):
    """Rows, and the curve they are weighted by.

    Attributes
    ----------
    time, weights : (n,) float64
    of_event : (n,) float64
        The case weight divided by G(T-), of rows with an event; 0 of others.
    passed : (n,) int64
        Where G(T-) was read.
    curve : CensoringCurve
    given : bool
        Whether the curve is known, and not estimated from these rows.
    """

    time: Floats
    weights: Floats
    of_event: Floats
    passed: NDArray[np.int64]
    curve: CensoringCurve
    given: bool

    def at(self, t: float) -> StatesAt:
        """Return the states at a time."""
        past = self.time <= t
        passed = int(self.curve.passed_with(np.array(t)))
        beyond = self.curve.values[passed]
        later = self.weights * (1 / beyond if beyond > 0 else 0.0)
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
        return np.zeros(len(parts)) if self.given else self.curve.influence(states.passed, -parts)


def known_states(
    time: Floats, event: NDArray, weights: Floats | None, censoring: CensoringCurve | None
) -> KnownStates:
    """Return rows with the curve given, or else with that estimated from them."""
    G = censoring_curve(time, event, weights) if censoring is None else censoring
    weights = np.ones(len(time)) if weights is None else weights
    passed = G.passed(time)
    of_event = np.where(event > 0, weights * inverse_or_zero(G.values[passed]), 0.0)
    return KnownStates(time, weights, of_event, passed, G, censoring is not None)


def ascending_times(at: Floats) -> Floats:
    """Return the times (m,) at which something is asked for; they must ascend."""
    at = np.asarray(at, dtype=np.float64)
    if at.ndim != 1 or not len(at) or not (np.diff(at) > 0).all():
        raise InputError("at= must be one or more times in ascending order: use np.unique(times)")
    return at
