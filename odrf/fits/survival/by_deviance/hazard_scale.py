"""Times of observation on the scale on which the hazard of all training rows is constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival.survival_times import SurvivalTimes
from odrf.statistics.survival.exponential_scale import ExponentialScale, exponential_scale

__all__ = ["HazardScale", "hazard_scale"]


@dataclass(frozen=True, eq=False)
class HazardScale:
    """The scale of the training rows, for them and for others.

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


def hazard_scale(times: SurvivalTimes, weights: NDArray[np.float64]) -> HazardScale:
    """Return the scale of training rows with case weights (n,).

    A time of 0 counts as half of the shortest other one.
    """
    least = 0.0 if times.start is not None else float(times.time[times.time > 0].min()) / 2
    observed = _observed(times, least)
    return HazardScale(exponential_scale(observed, times.event, weights, times.start), least)


def _observed(times: SurvivalTimes, least: float) -> NDArray[np.float64]:
    return times.time if times.start is not None else np.maximum(times.time, least)
