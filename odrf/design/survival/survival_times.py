"""Times to an event as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odrf.engine.survival.event_ranks import EventRanks, event_ranks

__all__ = ["ONE_CAUSE", "SurvivalTimes"]

ONE_CAUSE = ("event",)
"""The causes of events of one kind."""


@dataclass(frozen=True, eq=False)
class SurvivalTimes:
    """When each of n rows was observed, and what happened at the end.

    Attributes
    ----------
    time : (n,) float64
        End of the observation.
    event : (n,) int64
        0 if the row was censored then; else the number of its cause, 1 if there is only one.
    start : (n,) float64 or None
        The row is observed after this time; None: from the beginning.
    causes : tuple of str
        Names of the causes 1, 2, …
    """

    time: NDArray[np.float64]
    event: NDArray[np.int64]
    start: NDArray[np.float64] | None = None
    causes: tuple[str, ...] = ONE_CAUSE

    def __len__(self) -> int:
        return len(self.time)

    @property
    def n_events(self) -> int:
        """Number of rows with an event of any cause."""
        return int(np.count_nonzero(self.event))

    @property
    def exposure(self) -> NDArray[np.float64]:
        """(n,) How long each row was observed."""
        return self.time if self.start is None else self.time - self.start

    @cached_property
    def event_times(self) -> NDArray[np.float64]:
        """(R,) The different times of events of any cause, ascending."""
        return np.unique(self.time[self.event > 0])

    @cached_property
    def ranks(self) -> EventRanks:
        """Ranks of the rows among the event times, as the engine reads them."""
        return event_ranks(self.time, self.event, self.start, self.event_times, len(self.causes))

    def about(self, cause: str) -> SurvivalTimes:
        """Return the same times with events of this cause only, rows of others being censored."""
        event = (self.event == 1 + self.causes.index(cause)).astype(np.int64)
        return replace(self, event=event, causes=(cause,))

    def keeping(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> SurvivalTimes:
        """Return those of the `rows`, a mask (n,) or row numbers, alone."""
        start = None if self.start is None else self.start[rows]
        return replace(self, time=self.time[rows], event=self.event[rows], start=start)
