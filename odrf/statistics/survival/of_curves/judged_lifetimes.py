"""Rows whose observed times judge predicted risks and curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.errors import InputError
from odrf.statistics.survival.risk_sets import number_at_risk

__all__ = ["JudgedLifetimes"]

Floats = NDArray[np.float64]
# Curves are judged while this share of the rows is at risk: rows then count at most ten times for
# those that were censored before.  If rows enter late, it is the share of the largest risk set.
LEAST_AT_RISK = 0.1
# Steps of the integral over time.
MOST_TIMES = 100


@dataclass(frozen=True, eq=False)
class JudgedLifetimes:
    """The observed times of n rows that judge.

    Attributes
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64
        0 for a censored row, otherwise the cause.
    weights : (n,) float64
    source : str
        Which rows they are, in words.
    start : (n,) float64 or None
        When a row enters; None: all are there from the beginning.
    groups : (n,) int64 or None
        The group of each row, of a fit with groups: these are independent of each other.
    cause : int or None
        The cause, from 1, whose events are predicted; None: all.
    since : float
        Everything is judged given that no event has come by this time; above 0 only if rows enter
        late.
    """

    time: Floats
    event: NDArray[np.int64]
    weights: Floats
    source: str
    start: Floats | None = None
    groups: NDArray[np.int64] | None = None
    cause: int | None = None
    since: float = 0.0

    def facts(self) -> dict[str, str]:
        """Return how many rows and events there are, for summaries."""
        return {"Rows": f"{len(self.time)}, {self.source}", "Events": str(int(self.happened.sum()))}

    @property
    def happened(self) -> NDArray[np.bool_]:
        """Which rows (n,) have an event, of the cause if there is one."""
        return self.event > 0 if self.cause is None else self.event == self.cause

    def keeping(self, rows: NDArray[np.bool_]) -> JudgedLifetimes:
        """Return those of the `rows` (n,) alone."""
        return JudgedLifetimes(
            self.time[rows],
            self.event[rows],
            self.weights[rows],
            self.source,
            None if self.start is None else self.start[rows],
            None if self.groups is None else self.groups[rows],
            self.cause,
            self.since,
        )

    def given_none_before(self, since: float) -> JudgedLifetimes:
        """Return the rows observed after a time, entering then if they entered before."""
        kept = self.keeping(self.time > since)
        start = None if kept.start is None else np.maximum(kept.start, since)
        return replace(kept, start=start, since=since)

    def checked_time(self, argument: str, value: Any) -> float:
        """Return a time at which curves can be judged.

        Raises
        ------
        InputError
            It is no number; no row has an event by then, or none is observed so long.
        """
        times = self.time[self.happened]
        first, last = float(times.min()), float(self.time.max())
        if not is_number(value) or not first <= value <= last:
            raise InputError(
                f"{argument}={value!r}: use a time from {first:g}, the first event of the rows "
                f"that judge, to {last:g}, the end of their observation"
            )
        return float(value)

    def first_time(self) -> float:
        """Return the time since which curves can be judged.

        0 if no row enters late.  Else the last event time, before the risk set is largest, at which
        less than a tenth of this is at risk; if there is none, the first entry.
        """
        if self.start is None:
            return 0.0
        times, at_risk = self._at_risk()
        few = times[: np.argmax(at_risk)][~self._enough(at_risk)[: np.argmax(at_risk)]]
        return float(few[-1] if len(few) else self.start.min())

    def last_time(self) -> float:
        """Return the last event time at which a tenth of the weight is still at risk.

        If there is none, the first event time.  If rows enter late, a tenth of the largest risk
        set: it is the last event time before fewer are at risk again.
        """
        times, at_risk = self._at_risk()
        enough = self._enough(at_risk)
        if self.start is None:
            return float(times[enough][-1] if enough.any() else times[0])
        largest = int(np.argmax(at_risk))
        few = np.flatnonzero(~enough[largest:])
        return float(times[largest + few[0] - 1] if len(few) else times[-1])

    def _at_risk(self) -> tuple[Floats, Floats]:
        """Return the distinct event times, and the weight at risk then."""
        times = np.unique(self.time[self.happened])
        return times, number_at_risk(times, self.time, self.weights, self.start)

    def _enough(self, at_risk: Floats) -> NDArray[np.bool_]:
        whole = self.weights.sum() if self.start is None else at_risk.max()
        return np.asarray(at_risk >= LEAST_AT_RISK * whole)

    def grid(self, until: float, most: int = MOST_TIMES) -> Floats:
        """Return `since`, event times and `until`, ascending: times of which a mean is taken.

        Of more than `most` event times those at equal steps of their ranks.
        """
        times = np.unique(self.time[self.happened & (self.time < until)])
        if len(times) > most:
            times = times[np.linspace(0, len(times) - 1, most).round().astype(np.int64)]
        return np.unique(np.concatenate([[self.since], times, [until]]))
