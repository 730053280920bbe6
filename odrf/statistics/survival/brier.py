"""The Brier score of predicted risks at each time, and its mean over time.

Rows whose state at a time is known stand for those that are not seen then: they are weighted by the
inverse probability to be observed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.survival.observation import ObservationCurve
from odrf.statistics.survival.rowwise_errors import (
    RowwiseReduction,
    RowwiseShare,
    share_of_estimates,
)
from odrf.statistics.survival.weighted_states import (
    WeightedStates,
    ascending_times,
    weighted_states,
)

__all__ = ["BrierScores", "brier_scores", "explained_share"]

Floats = NDArray[np.float64]


class BrierScores(NamedTuple):
    """Brier scores at m times.

    Attributes
    ----------
    at : (m,) float64
        The times.
    score, std_error : (m,) float64
        NaN where no row could be observed.
    integrated : RowwiseShare
        The mean over the times from the first to the last, by the trapezoidal rule; NaN for one
        time.
    """

    at: Floats
    score: Floats
    std_error: Floats
    integrated: RowwiseShare


@one_thread()
def brier_scores(
    time: Floats,
    event: NDArray,
    risk: Floats,
    at: Floats,
    cause: int | None = None,
    weights: Floats | None = None,
    observed: ObservationCurve | None = None,
    start: Floats | None = None,
) -> BrierScores:
    """Estimate the mean squared difference between an event by each time and its predicted risk.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row, otherwise the cause.
    risk : (n, m) float64
        The predicted probability of an event by each time: 1 minus that of survival, or the
        cumulative incidence of a cause.  One row, (1, m), for a model that predicts the same for
        all, such as a Kaplan–Meier curve.
    at : (m,) float64
        The times, ascending.
    cause : int, optional
        Events of other causes then do not count as events.  By default every cause counts.
    weights : (n,) float64, optional
        Case weights; by default 1.
    observed : ObservationCurve, optional
        The probability to be observed: that of other rows, such as those of training, which is
        taken as known.  By default it is estimated from these rows, which the standard errors
        allow for.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.  See
        `odrf.statistics.survival.observation.LateEntryCurve`.

    References
    ----------
    Graf, Schmoor, Sauerbrei and Schumacher (1999), Assessment and comparison of prognostic
    classification schemes for survival data, Statistics in Medicine 18, 2529-2545, equation (5).

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1])
    >>> risk = np.array([[0.6, 0.8], [0.2, 0.4], [0.3, 0.5], [0.1, 0.3]])
    >>> found = brier_scores(time, event, risk, np.array([1.5, 3.5]))
    >>> found.score.round(4), round(found.integrated.estimate, 4)
    (array([0.075 , 0.1375]), 0.1063)
    """
    at = ascending_times(at)
    states = weighted_states(time, event, weights, observed, start)
    of_cause = (event > 0) if cause is None else (event == cause)
    shares = _trapezoidal_shares(at)
    score, error = np.empty((2, len(at)))
    integrated = np.zeros(len(time))
    for m, t in enumerate(at):
        found = _score_at(states, of_cause, risk[:, m], float(t))
        score[m], error[m] = found.estimate, found.std_error
        integrated += shares[m] * found.influence
    mean = RowwiseShare(float(shares @ score), integrated)
    return BrierScores(at, score, error, mean)


def explained_share(model: BrierScores, reference: BrierScores) -> RowwiseReduction:
    """Return 1 minus the integrated Brier score of a model divided by that of a reference.

    Both of the same rows and times.  The usual reference is the Kaplan–Meier curve of the rows of
    training: ``1 - curve(at)[None]`` as its risks.
    """
    share = share_of_estimates(model.integrated, reference.integrated)
    return RowwiseReduction(1 - share.estimate, -share.influence)


def _score_at(
    states: WeightedStates, of_cause: NDArray[np.bool_], risk: Floats, t: float
) -> RowwiseShare:
    """Return the Brier score at a time of risks (n,) or (1,)."""
    now, share = states.at(t), states.weights / states.weights.sum()
    if not now.reached:
        return RowwiseShare(float("nan"), np.full(len(share), np.nan))
    parts = now.weight / states.weights.sum() * (risk - (now.past & of_cause)) ** 2
    score = float(parts.sum())
    return RowwiseShare(score, parts - score * share + states.influence(now, parts))


def _trapezoidal_shares(at: Floats) -> Floats:
    """Return the share of each time in the mean over time: (m,)."""
    if len(at) == 1:
        return np.array([np.nan])
    steps = np.diff(at) / (at[-1] - at[0])
    return (np.append(steps, 0.0) + np.insert(steps, 0, 0.0)) / 2
