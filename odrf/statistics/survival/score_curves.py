"""Survival curves of scores: Breslow's baseline hazard, accelerated failure times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.engine.survival import likelihoods
from odrf.engine.survival.event_ranks import event_ranks, sums_over_rows

Floats = NDArray[np.float64]


class CurvesOfScores(ABC):
    """A survival curve for each score f."""

    @abstractmethod
    def risks(self, scores: Floats) -> Floats:
        """Return numbers (n,) that are higher where events come earlier."""

    @abstractmethod
    def hazards(self, scores: Floats, at: Floats) -> Floats:
        """Return the cumulative hazards (n, T) at the times `at` (T,)."""

    def survivals(self, scores: Floats, at: Floats) -> Floats:
        """Return the probabilities (n, T) that the event comes after the times `at` (T,)."""
        return np.exp(-self.hazards(scores, at))

    @abstractmethod
    def time_quantiles(self, scores: Floats, p: float) -> Floats:
        """Return the first times (n,) at which the event has come with probability `p`, or ∞."""

    @abstractmethod
    def restricted_means(self, scores: Floats, horizon: float) -> Floats:
        """Return the mean times (n,) without the event up to the horizon: E min(T, horizon)."""


# Breslow's baseline hazard: survival curves of scores that are logarithms of relative hazards.
# Numbers of curves that are held at once.
MOST_HELD = 1_000_000
# exp() of more is taken as exp() of this.
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, eq=False)
class ProportionalHazards(CurvesOfScores):
    """Hazards H(t) exp(b (f - c)) of scores f; the baseline H (R,) rises at `times` (R,)."""

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
    """Return the survival curves of scores, with Breslow's baseline hazard (1974, Biometrics 30).

    It rises by the weight of the events over the sum of w·exp(b (f - c)) of the rows at risk; c is
    the mean of the scores, b the `slope`. Rows are observed after `start` until `time` (n,).
    """
    w = np.ones(len(scores)) if weights is None else weights
    died = event & (w > 0)
    times = np.unique(time[died])
    ranks = event_ranks(time, event, start, times)
    centre = float(np.average(scores, weights=w))
    top, ratio = likelihoods.relative_risks(w, slope * scores)
    place = np.searchsorted(times, time[died])
    dead = np.bincount(place, w[died], len(times))
    own = np.bincount(place, (w * ratio)[died], len(times))
    # the events are at risk, but were added in another order
    at_risk = np.maximum(sums_over_rows(ranks, w * ratio), own)
    baseline = np.cumsum(dead / at_risk) * np.exp(slope * centre - top)
    return ProportionalHazards(times, baseline, centre, slope)


# Survival curves of accelerated failure times: log T = a + b f + σ ε, with ε of a known law.
@dataclass(frozen=True, eq=False)
class FailureTimes(CurvesOfScores):
    """The curves of log T = a + b f + σ ε: `law` of ε, `scale` σ, `constant` a, `slope` b."""

    law: likelihoods.ErrorLaw
    scale: float
    constant: float = 0.0
    slope: float = 1.0

    def risks(self, scores: Floats) -> Floats:
        """Return minus the scores: these are higher where events come later."""
        return -scores

    def hazards(self, scores: Floats, at: Floats) -> Floats:
        """Return the cumulative hazards (n, T) at the times `at` (T,)."""
        # 0.0 in place of -0.0
        return 0.0 - self.law.log_survival(self._errors(scores[:, None], at))

    def time_quantiles(self, scores: Floats, p: float) -> Floats:
        """Return the times (n,) at which the event has come with probability `p`."""
        return np.exp(self._locations(scores) + self.scale * self.law.quantiles(np.array(p)))

    def restricted_means(self, scores: Floats, horizon: float) -> Floats:
        """Return the mean times (n,) without the event up to the horizon."""
        if horizon <= 0:
            return np.zeros(len(scores))
        z = self._errors(scores, np.array(horizon))
        before = np.exp(self._locations(scores)) * self.law.partial_mean(z, self.scale)
        return before + horizon * np.exp(self.law.log_survival(z))

    def _errors(self, scores: Floats, at: Floats) -> Floats:
        """Return the ε of the times `at`; -∞ for 0 and less."""
        log_time = np.log(at, out=np.full(np.shape(at), -np.inf), where=np.asarray(at) > 0)
        return np.asarray((log_time - self._locations(scores)) / self.scale)

    def _locations(self, scores: Floats) -> Floats:
        return self.constant + self.slope * scores


# Survival curves of scores, calibrated by rows that did not take part in making them.
# The scores of many rounds of boosting are too far apart: the model was fitted to the noise of its
# rows, too.  A regression of other rows' times on their scores shows how far they should be.

# A slope that would be below 0 is 0; rows that happen to be in perfect order have no largest one.
STEEPEST = 4.0


def calibrated_hazards(
    scores: Floats,
    time: Floats,
    event: NDArray[np.bool_],
    start: Floats | None = None,
    weights: Floats | None = None,
) -> ProportionalHazards:
    """Return curves with the slope of Cox's regression on the score, and Breslow's baseline."""
    w = np.ones(len(scores)) if weights is None else weights
    ranks = event_ranks(time, event, start, np.unique(time[event & (w > 0)]))
    centred = scores - np.average(scores, weights=w)

    def gradient(slope: float) -> float:
        return float(
            np.sum(w * centred * likelihoods.partial_likelihood(ranks, w, slope * centred).first)
        )

    slope = 0.0 if gradient(0.0) >= 0 else STEEPEST
    if gradient(0.0) < 0 < gradient(STEEPEST):
        slope = float(scipy.optimize.brentq(gradient, 0.0, STEEPEST, xtol=1e-9))
    return breslow_baseline(scores, time, event, start, w, slope if np.ptp(scores) > 0 else 1.0)


def calibrated_failure_times(
    law: likelihoods.ErrorLaw, times: likelihoods.LogTimes, scores: Floats, weights: Floats
) -> FailureTimes:
    """Return curves with the constant, slope and scale of the largest likelihood."""
    ones, slope = np.ones((len(scores), 1)), 1.0
    centre = np.average(scores, weights=weights)
    spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weights)))
    if spread > 0:
        basis = np.column_stack([ones, (scores - centre) / spread])
        line, _ = likelihoods.best_line(law, times, weights, basis, np.zeros(len(scores)))
        slope = float(np.clip(line[1] / spread, 0.0, STEEPEST))
    (constant,), scale = likelihoods.best_line(law, times, weights, ones, slope * scores)
    return FailureTimes(law, scale, float(constant), slope)
