"""Pseudo-values, and estimates with what each row adds to their errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.calibration import normal_or_t, variance_of_groups
from odrf.statistics.effects import limits_of_share
from odrf.statistics.survival.curves import CumulativeIncidence, RiskSets, product_limit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What is a smaller part of the numbers that it was computed from is what rounding leaves of 0.
ROUNDING = 1e-14


@dataclass(frozen=True)
class RowwiseEstimate:
    """An estimate, with its error by the infinitesimal jackknife (Jaeckel 1972).

    `influence` (n,) is the weight of each row times the derivative of the estimate by this weight.
    """

    estimate: float
    influence: Floats

    @property
    @one_thread()
    def std_error(self) -> float:
        """The root of the sum of squared influences of independent rows."""
        return self._known(float(np.sqrt(self.influence @ self.influence)))

    def std_error_of_groups(self, groups: Integers | None) -> float:
        """Return the standard error where groups of rows (n,) are independent; None: the rows."""
        if groups is None:
            return self.std_error
        return self._known(float(np.sqrt(variance_of_groups(self.influence, groups))))

    def interval(self, level: float = 0.95, groups: Integers | None = None) -> tuple[float, float]:
        """Return the normal interval; with groups by Student's t."""
        reach = self._reach(level, groups)
        return self.estimate - reach, self.estimate + reach

    def p_value(self, value: float = 0.0, groups: Integers | None = None) -> float:
        """Return the two-sided p-value of the hypothesis that the estimated number is `value`."""
        error = self.std_error_of_groups(groups)
        z = abs(self.estimate - value) / error if error > 0 else float("nan")
        if groups is None:
            return float(2 * scipy.special.ndtr(-z))
        return float(2 * scipy.special.stdtr(len(np.unique(groups)) - 1, -z))

    def _known(self, error: float) -> float:
        return 0.0 if error <= ROUNDING * (abs(self.estimate) or 1.0) else error

    def _reach(self, level: float, groups: Integers | None) -> float:
        error = self.std_error_of_groups(groups)
        return normal_or_t(level, groups) * error


@dataclass(frozen=True)
class RowwiseShare(RowwiseEstimate):
    """One that lies between 0 and 1: a share of pairs, or a mean squared error of probabilities."""

    def interval(self, level: float = 0.95, groups: Integers | None = None) -> tuple[float, float]:
        """Return the interval by `limits_of_share`; NaN if the estimate is 0 or 1."""
        low, high = limits_of_share(self.estimate, self._reach(level, groups))
        return float(low), float(high)


@dataclass(frozen=True)
class RowwiseReduction(RowwiseEstimate):
    """1 minus the ratio of two positive numbers: at most 1, and negative where there is none."""

    def interval(self, level: float = 0.95, groups: Integers | None = None) -> tuple[float, float]:
        """Return the interval for the logarithm of the ratio, so that it ends below 1; NaN at 1."""
        ratio, reach = 1 - self.estimate, self._reach(level, groups)
        if not ratio > 0:
            return float("nan"), float("nan")
        factor = float(np.exp(reach / ratio))
        return 1 - ratio * factor, 1 - ratio / factor


def difference_of_estimates(first: RowwiseEstimate, second: RowwiseEstimate) -> RowwiseEstimate:
    """Return the first minus the second estimate of the same rows, such as C of two models."""
    return RowwiseEstimate(first.estimate - second.estimate, first.influence - second.influence)


def share_of_estimates(part: RowwiseEstimate, whole: RowwiseEstimate) -> RowwiseEstimate:
    """Return one estimate divided by another of the same rows, by the delta method; NaN by 0."""
    if whole.estimate == 0:
        return RowwiseEstimate(float("nan"), np.full(len(part.influence), np.nan))
    share = part.estimate / whole.estimate
    share = 1.0 if abs(share - 1) <= ROUNDING else share
    off = part.influence - share * whole.influence
    # what cancels leaves no error, but for rounding
    off[np.abs(off) <= ROUNDING * np.abs(part.influence)] = 0.0
    return RowwiseEstimate(share, off / whole.estimate)


