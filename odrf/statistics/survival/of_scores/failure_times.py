"""Survival curves of accelerated failure times: log T = a + b f + σ ε, with ε of a known law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.survival.likelihoods import ErrorLaw
from odrf.statistics.survival.of_scores.curves_of_scores import CurvesOfScores

__all__ = ["FailureTimes"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FailureTimes(CurvesOfScores):
    """The curves of log T = a + b f + σ ε.

    Attributes
    ----------
    law : ErrorLaw
        The law of ε.
    scale : float
        σ.
    constant, slope : float
        a and b; 0 and 1 if scores are locations of log T as they are.

    Examples
    --------
    >>> from odrf.engine.survival.likelihoods import NormalError
    >>> curves = FailureTimes(NormalError(), 0.5)
    >>> curves.survivals(np.array([0.0]), np.array([0.0, 1.0, 2.0])).round(3)
    array([[1.   , 0.5  , 0.083]])
    >>> curves.time_quantiles(np.array([0.0, 1.0]), 0.5).round(3)
    array([1.   , 2.718])
    """

    law: ErrorLaw
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
