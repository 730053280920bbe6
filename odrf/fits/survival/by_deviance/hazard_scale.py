"""Times of observation on the scale on which the hazard of all training rows is constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.statistics.survival.time_scales import (
    ExponentialScale,
    SubdistributionScale,
    exponential_scale,
    subdistribution_scale,
)

__all__ = ["ScaleOfRows", "hazard_scale", "incidence_scale"]


class ScaleOfRows(Protocol):
    """The scale of the training rows, for them and for others."""

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""


@dataclass(frozen=True, eq=False)
class HazardScale:
    """A scale on which rows leave with their event, whatever its cause.

    Attributes
    ----------
    scale : ExponentialScale
    least : float
        Shorter times count as this one: a row must be observed for some time.
    """

    scale: ExponentialScale
    least: float

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        return self.scale.exposure(_observed(times, self.least), times.start)


@dataclass(frozen=True, eq=False)
class IncidenceScale:
    """A scale on which rows stay at risk of one cause after events of the others.

    Attributes
    ----------
    scale : SubdistributionScale
    least : float
        As of `HazardScale`.
    cause : int
        From 1.
    """

    scale: SubdistributionScale
    least: float
    cause: int

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        stays = (times.event > 0) & (times.event != self.cause)
        return self.scale.exposure(_observed(times, self.least), stays)


def hazard_scale(times: SurvivalTimes, weights: NDArray[np.float64]) -> HazardScale:
    """Return the scale of training rows with case weights (n,).

    A time of 0 counts as half of the shortest other one.
    """
    least = 0.0 if times.start is not None else _least(times)
    observed = _observed(times, least)
    return HazardScale(exponential_scale(observed, times.event, weights, times.start), least)


def incidence_scale(
    times: SurvivalTimes, cause: int, weights: NDArray[np.float64]
) -> IncidenceScale:
    """Return the scale of the subdistribution hazard of one cause, from 1, of training rows.

    All rows are observed from the beginning.  A time of 0 counts as for `hazard_scale`.
    """
    least = _least(times)
    scale = subdistribution_scale(_observed(times, least), times.event, cause, weights)
    return IncidenceScale(scale, least, cause)


def _least(times: SurvivalTimes) -> float:
    return float(times.time[times.time > 0].min()) / 2


def _observed(times: SurvivalTimes, least: float) -> NDArray[np.float64]:
    return times.time if times.start is not None else np.maximum(times.time, least)
