"""The cumulative incidence of each of several competing causes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.kaplan_meier import product_limit
from odrf.statistics.survival.pointwise_limits import limits_of_probability
from odrf.statistics.survival.risk_sets import RiskSets, inverse_or_zero, risk_sets
from odrf.statistics.survival.step_curves import StepCurve

__all__ = ["CumulativeIncidence", "aalen_johansen", "cumulative_incidence"]

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
    def aalen_variance(self) -> Floats:
        """Aalen's variance (R,), which takes weights as numbers of rows.

        Events of the cause and of others are independent increments; of several at a time the
        number is hypergeometric.  It is a little larger than that by the delta method where few
        rows are at risk, and is what the R package cmprsk gives.

        References
        ----------
        Aalen (1978), Nonparametric estimation of partial transition probabilities in multiple
        decrement models, Annals of Statistics 6, 534-545.
        """
        F, n = self.incidence, self.sets.at_risk
        own = self.of_cause.events
        after = self.survival_before * self.sets.survivors / n
        per_after = inverse_or_zero(after)

        def spread(events: Floats) -> Floats:
            others = np.where(events > 1, (events - 1) / np.where(n > 1, n - 1, 1.0), 0.0)
            return (1 - others) * self.survival_before**2 * events / n**2

        def squares(constant: Floats, variance: Floats) -> Floats:
            # Σ (constant(s) - F(t)/S(s))²·variance(s), written out
            whole = np.cumsum(constant**2 * variance)
            whole = whole - 2 * F * np.cumsum(constant * per_after * variance)
            return whole + F**2 * np.cumsum(per_after**2 * variance)

        of_cause = squares(1 + F * per_after, spread(own))
        of_others = squares(F * per_after, spread(self.sets.events - own))
        return np.maximum(of_cause + of_others, 0.0)

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

    def limits(self, level: float = 0.95, scale: str = "log-log") -> tuple[Floats, Floats]:
        """Return lower and upper limits (R,) by `variance`; see `limits_of_probability`."""
        return limits_of_probability(self.incidence, self.variance, level, scale)


def aalen_johansen(
    time: Floats,
    event: NDArray[np.int64],
    weights: Floats | None = None,
    start: Floats | None = None,
) -> dict[int, CumulativeIncidence]:
    """Estimate the cumulative incidence of each cause that occurs; all have the same times.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64
        0 for a censored row, otherwise the cause.
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
    >>> found = aalen_johansen(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 2, 0, 1]))
    >>> found[1].incidence, found[2].incidence
    (array([0.25, 0.25, 0.75]), array([0.  , 0.25, 0.25]))
    """
    sets = risk_sets(time, event, weights, start)
    return {int(cause): _of_cause(sets, event == cause) for cause in np.unique(event[event > 0])}


def cumulative_incidence(
    time: Floats,
    event: NDArray,
    cause: int | None = None,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> CumulativeIncidence:
    """Estimate the cumulative incidence of one cause, or of all, which is 1 minus survival.

    Arguments as for `aalen_johansen`; `cause` by default means all.
    """
    sets = risk_sets(time, event, weights, start)
    return _of_cause(sets, (event > 0) if cause is None else (event == cause))


def _of_cause(sets: RiskSets, rows: NDArray[np.bool_]) -> CumulativeIncidence:
    of_cause = sets.of_rows(rows)
    before = product_limit(sets).curve.all_values[:-1]
    incidence: Floats = np.cumsum(before * of_cause.hazard)
    return CumulativeIncidence(sets, of_cause, before, incidence)
