"""The probability to be observed at a time, by which measures of survival weight their rows.

That not to be censored yet; where rows enter late, that to have entered, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.statistics.survival import curves

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class CensoringCurve:
    """The Kaplan–Meier curve G of the time of censoring.

    An event at T was observed with probability G(T-), a row followed beyond t with G(t). `values`
    (R + 1,) are 1, and G from each of the distinct times of censoring on.
    """

    sets: curves.RiskSets
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

        `passed` (m,) are where these are taken, as index of `values`, `parts` (m,) their factors.
        """
        R = len(self.sets.times)
        beyond = np.cumsum(np.bincount(passed, parts, R + 1)[::-1])[::-1][1:]
        return self.sets.weights * self.sets.martingale_sums(-beyond * self.sets.per_survivor)


@dataclass(frozen=True)
class LateEntryCurve:
    """The probability K of being under observation, but for a factor, where rows enter late.

    With Y(t) of n rows at risk, and the Kaplan–Meier curve S, K(t-) = Y(t)/(n·S(t-)). If neither
    entry nor censoring depends on event and predictors, it is the probability to be seen at t over
    that to be seen at all. With weights 1/K, an event weighs S(t-)/Y(t), the jump of the
    Kaplan–Meier curve (Geskus 2011, Biometrics 67, 39-49). `moments` (M,) are ends and entries;
    `present`, `values`, `before` (2 M + 1,) have each at it and from it on; `entered`, `left` (n,)
    are places in these.
    """

    sets: curves.RiskSets
    moments: Floats
    present: Floats
    values: Floats
    entered: Integers
    left: Integers
    before: Integers

    def passed(self, at: Floats) -> Integers:
        """Return where K(t-) is, as index of `values`."""
        place = np.searchsorted(self.moments, at, side="left")
        known = self.moments[np.minimum(place, len(self.moments) - 1)] == at
        return 2 * place + known

    def passed_with(self, at: Floats) -> Integers:
        """Return where K(t) is, as index of `values`."""
        return 2 * np.searchsorted(self.moments, at, side="right")

    def influence(self, passed: Integers, parts: Floats) -> Floats:
        """Return what each row of the curve adds to the error of a sum of logarithms: (n,)."""
        size, weights = len(self.values), self.sets.weights
        total = np.bincount(passed, parts, size)
        known = self.present > 0
        of_present = np.where(known, total / np.where(known, self.present, 1.0), 0.0)
        summed = np.concatenate([[0.0], np.cumsum(of_present)])
        # S falls at the event times before; so much of the sum is read after each of them
        R = len(self.sets.times)
        beyond = np.cumsum(curves.sums_at(self.before, total.astype(np.float64), R + 1)[::-1])[
            ::-1
        ][1:]
        of_survival = self.sets.martingale_sums(beyond * self.sets.per_survivor)
        of_rows = summed[self.left] - summed[self.entered]
        return weights * (of_rows + of_survival - parts.sum() / weights.sum())


ObservationCurve = CensoringCurve | LateEntryCurve
"""Curves that are read just before times, where events are, and at them."""


def censoring_curve(
    time: Floats, event: NDArray, weights: Floats | None = None, start: Floats | None = None
) -> CensoringCurve:
    """Estimate the probability not to be censored yet; arguments as for `risk_sets`."""
    sets = curves.censoring_risk_sets(time, event, weights, start)
    return CensoringCurve(sets, curves.product_limit(sets).curve.all_values)


def observation_curve(
    time: Floats, event: NDArray, weights: Floats | None = None, start: Floats | None = None
) -> ObservationCurve:
    """Estimate the probability to be observed: with late entry it is a `LateEntryCurve`."""
    if start is None:
        return censoring_curve(time, event, weights)
    sets = curves.risk_sets(time, event, weights, start)
    counted = sets.weights > 0
    moments = np.unique(np.concatenate([time[counted], start[counted]]))
    size = 2 * len(moments) + 1
    # rows of weight 0 can end later than all moments
    entered = np.minimum(2 * np.searchsorted(moments, start) + 2, size)
    left = np.minimum(2 * np.searchsorted(moments, time) + 2, size)
    present = _present(sets.weights, entered, left, size)
    before = np.repeat(np.searchsorted(sets.times, moments, side="right"), 2)
    # at a moment its own events have not happened yet
    before[::2] = np.searchsorted(sets.times, moments, side="left")
    before = np.insert(before, 0, 0)
    survival = curves.product_limit(sets).curve.all_values[before]
    alive = survival > 0
    values = present / np.where(alive, survival, 1.0) / sets.weights.sum()
    return LateEntryCurve(
        sets, moments, present, np.where(alive, values, np.inf), entered, left, before
    )


