"""Time on the scale on which the subdistribution hazard of one cause is constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.observation import CensoringCurve, censoring_curve
from odrf.statistics.survival.risk_sets import inverse_or_zero
from odrf.statistics.survival.scales.exponential_scale import ExponentialScale, scale_of_pieces

__all__ = ["SubdistributionScale", "subdistribution_scale"]


@dataclass(frozen=True, eq=False)
class SubdistributionScale:
    """A cumulative subdistribution hazard that is linear between event times, and who is at risk.

    Attributes
    ----------
    scale : ExponentialScale
    censoring : CensoringCurve
        G, the probability not to be censored yet.
    """

    scale: ExponentialScale
    censoring: CensoringCurve

    def exposure(self, time: NDArray[np.float64], stays: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how many events each row would have had by the hazard of all rows.

        A row that `stays` had an event of another cause at its time T.  It is at risk until T, and
        afterwards, up to the last time of the training rows, as far as it would not have been
        censored: with weight G(t)/G(T-).

        Parameters
        ----------
        time : (n,) float64
            End of the observation.
        stays : (n,) bool

        Returns
        -------
        (n,) float64
            Positive.
        """
        knots = np.union1d(self.scale.edges, self.censoring.sets.times)
        knots = knots[knots <= self.scale.edges[-1]]
        steps = np.diff(self.scale.cumulative(knots)) * self.censoring(knots[:-1])
        reached = np.append(0.0, np.cumsum(steps))
        later = reached[-1] - np.interp(time, knots, reached)
        more = np.maximum(later, 0.0) * inverse_or_zero(self.censoring.just_before(time))
        return self.scale.exposure(time) + np.where(stays, more, 0.0)


def subdistribution_scale(
    time: NDArray[np.float64],
    event: NDArray[np.integer],
    cause: int,
    weights: NDArray[np.float64] | None = None,
) -> SubdistributionScale:
    """Return the scale of the subdistribution hazard of one of several causes.

    That hazard belongs to the cumulative incidence of the cause as a hazard belongs to a survival
    curve: rows with an event of another cause never have the event, and stay at risk.  As it is
    not known when they would have been censored, they count with the probability not to be
    censored yet, given that they were not before their event (Fine and Gray 1999).  On this scale
    there are as many events of the cause as exposure, as on that of
    `odrf.statistics.survival.scales.exponential_scale`.

    Parameters
    ----------
    time : (n,) float64
        End of the observation, which began at 0 for all rows.
    event : (n,) int64
        The cause of the event, 0 for a censored row.
    cause : int
        From 1.
    weights : (n,) float64, optional
        Case weights; 1 by default.

    Raises
    ------
    InputError
        If no row of positive weight has an event of this cause.

    References
    ----------
    Fine, J. P., and Gray, R. J. (1999). A proportional hazards model for the subdistribution of a
    competing risk. *Journal of the American Statistical Association* 94, 496-509.

    Examples
    --------
    The second row has an event of another cause, and is at risk until the last time:

    >>> import numpy as np
    >>> from odrf.statistics.survival.scales.subdistribution_scale import subdistribution_scale
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

    def present(points: NDArray[np.float64]) -> NDArray[np.float64]:
        begins, ends = np.searchsorted(points, start), np.searchsorted(points, time)
        size = len(points)
        here = np.cumsum(np.bincount(begins, weights, size) - np.bincount(ends, weights, size))
        stayed = np.cumsum(np.bincount(ends, staying, size))
        return np.asarray((here + censoring(points) * stayed)[:-1])

    return SubdistributionScale(scale_of_pieces(time, own, weights, start, present), censoring)
