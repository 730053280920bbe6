"""Pseudo-values: what a censored row stands for, so that regressions for numbers can be used.

The pseudo-value of a row is n times the estimate minus (n - 1) times that without the row.  The
estimate without a row differs from that of all rows in one factor at each time at which the row was
at risk; so sums of logarithms give all of them at once, without n estimates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.kaplan_meier import KaplanMeier, kaplan_meier

__all__ = ["pseudo_restricted_means", "pseudo_survival"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class _Products(NamedTuple):
    """Products of runs of R factors, of which some may be 0.

    Attributes
    ----------
    logarithms : (R + 1,) float64
        Sums of the logarithms of the first factors other than 0.
    first_zero : (R + 1,) int64
        Where the next 0 is, from each place on; R where there is none.
    """

    logarithms: Floats
    first_zero: Integers

    def between(self, begin: Integers, end: Integers) -> Floats:
        """Return the products of the factors ``[begin:end]``, of any shape."""
        logarithm = self.logarithms[end] - self.logarithms[begin]
        return np.where(self.first_zero[begin] < end, 0.0, np.exp(logarithm))

    def areas(self, begin: Integers, end: Integers, lengths: Floats) -> Floats:
        """Return the sums of lengths (R + 1,) times products, over places in ``[begin:end]``.

        The product at a place is that from the beginning up to there.
        """
        below = np.concatenate([[0.0], np.cumsum(np.exp(self.logarithms) * lengths)])
        last = np.minimum(end, self.first_zero[begin] + 1)
        area = (below[last] - below[begin]) * np.exp(-self.logarithms[begin])
        return np.where(last > begin, area, 0.0)


class _WithoutRow(NamedTuple):
    """The factors of the curves that leave out a row.

    Attributes
    ----------
    of_all, of_others : _Products
        The factors of all rows, and without a row that is at risk and has no event.
    own : (n,) float64
        The factor at the time of the event of the row; 1 for a censored row.
    first, last, until : (n,) int64
        The row is at risk at the places in ``[first:last]``, without an event in ``[first:until]``.
    """

    of_all: _Products
    of_others: _Products
    own: Floats
    first: Integers
    last: Integers
    until: Integers

    def survival(self, passed: int) -> Floats:
        """Return the curve after so many factors: (n,)."""
        before = self.of_all.between(np.zeros_like(self.first), np.minimum(self.first, passed))
        while_there = self.of_others.between(
            np.minimum(self.first, passed), np.minimum(self.until, passed)
        )
        left = np.minimum(self.last, passed)
        after = self.of_all.between(left, np.full_like(left, passed))
        return before * while_there * np.where(self.last <= passed, self.own, 1.0) * after

    def areas(self, lengths: Floats) -> Floats:
        """Return the areas under the curves (n,) for the lengths (R + 1,) of their steps."""
        beginning, R = np.zeros_like(self.first), len(lengths) - 1
        area = self.of_all.areas(beginning, self.first, lengths)
        level = self.of_all.between(beginning, self.first)
        # up to the step before the row leaves; then its event has another factor
        area += level * self.of_others.areas(self.first, self.last, lengths)
        level *= self.of_others.between(self.first, self.until) * self.own
        return area + level * self.of_all.areas(self.last, np.full_like(self.last, R + 1), lengths)


def pseudo_survival(
    time: Floats, event: NDArray, at: Floats, start: Floats | None = None
) -> Floats:
    """Return pseudo-values (n, m) of the survival at m times.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row; every cause counts as the event.
    at : (m,) float64
        The times.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    References
    ----------
    Andersen, Klein and Rosthøj (2003), Generalised linear models for correlated
    pseudo-observations, with applications to multi-state models, Biometrika 90, 15-27.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1])
    >>> pseudo_survival(time, event, np.array([3.5]))[:, 0]
    array([ 0. ,  0.5, -0.5,  1.5])
    """
    found = kaplan_meier(time, event, start=start)
    without, n = _without_row(found), len(time)
    values = np.empty((n, len(at)))
    for m, passed in enumerate(np.searchsorted(found.times, at, side="right")):
        survival = found.curve.all_values[passed]
        values[:, m] = n * survival - (n - 1) * without.survival(int(passed))
    return values


def pseudo_restricted_means(
    time: Floats, event: NDArray, horizons: Floats, start: Floats | None = None
) -> Floats:
    """Return pseudo-values (n, m) of the restricted mean survival time up to m horizons.

    Other arguments as for `pseudo_survival`.

    References
    ----------
    Andersen, Hansen and Klein (2004), Regression analysis of restricted mean survival time based on
    pseudo-observations, Lifetime Data Analysis 10, 335-350.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1])
    >>> pseudo_restricted_means(time, event, np.array([2.5]))[:, 0]
    array([1. , 2. , 2.5, 2.5])
    """
    found = kaplan_meier(time, event, start=start)
    without, n = _without_row(found), len(time)
    values = np.empty((n, len(horizons)))
    for m, horizon in enumerate(horizons):
        ends = np.clip(np.concatenate([[0.0], found.times, [np.inf]]), 0.0, horizon)
        area = float(found.curve.integral(horizon))
        values[:, m] = n * area - (n - 1) * without.areas(np.diff(ends))
    return values


def _without_row(found: KaplanMeier) -> _WithoutRow:
    sets = found.sets
    n, d, others = sets.at_risk, sets.events, np.maximum(sets.at_risk - 1, 1.0)
    own = np.ones(len(sets.first))
    at = sets.last[sets.happened] - 1
    # if the row is alone at risk, there is no event without it
    own[sets.happened] = np.where(n[at] > 1, (n[at] - d[at]) / others[at], 1.0)
    return _WithoutRow(
        _products((n - d) / n),
        # where all have the event nobody is at risk without one: that factor is not read
        _products(np.maximum(n - 1 - d, 0.0) / others),
        own,
        sets.first,
        sets.last,
        sets.last - sets.happened,
    )


def _products(factors: Floats) -> _Products:
    R = len(factors)
    logarithms = np.log(np.where(factors > 0, factors, 1.0))
    zero = np.where(factors > 0, R, np.arange(R))
    first_zero = np.append(np.minimum.accumulate(zero[::-1])[::-1], R)
    return _Products(np.concatenate([[0.0], np.cumsum(logarithms)]), first_zero)