def _present(weights: Floats, entered: Integers, left: Integers, size: int) -> Floats:
    """Return the weight of rows that are present at each of so many places; 0 without rows."""

    def counts(parts: Floats) -> Floats:
        change = curves.sums_at(entered, parts, size + 1) - curves.sums_at(left, parts, size + 1)
        return np.cumsum(change)[:size]

    rows = counts((weights > 0).astype(np.float64))
    return np.where(rows > 0, np.maximum(counts(weights), 0.0), 0.0)


# States of rows at a time, weighted by the inverse probability to be observed (IPCW).
# A row whose state is known stands for others that are not seen then.  One with an event by then is
# weighted by 1/K(T-), one that is observed at the time and longer by 1/K(t), K being the
# probability to be under observation.  So rows stand
# for those that were censored before and, if rows enter late, for those that had the event before
# they could enter.


class StatesAt(NamedTuple):
    """The states of rows (n,) at a time: events `past`, weights, where the curve was read."""

    past: NDArray[np.bool_]
    weight: Floats
    passed: Integers
    reached: bool


class WeightedStates(NamedTuple):
    """Rows (n,), the weight of each that has an event, and the curve they are weighted by."""

    time: Floats
    weights: Floats
    of_event: Floats
    passed: Integers
    curve: ObservationCurve
    start: Floats | None
    is_known: bool

    def at(self, t: float) -> StatesAt:
        """Return the states at a time."""
        past = self.time <= t
        passed = int(self.curve.passed_with(np.array(t)))
        beyond = self.curve.values[passed]
        later = self.weights * (1 / beyond if beyond > 0 else 0.0)
        if self.start is not None:
            later = np.where(self.start <= t, later, 0.0)
        return StatesAt(
            past,
            np.where(past, self.of_event, later),
            np.where(past, self.passed, passed),
            bool(beyond > 0),
        )

    def influence(self, states: StatesAt, parts: Floats) -> Floats:
        """Return what each row adds to the error of an estimate with derivatives `parts` (n,)."""
        if self.is_known:
            return np.zeros(len(parts))
        return self.curve.influence(states.passed, -parts)


def weighted_states(
    time: Floats,
    event: NDArray,
    weights: Floats | None,
    observed: ObservationCurve | None,
    start: Floats | None = None,
) -> WeightedStates:
    """Return rows with the curve that is `observed`, or else with that estimated from them."""
    K = observation_curve(time, event, weights, start) if observed is None else observed
    weights = np.ones(len(time)) if weights is None else weights
    passed = K.passed(time)
    of_event = np.where(event > 0, weights * curves.inverse_or_zero(K.values[passed]), 0.0)
    return WeightedStates(time, weights, of_event, passed, K, start, observed is not None)


def weights_at(time: Floats, event: NDArray, weights: Floats, start: Floats, t: float) -> Floats:
    """Return inverse probability weights (n,) of late rows; case weights if none is seen at t."""
    states = weighted_states(time, event, weights, None, start).at(t)
    return states.weight if states.reached else weights


def ascending_times(at: Floats) -> Floats:
    """Return the times (m,), which must ascend."""
    at = np.asarray(at, dtype=np.float64)
    if at.ndim != 1 or not len(at) or not (np.diff(at) > 0).all():
        raise InputError("at= must be one or more times in ascending order: use np.unique(times)")
    return at


# Time on the scale on which a hazard, or the subdistribution hazard of one cause, is constant.
SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class ExponentialScale:
    """A cumulative `hazard` (R + 1,), linear between the ascending `edges` (R + 1,) of R pieces."""

    edges: Floats
    hazard: Floats

    def cumulative(self, times: Floats) -> Floats:
        """Return the cumulative hazard at times of any shape, 0 before the origin."""
        return np.where(times > self.edges[0], self.exposure(times), 0.0)

    def exposure(self, time: Floats, start: Floats | None = None) -> Floats:
        """Return the expected number of events of each row (n,), from `start` (n,) to `time` (n,).

        By the hazard of all rows, beyond the edges that of the first or last piece. Always
        positive: nothing is subtracted that rounding could make equal.
        """
        if start is None:
            start = np.broadcast_to(self.edges[0], np.shape(time))
        rate = np.diff(self.hazard) / np.diff(self.edges)
        first, last = self._piece(start), self._piece(time)
        within = rate[last] * (time - np.where(first == last, start, self.edges[last]))
        before = rate[first] * (self.edges[first + 1] - start)
        between = self.hazard[last] - self.hazard[np.minimum(first + 1, last)]
        return np.maximum(within + np.where(first == last, 0.0, before + between), SMALLEST)

    def _piece(self, times: Floats) -> NDArray[np.int64]:
        """Return the number of the piece that each time is in, to its end."""
        return np.searchsorted(self.edges[1:-1], times, side="left")


