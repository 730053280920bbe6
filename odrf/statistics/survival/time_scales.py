"""Time on the scale on which a hazard is constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.statistics.survival.curves import inverse_or_zero
from odrf.statistics.survival.observation import CensoringCurve, censoring_curve

Floats = NDArray[np.float64]

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

    Between event times it is constant: events at the end of a piece over the time at risk in it. So
    rows censored within a piece count for a part, unlike in the Nelson–Aalen estimate, and there
    are as many events as exposure (LeBlanc and Crowley 1992, Biometrics 48, 411-425; `rpart`, which
    gives case weights no part in it). The origin is the first `start`, or 0.
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
        more = np.maximum(later, 0.0) * inverse_or_zero(self.censoring.just_before(time))
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
    staying = np.where(stays, weights * inverse_or_zero(censoring.just_before(time)), 0.0)

    def present(points: Floats) -> Floats:
        begins, ends = np.searchsorted(points, start), np.searchsorted(points, time)
        size = len(points)
        here = np.cumsum(np.bincount(begins, weights, size) - np.bincount(ends, weights, size))
        stayed = np.cumsum(np.bincount(ends, staying, size))
        return np.asarray((here + censoring(points) * stayed)[:-1])

    return SubdistributionScale(scale_of_pieces(time, own, weights, start, present), censoring)
