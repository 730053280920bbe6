"""The cumulative hazard by the sum of the shares that have an event at each event time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.pointwise_limits import limits_of_cumulative_hazard
from odrf.statistics.survival.risk_sets import RiskSets, risk_sets
from odrf.statistics.survival.step_curves import StepCurve

__all__ = ["NelsonAalen", "nelson_aalen"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NelsonAalen:
    """A Nelson–Aalen estimate.

    Attributes
    ----------
    sets : RiskSets
        Distinct event times, and how many were at risk and had an event.
    hazard : (R,) float64
        The cumulative hazard at each time.
    """

    sets: RiskSets
    hazard: Floats

    @property
    def times(self) -> Floats:
        """The distinct event times (R,)."""
        return self.sets.times

    @property
    def curve(self) -> StepCurve:
        """The cumulative hazard, 0 before the first event."""
        return StepCurve(self.sets.times, self.hazard, 0.0)

    @cached_property
    def variance(self) -> Floats:
        """The variance Σ d/n² (R,) of Aalen and Tsiatis; it takes weights as numbers of rows."""
        return np.cumsum(self.sets.events / self.sets.at_risk**2)

    @cached_property
    def robust_variance(self) -> Floats:
        """The infinitesimal jackknife's variance (R,), right for weights of any kind."""
        sums = self.sets.running_sums(1 / self.sets.at_risk)
        return np.maximum(self.sets.sums_of_products(sums, sums), 0.0)

    def limits(self, level: float = 0.95, scale: str = "log") -> tuple[Floats, Floats]:
        """Return lower and upper limits (R,); see `limits_of_cumulative_hazard`."""
        return limits_of_cumulative_hazard(self.hazard, self.variance, level, scale)


def nelson_aalen(
    time: Floats,
    event: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> NelsonAalen:
    """Estimate the cumulative hazard.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row; every cause counts as the event.  For the hazard of one cause give
        ``event == cause``.
    weights : (n,) float64, optional
        Case weights; by default 1.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    References
    ----------
    Aalen (1978), Nonparametric inference for a family of counting processes, Annals of Statistics
    6, 701-726.

    Examples
    --------
    >>> found = nelson_aalen(np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 1, 0, 0]))
    >>> found.hazard.round(4), found.variance.round(4)
    (array([0.25  , 0.5833]), array([0.0625, 0.1736]))
    """
    sets = risk_sets(time, event, weights, start)
    return NelsonAalen(sets, np.cumsum(sets.hazard))
