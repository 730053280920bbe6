"""Breslow's baseline hazard: survival curves of scores that are logarithms of relative hazards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.engine.survival.event_ranks import event_ranks, sums_over_rows
from odrf.engine.survival.likelihoods import relative_risks
from odrf.statistics.survival.of_scores.curves_of_scores import CurvesOfScores

__all__ = ["ProportionalHazards", "breslow_baseline"]

Floats = NDArray[np.float64]
# Numbers of curves that are held at once.
MOST_HELD = 1_000_000
# exp() of more is taken as exp() of this.
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, eq=False)
class ProportionalHazards(CurvesOfScores):
    """The cumulative hazards H(t) exp(b (f - c)) of scores f, with a baseline H that steps.

    Attributes
    ----------
    times : (R,) float64
        Different event times, ascending.
    baseline : (R,) float64
        H at these times; it is constant between them, 0 before the first, and does not rise after
        the last.
    centre : float
        c, the score that has the baseline hazard.
    slope : float
        b; 1 if scores are logarithms of relative hazards as they are.
    """

    times: Floats
    baseline: Floats
    centre: float
    slope: float = 1.0

    def risks(self, scores: Floats) -> Floats:
        """Return the scores."""
        return scores

    def hazards(self, scores: Floats, at: Floats) -> Floats:
        """Return the cumulative hazards (n, T) at the times `at` (T,)."""
        steps = np.concatenate([[0.0], self.baseline])
        hazards = steps[np.searchsorted(self.times, at, side="right")]
        return np.outer(self._relative(scores), hazards)

    def time_quantiles(self, scores: Floats, p: float) -> Floats:
        """Return the first times (n,) at which the event has come with probability `p` or more."""
        wanted = -np.log1p(-p) / self._relative(scores)
        # a hazard that would be equal, but for rounding, suffices
        place = np.searchsorted(self.baseline, wanted * (1.0 - 1e-12))
        return np.append(self.times, np.inf)[place]

    @one_thread()
    def restricted_means(self, scores: Floats, horizon: float) -> Floats:
        """Return the mean times (n,) without the event up to the horizon."""
        begins = np.concatenate([[0.0], self.times[self.times < horizon]])
        widths = np.diff(begins, append=horizon)
        means = np.empty(len(scores))
        rows = max(1, MOST_HELD // len(begins))
        for first in range(0, len(scores), rows):
            block = slice(first, first + rows)
            means[block] = self.survivals(scores[block], begins) @ widths
        return means

    def _relative(self, scores: Floats) -> Floats:
        logarithm = self.slope * (scores - self.centre)
        return np.exp(np.clip(logarithm, -LARGEST_EXPONENT, LARGEST_EXPONENT))


def breslow_baseline(
    scores: Floats,
    time: Floats,
    event: NDArray[np.bool_],
    start: Floats | None = None,
    weights: Floats | None = None,
    slope: float = 1.0,
) -> ProportionalHazards:
    """Return the survival curves of scores, with the baseline hazard of Breslow (1974).

    At an event time the baseline rises by the weight of the events over the sum of
    w·exp(b (f - c)) of the rows at risk; c is the weighted mean of the scores.

    Parameters
    ----------
    scores, time : (n,) float64
        Scores of the rows, and the ends of their observation.
    event : (n,) bool
        Whether the event happened then.
    start : (n,) float64, optional
        The row is observed after this time; by default from the beginning.
    weights : (n,) float64, optional
        Case weights; by default 1.
    slope : float, default 1.0
        b.

    References
    ----------
    N. Breslow. Covariance analysis of censored survival data. Biometrics 30 (1974).

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0]), np.array([True, True, False])
    >>> curves = breslow_baseline(np.zeros(3), time, event)
    >>> curves.baseline
    array([0.33333333, 0.83333333])
    >>> curves.survivals(np.array([0.0, 1.0]), np.array([0.5, 2.0])).round(3)
    array([[1.   , 0.435],
           [1.   , 0.104]])
    """
    w = np.ones(len(scores)) if weights is None else weights
    died = event & (w > 0)
    times = np.unique(time[died])
    ranks = event_ranks(time, event, start, times)
    centre = float(np.average(scores, weights=w))
    top, ratio = relative_risks(w, slope * scores)
    place = np.searchsorted(times, time[died])
    dead = np.bincount(place, w[died], len(times))
    own = np.bincount(place, (w * ratio)[died], len(times))
    # the events are at risk, but were added in another order
    at_risk = np.maximum(sums_over_rows(ranks, w * ratio), own)
    baseline = np.cumsum(dead / at_risk) * np.exp(slope * centre - top)
    return ProportionalHazards(times, baseline, centre, slope)
