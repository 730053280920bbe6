"""What trees are grown on: the response itself, or for exponential survival the rates of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.survival.event_ranks import EventRanks, subdistribution_ranks
from odrf.errors import InputError
from odrf.fits.survival.by_deviance.hazard_scale import hazard_scale
from odrf.fits.survival.cause_numbers import cause_numbers
from odrf.options.criteria import EXPONENTIAL, GRAY
from odrf.options.tree import Control
from odrf.statistics.survival.observation import censoring_curve

__all__ = ["GrownResponse", "grown_response", "ranks_of_splits"]


class GrownResponse(NamedTuple):
    """Response, weights and ranks of rows, as `odrf.engine.growth.forest_builder` takes them.

    Attributes
    ----------
    y, weights : (n,) float64
    ranks : EventRanks or None
    """

    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    ranks: EventRanks | None

    def case_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the case weights (n,) of the rows if those of splits are others, else None."""
        return None if self.weights is weights else weights


def grown_response(data: TrainingData, control: Control) -> GrownResponse:
    """Return what the trees of these options are grown on.

    Exponential survival trees are grown on rates: events divided by exposure, weighted by it.  With
    splits about one of several causes, only its events count.

    Raises
    ------
    InputError
        No row of positive weight has an event of that cause.
    """
    if data.times is None:
        return GrownResponse(data.y, data.weights, None)
    if control.criterion != EXPONENTIAL:
        return GrownResponse(data.y, data.weights, ranks_of_splits(data, control))
    times = _times_of_splits(data, control)
    exposure = hazard_scale(times, data.weights).exposure(times)
    return GrownResponse((times.event > 0) / exposure, data.weights * exposure, None)


def ranks_of_splits(data: TrainingData, control: Control) -> EventRanks:
    """Return the times of the rows as ranks, with the events that splits are about.

    Raises
    ------
    InputError
        No row of positive weight has such an event.
    """
    times = _times_of_splits(data, control)
    if control.criterion == GRAY:
        return _with_subdistribution(
            data.require_times(), times.event_times, control.cause, data.weights
        )
    return times.ranks


def _times_of_splits(data: TrainingData, control: Control) -> SurvivalTimes:
    times = data.require_times()
    if control.cause is None:
        return times
    times = times.about(control.cause)
    _require_events_of(control.cause, times, data.weights)
    return times


def _with_subdistribution(
    times: SurvivalTimes,
    event_times: NDArray[np.float64],
    cause: str | None,
    weights: NDArray[np.float64],
) -> EventRanks:
    """Return ranks in which rows stay at risk after events of other causes."""
    G = censoring_curve(times.time, times.event, weights)
    number = 1 + int(cause_numbers(cause, times.causes)[0])
    return subdistribution_ranks(
        times.time, times.event, number, event_times, G.just_before(times.time),
        G.just_before(event_times),
    )  # fmt: skip


def _require_events_of(cause: str, times: SurvivalTimes, weights: NDArray[np.float64]) -> None:
    if not (times.event[weights > 0] > 0).any():
        raise InputError(
            f"cause={cause!r}: no row of positive weight has an event of this cause, so there is "
            "nothing that splits could be about: name another cause"
        )
