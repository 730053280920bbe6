"""Cox's partial likelihood of scores f: its value, gradient, and the diagonal of its Hessian.

Ties are Efron's.  At a time with d events of weights w, let S be the sum of w·exp(f) over the rows
at risk and D over those with the event.  The time adds Σ w·f - w̄ Σ_l log(S - D·l/d) to the log
partial likelihood, with l = 0 … d - 1 and w̄ the mean weight of the d events, as in R's package
survival.  d counts the rows of positive weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.survival.risk_sums import sums_over_rows, sums_over_times

__all__ = ["PartialLikelihood", "partial_likelihood", "relative_risks"]

Array = NDArray[np.float64]
# Scores further below the largest one count as this far below: so sums over risk sets, and the
# squares of their inverses, are in the range of floats.
FARTHEST = 300.0


class PartialLikelihood(NamedTuple):
    """The negative log partial likelihood, and its derivatives by the scores.

    Attributes
    ----------
    losses : (n,) float64
        What each row's event adds to it, divided by the row's weight; 0 for censored rows.  Rows of
        one time share their denominators equally.
    first, second : (n,) float64
        Derivatives by each row's score, and second derivatives by the same score, divided by the
        row's weight.
    """

    losses: Array
    first: Array
    second: Array


def partial_likelihood(ranks: EventRanks, weights: Array, scores: Array) -> PartialLikelihood:
    """Return the negative log partial likelihood of `scores` (n,) with `weights` (n,).

    Rows of weight 0 are in no risk set.

    Parameters
    ----------
    ranks : EventRanks
        Times of the n rows among R event times; some of these may have no event of positive weight.
    weights, scores : (n,) float64
        Case weights, and logarithms of relative hazards.
    """
    event = (ranks.code & 1).astype(np.float64)
    _, ratio = relative_risks(weights, scores)
    counted = event * (weights > 0)
    dead = _at_time(ranks, counted)
    sums = sums_over_rows(ranks, weights * ratio)
    of_time = np.zeros((5, ranks.n_times))
    _efron(dead, _at_time(ranks, event * weights), _at_time(ranks, event * weights * ratio), sums,
           of_time)  # fmt: skip
    logarithm, *by_time = of_time
    hazard = ratio * sums_over_times(ranks, by_time[0], by_time[1])
    square = weights * ratio**2 * sums_over_times(ranks, by_time[2], by_time[3])
    own = np.maximum((ranks.code >> 1) - 1, 0)
    losses = counted * (logarithm[own] - np.log(ratio)) if ranks.n_times else counted
    return PartialLikelihood(losses, hazard - event, hazard - square)


def relative_risks(weights: Array, scores: Array) -> tuple[float, Array]:
    """Return the largest score of a row of positive weight, and exp(score - largest) (n,).

    The latter is between exp(-300) and 1.
    """
    top = float(scores[weights > 0].max(initial=-np.inf))
    top = top if np.isfinite(top) else 0.0
    return top, np.exp(np.clip(scores - top, -FARTHEST, 0.0))


def _at_time(ranks: EventRanks, values: Array) -> Array:
    """Return the sums (R,) of `values` (n,), 0 for censored rows, over the rows of each time."""
    sums = np.bincount(ranks.code >> 1, values, ranks.n_times + 1)[1:]
    return np.asarray(sums, dtype=np.float64)


@kernel
def _efron(dead, weight, risk, total, of_time):
    """Write to of_time (5, R) what each of R times adds.

    Parameters
    ----------
    dead, weight, risk : (R,) float64
        Number of events, and sums over these of weights w and of w·exp(f).
    total : (R,) float64
        Sums of w·exp(f) over the rows at risk.
    of_time : (5, R) float64
        Mean logarithm of the denominators; increment of the cumulative hazard, and the same for the
        rows with the event; sum of the squares of both.
    """
    for r in range(len(dead)):
        d = np.int64(dead[r])
        if d == 0:
            continue
        mean = weight[r] / dead[r]
        # the events are at risk, but were added in another order
        at_risk = max(total[r], risk[r])
        for tied in range(d):
            share = tied / dead[r]
            inverse = 1.0 / (at_risk - share * risk[r])
            own = (1.0 - share) * inverse
            of_time[0, r] -= np.log(inverse) / dead[r]
            of_time[1, r] += mean * inverse
            of_time[2, r] += mean * own
            of_time[3, r] += mean * inverse * inverse
            of_time[4, r] += mean * own * own
