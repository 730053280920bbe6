"""Survival curves of scores, calibrated by rows that did not take part in making them.

The scores of many rounds of boosting are too far apart: the model was fitted to the noise of its
rows, too.  A regression of other rows' times on their scores says how far they should be.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.survival.event_ranks import event_ranks
from odrf.engine.survival.likelihoods import ErrorLaw, LogTimes, best_line, partial_likelihood
from odrf.statistics.survival.of_scores.breslow import ProportionalHazards, breslow_baseline
from odrf.statistics.survival.of_scores.failure_times import FailureTimes

__all__ = ["calibrated_failure_times", "calibrated_hazards"]

Floats = NDArray[np.float64]
# A slope that would be below 0 is 0; rows that happen to be in perfect order have no largest one.
STEEPEST = 4.0


def calibrated_hazards(
    scores: Floats,
    time: Floats,
    event: NDArray[np.bool_],
    start: Floats | None = None,
    weights: Floats | None = None,
) -> ProportionalHazards:
    """Return curves with the slope of Cox's regression on the score, and Breslow's baseline.

    Arguments as in `odrf.statistics.survival.of_scores.breslow.breslow_baseline`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> score = rng.normal(size=4000)
    >>> time = rng.exponential(size=4000) * np.exp(-score)
    >>> round(calibrated_hazards(2 * score, time, time < 2).slope, 1)
    0.5
    """
    w = np.ones(len(scores)) if weights is None else weights
    ranks = event_ranks(time, event, start, np.unique(time[event & (w > 0)]))
    centred = scores - np.average(scores, weights=w)

    def gradient(slope: float) -> float:
        return float(np.sum(w * centred * partial_likelihood(ranks, w, slope * centred).first))

    slope = 0.0 if gradient(0.0) >= 0 else STEEPEST
    if gradient(0.0) < 0 < gradient(STEEPEST):
        slope = float(scipy.optimize.brentq(gradient, 0.0, STEEPEST, xtol=1e-9))
    return breslow_baseline(scores, time, event, start, w, slope if np.ptp(scores) > 0 else 1.0)


def calibrated_failure_times(
    law: ErrorLaw, times: LogTimes, scores: Floats, weights: Floats
) -> FailureTimes:
    """Return curves with the constant, slope and scale of the largest likelihood.

    Parameters
    ----------
    law : ErrorLaw
    times : LogTimes
        Of n rows.
    scores, weights : (n,) float64
    """
    ones, slope = np.ones((len(scores), 1)), 1.0
    centre = np.average(scores, weights=weights)
    spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weights)))
    if spread > 0:
        basis = np.column_stack([ones, (scores - centre) / spread])
        line, _ = best_line(law, times, weights, basis, np.zeros(len(scores)))
        slope = float(np.clip(line[1] / spread, 0.0, STEEPEST))
    (constant,), scale = best_line(law, times, weights, ones, slope * scores)
    return FailureTimes(law, scale, float(constant), slope)
