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
    """A cumulative hazard that is linear between event times.

    `edges` (R + 1,) are ascending; the first is the origin, the others are the ends of the R
    pieces. `hazard` (R + 1,) is the cumulative hazard at the edges, ascending from 0.
    """

    edges: Floats
    hazard: Floats

    def cumulative(self, times: Floats) -> Floats:
        """Return the cumulative hazard at times of any shape.

        It is 0 before the origin; after the last edge it rises as in the last piece.
        """
        return np.where(times > self.edges[0], self.exposure(times), 0.0)

    def exposure(self, time: Floats, start: Floats | None = None) -> Floats:
        """Return the expected number of events of each row (n,) by the hazard of all rows.

        It is the hazard between `start` (n,), by default the origin, and `time` (n,).  Before the
        origin the hazard is that of the first piece, after the last edge that of the last one.  The
        result is positive, as nothing is subtracted that rounding could make equal, and values
        smaller than any number count as the smallest.
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

    Between event times the hazard is constant: the number of events at the end of a piece, divided
    by the time that rows were at risk in it.  So a row that is censored within a piece counts for
    its part, in which this scale differs from the Nelson-Aalen estimate.  On this scale there are
    as many events as exposure: the rate of all rows is 1 (LeBlanc and Crowley 1992, Biometrics 48,
    411-425; `rpart` with ``method="exp"``, which however gives case weights no part in it, takes
    1000 quantiles of more event times, and does not compute it with left truncation). `event` (n,)
    is 0 for a censored row; with `start` (n,), earlier than `time` (n,), the scale has its origin
    at the first of these, otherwise at 0.  Raises `InputError` if no row of positive weight has an
    event.

    Examples
    --------
    Until the first event, at time 2, five years are spent at risk, until the second one four:

    >>> import numpy as np
    >>> from odrf.statistics.survival.time_scales import exponential_scale
    >>> time, event = np.array([1.0, 2.0, 6.0]), np.array([0, 1, 1])
    >>> scale = exponential_scale(time, event)
    >>> scale.hazard
    array([0. , 0.4, 1.4])
    >>> scale.exposure(time)
    array([0.2, 0.4, 1.4])
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

    `present` takes times (m,), ascending, among which are all times of the rows, and returns the
    weight of those at risk from each to the next one: (m - 1,).  The other arguments are those of
    `exponential_scale`; none is optional.  Raises `InputError` if no row of positive weight has an
    event.
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
    """A cumulative subdistribution hazard that is linear between event times, and who is at risk.

    `censoring` is G, the probability not to be censored yet.
    """

    scale: ExponentialScale
    censoring: CensoringCurve

    def exposure(self, time: Floats, stays: NDArray[np.bool_]) -> Floats:
        """Return the expected number of events of each row (n,), > 0, by the hazard of all rows.

        A row that `stays` had an event of another cause at its time T. It is at risk until T, and
        afterwards, up to the last time of the training rows, as far as it would not have been
        censored: with weight G(t)/G(T-).
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

    That hazard belongs to the cumulative incidence of the cause as a hazard belongs to a survival
    curve: rows with an event of another cause never have the event, and stay at risk.  As it is not
    known when they would have been censored, they count with the probability not to be censored
    yet, given that they were not before their event (Fine and Gray 1999, JASA 94, 496-509).  On
    this scale there are as many events of the cause as exposure, as on that of `exponential_scale`.
    All rows are observed from 0 to `time` (n,); `event` (n,) is the cause, 0 for a censored row.
    Raises `InputError` if no row of positive weight has an event of this cause.

    Examples
    --------
    The second row has an event of another cause, and is at risk until the last time:

    >>> import numpy as np
    >>> from odrf.statistics.survival.time_scales import subdistribution_scale
    >>> time, event = np.array([2.0, 3.0, 6.0]), np.array([1, 2, 1])
    >>> scale = subdistribution_scale(time, event, 1)
    >>> scale.scale.hazard
    array([0.        , 0.33333333, 0.83333333])
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
