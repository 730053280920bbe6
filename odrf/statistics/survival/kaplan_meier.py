"""The survival curve by the product of the shares that survive each event time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.pointwise_limits import limits_of_probability
from odrf.statistics.survival.risk_sets import RiskSets, risk_sets
from odrf.statistics.survival.step_curves import StepCurve

__all__ = ["KaplanMeier", "kaplan_meier", "product_limit"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KaplanMeier:
    """A Kaplan–Meier curve.

    Attributes
    ----------
    sets : RiskSets
        Distinct event times, and how many were at risk and had an event.
    survival : (R,) float64
        The probability to survive each time.
    """

    sets: RiskSets
    survival: Floats

    @property
    def times(self) -> Floats:
        """The distinct event times (R,)."""
        return self.sets.times

    @property
    def curve(self) -> StepCurve:
        """The curve, 1 before the first event."""
        return StepCurve(self.sets.times, self.survival, 1.0)

    @cached_property
    def variance(self) -> Floats:
        """Greenwood's variance (R,), which takes weights as numbers of rows.

        NaN once nobody survives.
        """
        n, d = self.sets.at_risk, self.sets.events
        left = np.where(self.survival > 0, self.sets.survivors, np.nan)
        return self.survival**2 * np.cumsum(d / (n * left))

    def limits(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return lower and upper limits (R,) by Greenwood's variance.

        See `limits_of_probability`.
        """
        return limits_of_probability(self.survival, self.variance, level)

    def quantile(self, share: float = 0.5) -> float:
        """Return the first time by which at least this share had an event; infinite if none."""
        # 1 - share may be a little less than the product of shares that should equal it
        return self.curve.first_at_most(1 - share + 1e-12)


def kaplan_meier(
    time: Floats,
    event: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> KaplanMeier:
    """Estimate the survival curve.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row; every cause counts as the event.
    weights : (n,) float64, optional
        Case weights; by default 1.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    References
    ----------
    Kaplan and Meier (1958), Nonparametric estimation from incomplete observations, JASA 53,
    457-481.

    Examples
    --------
    >>> found = kaplan_meier(np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 1, 0, 0]))
    >>> found.times, found.survival, found.variance
    (array([1., 2.]), array([0.75, 0.5 ]), array([0.046875, 0.0625  ]))
    """
    return product_limit(risk_sets(time, event, weights, start))


def product_limit(sets: RiskSets) -> KaplanMeier:
    """Return the Kaplan–Meier curve of risk sets."""
    return KaplanMeier(sets, np.cumprod(sets.survivors / sets.at_risk, dtype=np.float64))