def exponential_scale(
    time: Floats,
    event: NDArray[np.integer],
    weights: Floats | None = None,
    start: Floats | None = None,
) -> ExponentialScale:
    """Return the cumulative hazard of all rows, as exponential survival trees need it.

    Between event times it is constant: events at the end of a piece over the time at risk in it, so
    that there are as many events as exposure (LeBlanc and Crowley 1992, Biometrics 48, 411-425;
    `rpart`, which gives case weights no part in it). The origin is the first `start`, or 0.
    """
    weights = np.ones(len(time)) if weights is None else weights
    start = np.zeros(len(time)) if start is None else start

    def present(points: Floats) -> Floats:
        change = np.concatenate([weights, -weights])
        at = np.searchsorted(points, np.concatenate([start, time]))
        weight: Floats = np.cumsum(np.bincount(at, change, len(points)))
        return weight[:-1]

    return scale_of_pieces(time, event, weights, start, present)


def scale_of_pieces(
    time: Floats,
    event: NDArray[np.integer],
    weights: Floats,
    start: Floats,
    present: Callable[[Floats], Floats],
) -> ExponentialScale:
    """Return the cumulative hazard of events, whoever is at risk of them.

    `present` takes ascending times (m,), all of the rows among them, and returns the weight at risk
    from each to the next (m - 1,).
    """
    has_event = (event != 0) & (weights > 0.0)
    if not has_event.any():
        raise InputError(
            "event: no row has an event, so that there is no hazard: are 0 and 1 exchanged?"
        )
    at, piece = np.unique(time[has_event], return_inverse=True)
    edges = np.concatenate([[start.min()], at[:-1], [time.max()]])
    events = np.bincount(piece, weights=weights[has_event])
    points = np.unique(np.concatenate([edges, start, time]))
    at_risk = _time_at_risk(edges, points, present(points))
    # beside much larger weights, which left, those of the last rows can be lost
    own = np.maximum(events * (at - edges[:-1]), SMALLEST)
    rate = events / np.where(at_risk > 0, at_risk, own)
    return ExponentialScale(edges, np.append(0.0, np.cumsum(rate * np.diff(edges))))


def _time_at_risk(edges: Floats, points: Floats, present: Floats) -> Floats:
    """Return the time (R,) at risk in each piece, of weights `present` between `points`."""
    at_risk = np.zeros(len(edges) - 1)
    spent = present * np.diff(points)
    np.add.at(at_risk, np.searchsorted(edges[1:-1], points[1:], side="left"), spent)
    return at_risk


# Time on the scale on which the subdistribution hazard of one cause is constant.
@dataclass(frozen=True, eq=False)
class SubdistributionScale:
    """A subdistribution hazard, linear between event times, and the curve G of `censoring`."""

    scale: ExponentialScale
    censoring: CensoringCurve

    def exposure(self, time: Floats, stays: NDArray[np.bool_]) -> Floats:
        """Return the expected number of events of each row (n,), > 0, by the hazard of all rows.

        A row that `stays` had an event of another cause at T, and is at risk afterwards with
        G(t)/G(T-).
        """
        knots = np.union1d(self.scale.edges, self.censoring.sets.times)
        knots = knots[knots <= self.scale.edges[-1]]
        steps = np.diff(self.scale.cumulative(knots)) * self.censoring(knots[:-1])
        reached = np.append(0.0, np.cumsum(steps))
        later = reached[-1] - np.interp(time, knots, reached)
        more = np.maximum(later, 0.0) * curves.inverse_or_zero(self.censoring.just_before(time))
        return self.scale.exposure(time) + np.where(stays, more, 0.0)


def subdistribution_scale(
    time: Floats, event: NDArray[np.integer], cause: int, weights: Floats | None = None
) -> SubdistributionScale:
    """Return the scale of the subdistribution hazard of one of several causes, from 1.

    Rows with an event of another cause stay at risk with the probability not to be censored yet,
    given that they were not before it (Fine and Gray 1999, JASA 94, 496-509); all are observed from
    0 on.
    """
    weights = np.ones(len(time)) if weights is None else weights
    censoring = censoring_curve(time, event, weights)
    own, start = (event == cause).astype(np.int64), np.zeros(len(time))
    stays = (event > 0) & (own == 0)
    staying = np.where(stays, weights * curves.inverse_or_zero(censoring.just_before(time)), 0.0)

    def present(points: Floats) -> Floats:
        begins, ends = np.searchsorted(points, start), np.searchsorted(points, time)
        size = len(points)
        here = np.cumsum(np.bincount(begins, weights, size) - np.bincount(ends, weights, size))
        stayed = np.cumsum(np.bincount(ends, staying, size))
        return np.asarray((here + censoring(points) * stayed)[:-1])

    return SubdistributionScale(scale_of_pieces(time, own, weights, start, present), censoring)
