"""Which events the deviance of a tree is about, and how long its rows are at risk of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.fits.survival.by_deviance.hazard_scale import (
    ScaleOfRows,
    hazard_scale,
    incidence_scale,
)
from odrf.fits.survival.cause_numbers import cause_numbers
from odrf.options.criteria import GRAY
from odrf.options.tree import Control

__all__ = ["JudgedEvents", "judged_events"]


@dataclass(frozen=True, eq=False)
class JudgedEvents:
    """What the deviance of a tree counts of its rows.

    Attributes
    ----------
    cause : str or None
        The cause that the tree is about; None: of each cause.
    scale : ScaleOfRows
        Of the training rows.
    """

    cause: str | None
    scale: ScaleOfRows

    def counted(self, times: SurvivalTimes) -> SurvivalTimes:
        """Return the times with the events that count, rows with others being censored."""
        return times if self.cause is None else times.about(self.cause)

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        return self.scale.exposure(times)


def judged_events(
    times: SurvivalTimes, weights: NDArray[np.float64], control: Control
) -> JudgedEvents:
    """Return what the deviance of a tree of these options counts.

    `times` and case weights (n,) are those of the training rows.

    A tree whose splits are about one cause is judged by what its splits are about.  If they
    separate the hazard of that cause, events of the others are censored: the deviance is that of a
    tree of ``Surv(time, event == cause)``.  If they separate its incidence, by Gray's scores, rows
    with an event of another cause stay at risk: the deviance is that of subdistribution hazards.
    With these rows censored, a split that moves the incidence by the other causes alone would lower
    no deviance, and be pruned; and one that only moves the hazard would be kept.
    """
    cause = control.cause
    if cause is None:
        return JudgedEvents(None, hazard_scale(times, weights))
    if control.criterion == GRAY:
        number = 1 + int(cause_numbers(cause, times.causes)[0])
        return JudgedEvents(cause, incidence_scale(times, number, weights))
    return JudgedEvents(cause, hazard_scale(times.about(cause), weights))
