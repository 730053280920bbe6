"""Who is at risk when: the counts that every curve and test of survival times is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "RiskSets",
    "RunningSums",
    "censoring_risk_sets",
    "inverse_or_zero",
    "number_at_risk",
    "risk_sets",
    "sums_at",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class RunningSums(NamedTuple):
    """Sums of martingale increments of rows up to each time.

    Attributes
    ----------
    final : (n,) float64
        Of each row when it has left.
    expected : (R + 1,) float64
        The sum of a row that is at risk falls from ``expected[first]`` to that of the time.
    """

    final: Floats
    expected: Floats


@dataclass(frozen=True)
class RiskSets:
    """Rows at risk and events at each distinct event time.

    Attributes
    ----------
    times : (R,) float64
        Distinct event times, ascending.
    at_risk, events : (R,) float64
        Sums of case weights.
    first, last : (n,) int64
        A row is at risk at ``times[first:last]``.
    happened : (n,) bool
        Whether the row has an event: at ``times[last - 1]``.
    weights : (n,) float64
    """

    times: Floats
    at_risk: Floats
    events: Floats
    first: Integers
    last: Integers
    happened: NDArray[np.bool_]
    weights: Floats

    @cached_property
    def _ends(self) -> tuple[Integers, Integers]:
        """The rows with an event, and the places of their times."""
        rows = np.flatnonzero(self.happened)
        return rows, self.last[rows] - 1

    @cached_property
    def hazard(self) -> Floats:
        """The share of those at risk that have an event: (R,)."""
        return self.events / self.at_risk

    @cached_property
    def survivors(self) -> Floats:
        """The weight of those at risk that have no event: (R,), exactly 0 where all have one."""
        return self.at_risk - self.events

    @cached_property
    def per_survivor(self) -> Floats:
        """1 divided by the weight of the survivors: (R,), 0 where nobody survives."""
        return inverse_or_zero(self.survivors)

    def of_rows(self, rows: NDArray[np.bool_]) -> RiskSets:
        """Return the same sets in which only events of these rows (n,) count."""
        happened = self.happened & rows
        place = self.last[happened] - 1
        events = sums_at(place, self.weights[happened], len(self.times))
        return RiskSets(
            self.times, self.at_risk, events, self.first, self.last, happened, self.weights
        )

    def martingale_sums(self, factor: Floats) -> Floats:
        """Return, for each row (n,), the sum of its martingale increments times a factor (R,).

        The increment of a row at a time is 1 for an event, minus the hazard while at risk.  The
        derivative of the Nelson–Aalen estimate with respect to the weight of a row is this sum
        with 1/at_risk as the factor, up to the time of interest; other estimates have others.
        """
        expected = _cumulative(factor * self.hazard)
        # all from the beginning, as a rule: then nothing is to be read for each row
        since = expected[self.first] if self.first.any() else 0.0
        rows, place = self._ends
        sums: Floats = since - expected[self.last]
        sums[rows] += factor[place]
        return sums

    def running_sums(self, factor: Floats) -> RunningSums:
        """Return `martingale_sums` with what is needed for those up to each time."""
        return RunningSums(self.martingale_sums(factor), _cumulative(factor * self.hazard))

    def sums_of_products(self, one: RunningSums, other: RunningSums) -> Floats:
        """Return, for each time (R,), the sum over rows of products of their sums up to then.

        Each product is weighted by the squared case weight.  In O(n + R): rows that have left have
        their final sums, and those at risk differ only by when they entered.
        """
        R = len(self.times)
        squared = self.weights**2

        def present(parts: Floats) -> Floats:
            came = sums_at(self.first, parts, R + 1)
            return np.cumsum(came - sums_at(self.last, parts, R + 1))[1:]

        left = np.cumsum(sums_at(self.last, squared * one.final * other.final, R + 1))[1:]
        first, second = one.expected[self.first], other.expected[self.first]
        since_first, since_second = one.expected[1:], other.expected[1:]
        waiting = since_first * since_second * present(squared)
        waiting -= since_first * present(squared * second) + since_second * present(squared * first)
        return left + waiting + present(squared * first * second)


def risk_sets(
    time: Floats,
    event: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> RiskSets:
    """Count who is at risk and who has an event at each distinct event time.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row, otherwise the cause; every cause counts.
    weights : (n,) float64, optional
        Case weights; by default 1.  Rows of weight 0 do not count.
    start : (n,) float64, optional
        When a row enters, before `time`; a row is at risk at t if start < t ≤ time.  By default all
        rows are there from the beginning.

    Examples
    --------
    >>> sets = risk_sets(np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 1, 0, 0]))
    >>> sets.times, sets.at_risk, sets.events
    (array([1., 2.]), array([4., 3.]), array([1., 1.]))
    """
    happened = np.asarray(event) > 0
    weights = np.ones(len(time)) if weights is None else weights
    times = np.unique(time[happened & (weights > 0)])
    last = np.searchsorted(times, time, side="right")
    return _counted(times, _entry(times, start, len(time)), last, happened & (weights > 0), weights)


def censoring_risk_sets(
    time: Floats,
    event: NDArray,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> RiskSets:
    """Count who is at risk of being censored, and who is, at each distinct time of censoring.

    Arguments as for `risk_sets`.  At a time that has both, events come before censoring: rows
    censored at an event time are at risk of the event, rows with an event at a time of censoring
    cannot be censored any more.
    """
    lost = np.asarray(event) == 0
    weights = np.ones(len(time)) if weights is None else weights
    times = np.unique(time[lost & (weights > 0)])
    last = np.searchsorted(times, time, side="right")
    last[~lost] = np.searchsorted(times, time[~lost], side="left")
    return _counted(times, _entry(times, start, len(time)), last, lost & (weights > 0), weights)


def number_at_risk(
    at: ArrayLike, time: Floats, weights: Floats | None = None, start: Floats | None = None
) -> Floats:
    """Return the weight of the rows at risk at times of any shape: those with start < t ≤ time.

    Examples
    --------
    >>> number_at_risk([0.5, 2.0], np.array([1.0, 2.0, 3.0]))
    array([3., 2.])
    """
    weights = np.ones(len(time)) if weights is None else weights

    def not_before(moments: Floats, parts: Floats) -> Floats:
        order = np.argsort(moments, kind="stable")
        beyond = np.append(np.cumsum(parts[order][::-1])[::-1], 0.0)
        return beyond[np.searchsorted(moments[order], at, side="left")]

    if start is None:
        return not_before(time, weights)
    # sums of weights in two orders can differ in the last digit where nobody is at risk
    counted = (weights > 0).astype(np.float64)
    anybody = not_before(time, counted) > not_before(start, counted)
    return np.where(anybody, not_before(time, weights) - not_before(start, weights), 0.0)


def _entry(times: Floats, start: Floats | None, n: int) -> Integers:
    return np.zeros(n, np.int64) if start is None else np.searchsorted(times, start, side="right")


def _counted(
    times: Floats, first: Integers, last: Integers, happened: NDArray[np.bool_], weights: Floats
) -> RiskSets:
    """Return the risk sets of rows that are at risk at ``times[first:last]``."""

    def counts(parts: Floats) -> tuple[Floats, Floats]:
        waiting = sums_at(last, parts, len(times) + 1) - sums_at(first, parts, len(times) + 1)
        # from the last time back: so the smallest risk sets are sums of few weights
        present: Floats = np.cumsum(waiting[::-1])[::-1][1:]
        ended = sums_at(last[happened] - 1, parts[happened], len(times))
        return present, ended

    at_risk, events = counts(weights)
    rows, ended = counts((weights > 0).astype(np.float64))
    # sums of weights in two orders can differ in the last digit
    at_risk = np.where(rows == ended, events, np.maximum(at_risk, events))
    return RiskSets(times, at_risk, events, first, last, happened, weights)


def sums_at(place: Integers, parts: Floats, size: int) -> Floats:
    """Return the sum of the parts at each place from 0: (size,)."""
    return np.bincount(place, parts, size).astype(np.float64, copy=False)


def inverse_or_zero(values: Floats) -> Floats:
    """Return 1 divided by values ≥ 0 of any shape, and 0 where they are 0."""
    positive = values > 0
    return np.where(positive, 1 / np.where(positive, values, 1.0), 0.0)


def _cumulative(parts: Floats) -> Floats:
    """Return the sums of the first 0, 1, … R parts."""
    return np.concatenate([[0.0], np.cumsum(parts)])
