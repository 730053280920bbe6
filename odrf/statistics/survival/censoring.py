"""The probability to be still observed, by which measures of survival weight their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.kaplan_meier import product_limit
from odrf.statistics.survival.risk_sets import RiskSets, censoring_risk_sets

__all__ = ["CensoringCurve", "censoring_curve", "inverse_or_zero"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class CensoringCurve:
    """The Kaplan–Meier curve G of the time of censoring.

    An event at T was observed with probability G(T-): at a time that has both, events come before
    censoring.  A row was followed beyond t with probability G(t).

    Attributes
    ----------
    sets : RiskSets
        Distinct times of censoring.
    values : (R + 1,) float64
        G before the first of them, which is 1, and from each one on.
    """

    sets: RiskSets
    values: Floats

    def passed(self, at: Floats) -> Integers:
        """Return how many of its steps are before each time: as index of `values`, G(t-)."""
        return np.searchsorted(self.sets.times, at, side="left")

    def passed_with(self, at: Floats) -> Integers:
        """Return how many of its steps are before or at each time: as index, G(t)."""
        return np.searchsorted(self.sets.times, at, side="right")

    def just_before(self, at: Floats) -> Floats:
        """Return G(t-) at times of any shape."""
        return self.values[self.passed(at)]

    def __call__(self, at: Floats) -> Floats:
        """Return G(t) at times of any shape."""
        return self.values[self.passed_with(at)]

    def influence(self, passed: Integers, parts: Floats) -> Floats:
        """Return what each row of the curve adds to the error of a sum of logarithms: (n,).

        Parameters
        ----------
        passed : (m,) int64
            Where the logarithms of G are taken, as index of `values`; there G is not 0.
        parts : (m,) float64
            The factor of each logarithm in the sum.
        """
        R = len(self.sets.times)
        beyond = np.cumsum(np.bincount(passed, parts, R + 1)[::-1])[::-1][1:]
        return self.sets.weights * self.sets.martingale_sums(-beyond * self.sets.per_survivor)


def censoring_curve(
    time: Floats,
    event: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> CensoringCurve:
    """Estimate the probability not to be censored yet.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row.
    weights : (n,) float64, optional
        Case weights; by default 1.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    Examples
    --------
    >>> G = censoring_curve(np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 1, 0, 0]))
    >>> G.just_before(np.array([2.0, 3.0])), G(np.array([2.0, 3.0]))
    (array([1. , 0.5]), array([0.5, 0. ]))
    """
    sets = censoring_risk_sets(time, event, weights, start)
    return CensoringCurve(sets, product_limit(sets).curve.all_values)


def inverse_or_zero(probability: Floats) -> Floats:
    """Return 1/p, and 0 where p is 0."""
    return np.where(probability > 0, 1 / np.where(probability > 0, probability, 1.0), 0.0)
