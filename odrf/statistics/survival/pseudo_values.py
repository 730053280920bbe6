"""Pseudo-values: what a row adds to an estimate from censored times, as if it had been observed.

The pseudo-value of a row is the estimate plus the total weight of all rows times the derivative of
the estimate by the weight of the row.  It is the infinitesimal jackknife's version of
n θ - (n - 1) θ₋ᵢ, from which it differs by terms of order 1/n, and the one that goes with case
weights.  Without censoring, pseudo-values of the survival at t are the indicators of T > t, those
of the restricted mean are min(T, horizon), and those of the incidence of a cause at t are the
indicators of an event of this cause by t.  Given predictors their expectation is the conditional
survival, restricted mean or incidence, if censoring does not depend on the predictors.  So the
squared error of predictions of them tells how well curves are predicted.

With late entry this is not so: if α(x) is the probability of a row with the predictors x to be seen
at all, that it has no event before it enters, and α the same of all rows, the expectation of the
pseudo-value of a survival, of a restricted mean or of an incidence is θ + (θ(x) - θ)·α/α(x).  The
factor depends on the conditional law itself, so that no value of single rows corrects it.  Scores
that are weighted by the probability to be observed (`odrf.statistics.survival.observation`) do not
need it.

References
----------
Andersen, Klein and Rosthøj (2003), Generalised linear models for correlated pseudo-observations,
with applications to multi-state models, Biometrika 90, 15-27.

Parner, Andersen and Overgaard (2023), Regression models for censored time-to-event data using
infinitesimal jack-knife pseudo-observations, with applications to left-truncation, Lifetime Data
Analysis 29.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.aalen_johansen import CumulativeIncidence
from odrf.statistics.survival.kaplan_meier import product_limit
from odrf.statistics.survival.risk_sets import RiskSets

__all__ = [
    "hazard_pseudo_values",
    "incidence_pseudo_values",
    "restricted_mean_pseudo_values",
    "survival_pseudo_values",
    "time_lost_pseudo_values",
]

Floats = NDArray[np.float64]


def survival_pseudo_values(sets: RiskSets, time: float) -> Floats:
    """Return the pseudo-values (n,) of the Kaplan–Meier survival at a time.

    Examples
    --------
    >>> from odrf.statistics.survival.risk_sets import risk_sets
    >>> sets = risk_sets(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1]))
    >>> survival_pseudo_values(sets, 2.5)
    array([0., 0., 1., 1.])
    """
    survival = float(product_limit(sets).curve(time))
    factor = np.where(sets.times <= time, sets.per_survivor, 0.0)
    return survival - sets.weights.sum() * survival * sets.martingale_sums(factor)


def restricted_mean_pseudo_values(sets: RiskSets, horizon: float) -> Floats:
    """Return the pseudo-values (n,) of the area under the Kaplan–Meier curve up to a time.

    Examples
    --------
    >>> from odrf.statistics.survival.risk_sets import risk_sets
    >>> sets = risk_sets(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1]))
    >>> restricted_mean_pseudo_values(sets, 2.5)
    array([1. , 2. , 2.5, 2.5])
    """
    # an event changes the curve by a factor from its time on, so the area that is left by as much
    ends = np.minimum(np.append(sets.times, horizon), horizon)
    pieces = product_limit(sets).survival * np.maximum(np.diff(ends), 0.0)
    left = np.cumsum(pieces[::-1])[::-1]
    area = float(ends[0]) + float(left[0])
    return area - sets.weights.sum() * sets.martingale_sums(sets.per_survivor * left)


def hazard_pseudo_values(sets: RiskSets, time: float) -> Floats:
    """Return the pseudo-values (n,) of the Nelson–Aalen cumulative hazard at a time.

    Examples
    --------
    >>> from odrf.statistics.survival.risk_sets import risk_sets
    >>> sets = risk_sets(np.array([1.0, 2.0]), np.array([1, 0]))
    >>> hazard_pseudo_values(sets, 1.5)
    array([1., 0.])
    """
    reached = sets.times <= time
    factor = np.where(reached, 1 / sets.at_risk, 0.0)
    total = float(np.where(reached, sets.hazard, 0.0).sum())
    return total + sets.weights.sum() * sets.martingale_sums(factor)


def incidence_pseudo_values(found: CumulativeIncidence, time: float) -> Floats:
    """Return the pseudo-values (n,) of the Aalen–Johansen incidence of a cause at a time.

    Examples
    --------
    >>> from odrf.statistics.survival.aalen_johansen import cumulative_incidence
    >>> found = cumulative_incidence(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 2, 1, 2]), 1)
    >>> incidence_pseudo_values(found, 2.5) + 0.0
    array([1., 0., 0., 0.])
    """
    return float(found.curve(time)) + found.sets.weights.sum() * found.derivatives(time)


def time_lost_pseudo_values(found: CumulativeIncidence, horizon: float) -> Floats:
    """Return the pseudo-values (n,) of the time that a cause takes up to a horizon.

    It is the area under the incidence of the cause, so its derivatives are the areas under those of
    the incidence.

    Examples
    --------
    >>> from odrf.statistics.survival.aalen_johansen import cumulative_incidence
    >>> found = cumulative_incidence(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 2, 1, 2]), 1)
    >>> time_lost_pseudo_values(found, 3.5) + 0.0
    array([2.5, 0. , 0.5, 0. ])
    """
    sets, curve = found.sets, found.curve
    left = np.maximum(horizon - sets.times, 0.0)
    area = float(curve.integral(horizon))
    # what the incidence still gains after each time, integrated up to the horizon
    gained = np.where(left > 0, area - curve.integral(sets.times) - left * found.incidence, 0.0)
    own = found.of_cause.martingale_sums(left * found.survival_before / sets.at_risk)
    later = sets.martingale_sums(gained * sets.per_survivor)
    return area + sets.weights.sum() * (own - later)