# Pseudo-values: what a row adds to an estimate from censored times, as if it had been observed.
# The pseudo-value of a row is the estimate plus the total weight of all rows times the derivative
# of the estimate by the weight of the row.  It is the infinitesimal jackknife's version of n θ - (n
# - 1) θ₋ᵢ, from which it differs by terms of order 1/n, and the one that goes with case weights.
# Without censoring, pseudo-values of the survival at t are the indicators of T > t, those of the
# restricted mean are min(T, horizon), and those of the incidence of a cause at t are the indicators
# of an event of this cause by t.  Given predictors their expectation is the conditional survival,
# restricted mean or incidence, if censoring does not depend on the predictors.  So the squared
# error of predictions of them shows how well curves are predicted.
#
# With late entry this is not so: if α(x) is the probability of a row with the predictors x to be
# seen at all, that it has no event before it enters, and α the same of all rows, the expectation of
# the pseudo-value of a survival, of a restricted mean or of an incidence is θ + (θ(x) - θ)·α/α(x).
# The factor depends on the conditional law itself, so that no value of single rows corrects it.
# Scores that are weighted by the probability to be observed
# (`odrf.statistics.survival.observation`) do not need it.
#
# References
# ----------
# Andersen, Klein and Rosthøj (2003), Generalised linear models for correlated pseudo-observations,
# with applications to multi-state models, Biometrika 90, 15-27.
#
# Parner, Andersen and Overgaard (2023), Regression models for censored time-to-event data using
# infinitesimal jack-knife pseudo-observations, with applications to left-truncation, Lifetime Data
# Analysis 29.


def survival_pseudo_values(sets: RiskSets, time: float) -> Floats:
    """Return the pseudo-values (n,) of the Kaplan–Meier survival at a time."""
    survival = float(product_limit(sets).curve(time))
    factor = np.where(sets.times <= time, sets.per_survivor, 0.0)
    return survival - sets.weights.sum() * survival * sets.martingale_sums(factor)


def restricted_mean_pseudo_values(sets: RiskSets, horizon: float) -> Floats:
    """Return the pseudo-values (n,) of the area under the Kaplan–Meier curve up to a time."""
    # an event changes the curve by a factor from its time on, so the area that is left by as much
    ends = np.minimum(np.append(sets.times, horizon), horizon)
    pieces = product_limit(sets).survival * np.maximum(np.diff(ends), 0.0)
    left = np.cumsum(pieces[::-1])[::-1]
    area = float(ends[0]) + float(left[0])
    return area - sets.weights.sum() * sets.martingale_sums(sets.per_survivor * left)


def hazard_pseudo_values(sets: RiskSets, time: float) -> Floats:
    """Return the pseudo-values (n,) of the Nelson–Aalen cumulative hazard at a time."""
    reached = sets.times <= time
    factor = np.where(reached, 1 / sets.at_risk, 0.0)
    total = float(np.where(reached, sets.hazard, 0.0).sum())
    return total + sets.weights.sum() * sets.martingale_sums(factor)


def incidence_pseudo_values(incidence: CumulativeIncidence, time: float) -> Floats:
    """Return the pseudo-values (n,) of the Aalen–Johansen incidence of a cause at a time."""
    return float(incidence.curve(time)) + incidence.sets.weights.sum() * incidence.derivatives(time)


def time_lost_pseudo_values(incidence: CumulativeIncidence, horizon: float) -> Floats:
    """Return the pseudo-values (n,) of the time lost by a cause: the area under its incidence."""
    sets, curve = incidence.sets, incidence.curve
    left = np.maximum(horizon - sets.times, 0.0)
    area = float(curve.integral(horizon))
    # what the incidence still gains after each time, integrated up to the horizon
    gained = np.where(left > 0, area - curve.integral(sets.times) - left * incidence.incidence, 0.0)
    own = incidence.of_cause.martingale_sums(left * incidence.survival_before / sets.at_risk)
    later = sets.martingale_sums(gained * sets.per_survivor)
    return area + sets.weights.sum() * (own - later)
