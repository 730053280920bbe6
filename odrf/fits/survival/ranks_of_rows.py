"""The training rows of a survival fit as ranks among its event times."""

from __future__ import annotations

from odrf.design import TrainingData
from odrf.engine.survival.event_ranks import EventRanks, event_ranks

__all__ = ["ranks_of"]


def ranks_of(data: TrainingData) -> EventRanks | None:
    """Return the ranks of the rows; None if the response is no time to an event."""
    times = data.times
    if times is None:
        return None
    return event_ranks(times.time, times.event, times.start, times.event_times, len(times.causes))
