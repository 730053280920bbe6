"""Losses of accelerated failure times: log T = f + σ ε, with ε of a known law and σ estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.losses import LEAST_CURVATURE, Derivatives
from odrf.engine.boosting.survival_losses import SurvivalLoss
from odrf.engine.survival.error_laws import (
    ErrorLaw,
    ExtremeValueError,
    LogisticError,
    NormalError,
)
from odrf.engine.survival.log_times import NO_TIMES, LogTimes, best_line, best_scale, log_times

__all__ = ["FailureTimeLoss", "LogLogistic", "LogNormal", "Weibull"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FailureTimeLoss(SurvivalLoss):
    """The negative log-likelihood of log T = f + σ ε, of times that may be censored or truncated.

    The score is f.  σ is estimated anew from the scores whenever it is needed, by maximum
    likelihood: in each round, as by Schmid and Hothorn (2008), and for the loss of any rows.

    Attributes
    ----------
    law : ErrorLaw
        The law of ε.
    times : LogTimes
        Those of all training rows.
    """

    law: ClassVar[ErrorLaw]
    of_logarithms: ClassVar[bool] = True
    times: LogTimes = NO_TIMES

    def knowing(
        self, time: Array, event: NDArray[np.bool_], start: Array | None
    ) -> FailureTimeLoss:
        """Return the loss that knows the logarithms of these times, which are above 0."""
        return replace(self, times=log_times(time, event, start))

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the f that, with the best σ, has the largest likelihood."""
        times = self._of(y)
        return best_line(self.law, times, weights, np.ones((len(y), 1)), offset)[0]

    def scale(self, y: Array, scores: Array, weights: Array) -> float:
        """Return the σ with the largest likelihood for these scores, between 0.001 and 1000."""
        return best_scale(self.law, self._of(y), scores[0], weights)

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return first derivatives, and curvatures that are at least `LEAST_CURVATURE`/σ²."""
        law, times, scale = self.law, self._of(y), self.scale(y, scores, weights)
        curvature = times.curvatures(law, scores[0], scale)
        return Derivatives(
            (times.pulls(law, scores[0], scale) / -scale)[None, :],
            (np.maximum(curvature, LEAST_CURVATURE) / scale**2)[None, :],
        )

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return minus the log-likelihood of each row, with the best σ for these rows."""
        return self._of(y).losses(self.law, scores[0], self.scale(y, scores, weights))

    def means(self, scores: Array) -> Array:
        """Return the times e^f at which ε is 0: medians, and for Weibull's law 63 % quantiles."""
        return np.exp(scores.T)

    def _of(self, y: Array) -> LogTimes:
        return self.times.of(y.astype(np.int64))


@dataclass(frozen=True, eq=False)
class LogNormal(FailureTimeLoss):
    """Log-normal times: ε is standard normal."""

    name: ClassVar[str] = "lognormal"
    law: ClassVar[ErrorLaw] = NormalError()


@dataclass(frozen=True, eq=False)
class LogLogistic(FailureTimeLoss):
    """Log-logistic times: ε is standard logistic."""

    name: ClassVar[str] = "loglogistic"
    law: ClassVar[ErrorLaw] = LogisticError()


@dataclass(frozen=True, eq=False)
class Weibull(FailureTimeLoss):
    """Weibull's times: ε is the logarithm of an exponential time.

    Hazards are proportional, too: exp(-f/σ) is the relative hazard, 1/σ the shape.
    """

    name: ClassVar[str] = "weibull"
    law: ClassVar[ErrorLaw] = ExtremeValueError()
