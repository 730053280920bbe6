"""The survival curve by the product of the shares that survive each event time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.pointwise_limits import limits_of_probability
from odrf.statistics.survival.risk_sets import RiskSets, risk_sets
from odrf.statistics.survival.step_curves import StepCurve

__all__ = ["KaplanMeier", "kaplan_meier", "kaplan_meier_of_groups", "product_limit"]

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

    @cached_property
    def robust_variance(self) -> Floats:
        """The infinitesimal jackknife's variance (R,), right for weights of any kind.

        The sum over rows of squared derivatives of the estimate by their weights.  NaN once nobody
        survives.
        """
        logarithm = self.sets.running_sums(self.sets.per_survivor)
        squares = np.maximum(self.sets.sums_of_products(logarithm, logarithm), 0.0)
        return np.where(self.survival > 0, self.survival**2 * squares, np.nan)

    def limits(self, level: float = 0.95, scale: str = "log-log") -> tuple[Floats, Floats]:
        """Return lower and upper limits (R,) by Greenwood's variance.

        See `limits_of_probability`.
        """
        return limits_of_probability(self.survival, self.variance, level, scale)

    def quantile(self, share: float = 0.5) -> float:
        """Return the first time by which at least this share had an event; infinite if none."""
        # 1 - share may be a little less than the product of shares that should equal it
        return self.curve.first_at_most(1 - share + 1e-12)

    def derivatives(self, at: float) -> Floats:
        """Return the derivative of the curve at a time by the weight of each row: (n,)."""
        reached = self.sets.times <= at
        return -self.sets.martingale_sums(reached * self.sets.per_survivor) * self.curve(at)

    def influence(self, at: float) -> Floats:
        """Return the derivatives times the weights (n,); their squares add up to a variance."""
        return self.sets.weights * self.derivatives(at)


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


def kaplan_meier_of_groups(
    time: Floats,
    event: NDArray,
    group: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> dict[object, KaplanMeier]:
    """Estimate the survival curve of each group (n,); the groups in ascending order.

    Other arguments as for `kaplan_meier`.
    """
    curves: dict[object, KaplanMeier] = {}
    for g in np.unique(group):
        of = group == g
        curves[g] = kaplan_meier(
            time[of],
            event[of],
            None if weights is None else weights[of],
            None if start is None else start[of],
        )
    return curves
