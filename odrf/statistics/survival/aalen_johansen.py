"""The cumulative incidence of each of several competing causes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.kaplan_meier import product_limit
from odrf.statistics.survival.risk_sets import RiskSets, risk_sets
from odrf.statistics.survival.step_curves import StepCurve

__all__ = ["CumulativeIncidence", "cumulative_incidence"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CumulativeIncidence:
    """The probability of an event of one cause by each time, others being possible.

    Attributes
    ----------
    sets, of_cause : RiskSets
        Of events of all causes, and the same in which only those of this cause count.
    survival_before : (R,) float64
        The probability to have had no event before each time.
    incidence : (R,) float64
        The probability of an event of the cause by each time.
    """

    sets: RiskSets
    of_cause: RiskSets
    survival_before: Floats
    incidence: Floats

    @property
    def times(self) -> Floats:
        """The distinct times (R,) of events of all causes."""
        return self.sets.times

    @property
    def curve(self) -> StepCurve:
        """The incidence, 0 before the first event."""
        return StepCurve(self.sets.times, self.incidence, 0.0)

    @cached_property
    def variance(self) -> Floats:
        """The variance (R,) by the delta method, which takes weights as numbers of rows.

        For one cause it is Greenwood's.  See Marubini and Valsecchi (1995), Analysing survival data
        from clinical trials and observational studies, equation (10.12).
        """
        F, S = self.incidence, self.survival_before
        n, d, own = self.sets.at_risk, self.sets.events, self.of_cause.events
        of_survival = d / n * self.sets.per_survivor
        both = S * own / n**2
        own_part = np.cumsum(S**2 * own * (n - own) / n**3)
        # Σ (F(t) - F(s))²·of_survival(s) - 2·(F(t) - F(s))·both(s), written out
        squares = np.cumsum(F**2 * of_survival) - 2 * F * np.cumsum(F * of_survival)
        squares += F**2 * np.cumsum(of_survival)
        products = F * np.cumsum(both) - np.cumsum(F * both)
        return np.maximum(own_part + squares - 2 * products, 0.0)

    @cached_property
    def robust_variance(self) -> Floats:
        """The infinitesimal jackknife's variance (R,), right for weights of any kind."""
        F, left = self.incidence, self.sets.per_survivor
        own = self.of_cause.running_sums(self.survival_before / self.sets.at_risk)
        later = self.sets.running_sums(F * left)
        constant = type(own)(own.final + later.final, own.expected + later.expected)
        linear = self.sets.running_sums(left)
        products = self.sets.sums_of_products
        squares = products(constant, constant) - 2 * F * products(constant, linear)
        return np.maximum(squares + F**2 * products(linear, linear), 0.0)

    def derivatives(self, at: float) -> Floats:
        """Return the derivative of the curve at a time by the weight of each row: (n,)."""
        reached = self.sets.times <= at
        own = self.of_cause.martingale_sums(reached * self.survival_before / self.sets.at_risk)
        later = reached * (float(self.curve(at)) - self.incidence) * self.sets.per_survivor
        return own - self.sets.martingale_sums(later)

    def influence(self, at: float) -> Floats:
        """Return the derivatives times the weights (n,); their squares add up to a variance."""
        return self.sets.weights * self.derivatives(at)


def cumulative_incidence(
    time: Floats,
    event: NDArray,
    cause: int | None = None,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> CumulativeIncidence:
    """Estimate the cumulative incidence of one cause, or of all, which is 1 minus survival.

    The times are those of events of all causes.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64
        0 for a censored row, otherwise the cause.
    cause : int, optional
        By default all.
    weights : (n,) float64, optional
        Case weights; by default 1.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    References
    ----------
    Aalen and Johansen (1978), An empirical transition matrix for non-homogeneous Markov chains
    based on censored observations, Scandinavian Journal of Statistics 5, 141-150.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 2, 0, 1])
    >>> [cumulative_incidence(time, event, cause).incidence for cause in (1, 2)]
    [array([0.25, 0.25, 0.75]), array([0.  , 0.25, 0.25])]
    """
    sets = risk_sets(time, event, weights, start)
    rows = (event > 0) if cause is None else (event == cause)
    of_cause = sets.of_rows(rows)
    before = product_limit(sets).curve.all_values[:-1]
    incidence: Floats = np.cumsum(before * of_cause.hazard)
    return CumulativeIncidence(sets, of_cause, before, incidence)
