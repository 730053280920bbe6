"""Losses of accelerated failure times: log T = f + σ ε, with ε of a known law and σ estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from odrf.engine.boosting.losses import LEAST_CURVATURE, Derivatives
from odrf.engine.boosting.survival_losses import SurvivalLoss
from odrf.engine.survival.error_laws import (
    ErrorLaw,
    ExtremeValueError,
    LogisticError,
    NormalError,
)

__all__ = ["FailureTimeLoss", "LogLogistic", "LogNormal", "LogTimes", "Weibull"]

Array = NDArray[np.float64]
# Logarithms of the least and the largest scale σ.
SCALES = np.log(1e-3), np.log(1e3)


class LogTimes(NamedTuple):
    """Logarithms of times.

    Attributes
    ----------
    time : (N,) float64
        Logarithm of the end of the observation.
    event : (N,) bool
        Whether the row's event happened then.
    start : (N,) float64
        Logarithm of the time after which the row was observed, -∞ for 0; empty if all rows were
        observed from the beginning.
    """

    time: Array
    event: NDArray[np.bool_]
    start: Array


NO_TIMES = LogTimes(np.empty(0), np.empty(0, dtype=np.bool_), np.empty(0))


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
    times: LogTimes = NO_TIMES

    def knowing(
        self, time: Array, event: NDArray[np.bool_], start: Array | None
    ) -> FailureTimeLoss:
        """Return the loss that knows the logarithms of these times, which are above 0."""
        log_start = NO_TIMES.start
        if start is not None and start.any():
            log_start = np.log(start, out=np.full(len(start), -np.inf), where=start > 0)
        return replace(self, times=LogTimes(np.log(time), event, log_start))

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the f that, with the best σ, has the largest likelihood."""
        rows = self._of(y)
        above = rows.times.time - offset
        centre = float(np.average(above, weights=weights))
        spread = max(float(np.sqrt(np.average((above - centre) ** 2, weights=weights))), 1e-3)

        def mean_loss(at: Array) -> tuple[float, Array]:
            scores = centre + spread * at[0] + offset
            scale = float(np.exp(np.clip(np.log(spread) + at[1], *SCALES)))
            by_score = np.average(rows._pulls(scores, scale), weights=weights) / -scale
            by_scale = np.average(rows._scale_slopes(scores, scale), weights=weights)
            value = np.average(rows._losses(scores, scale), weights=weights)
            return float(value), np.array([spread * by_score, by_scale])

        best = optimize.minimize(mean_loss, np.zeros(2), jac=True, method="BFGS")
        return np.array([centre + spread * best.x[0]])

    def scale(self, y: Array, scores: Array, weights: Array) -> float:
        """Return the σ with the largest likelihood for these scores, between 0.001 and 1000."""
        rows, used = self._of(y), weights > 0

        def slope(log_scale: float) -> float:
            slopes = rows._scale_slopes(scores[0], float(np.exp(log_scale)))
            return float(np.average(slopes[used], weights=weights[used]))

        return float(np.exp(_root(slope, *SCALES)))

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return first derivatives, and curvatures that are at least `LEAST_CURVATURE`/σ².

        Truncation takes no part in the curvatures: it can only make them smaller.
        """
        rows, scale = self._of(y), self.scale(y, scores, weights)
        z = (rows.times.time - scores[0]) / scale
        curvature = np.where(
            rows.times.event, self.law.event_curvature(z), self.law.censored_curvature(z)
        )
        return Derivatives(
            (rows._pulls(scores[0], scale) / -scale)[None, :],
            (np.maximum(curvature, LEAST_CURVATURE) / scale**2)[None, :],
        )

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return minus the log-likelihood of each row, with the best σ for these rows."""
        return self._of(y)._losses(scores[0], self.scale(y, scores, weights))

    def means(self, scores: Array) -> Array:
        """Return the times e^f at which ε is 0: medians, and for Weibull's law 63 % quantiles."""
        return np.exp(scores.T)

    def _of(self, y: Array) -> FailureTimeLoss:
        """Return the loss that knows only the rows of the numbers `y`."""
        rows, (time, event, start) = y.astype(np.int64), self.times
        some = LogTimes(time[rows], event[rows], start[rows] if len(start) else start)
        return replace(self, times=some)

    def _losses(self, scores: Array, scale: float) -> Array:
        z = (self.times.time - scores) / scale
        density = self.law.log_density(z) - np.log(scale) - self.times.time
        losses = -np.where(self.times.event, density, self.law.log_survival(z))
        if len(self.times.start):
            losses += self.law.log_survival((self.times.start - scores) / scale)
        return losses

    def _pulls(self, scores: Array, scale: float) -> Array:
        """Return the derivatives (n,) of each row's loss by z, or the sum of both for two z."""
        z = (self.times.time - scores) / scale
        pulls = np.where(self.times.event, self.law.pull(z), self.law.hazard(z))
        if len(self.times.start):
            pulls -= self.law.hazard((self.times.start - scores) / scale)
        return pulls

    def _scale_slopes(self, scores: Array, scale: float) -> Array:
        """Return the derivatives (n,) of each row's loss by log σ."""
        z = (self.times.time - scores) / scale
        slopes = np.where(self.times.event, 1.0 - z * self.law.pull(z), -z * self.law.hazard(z))
        if len(self.times.start):
            z = (self.times.start - scores) / scale
            known = np.isfinite(z)
            slopes[known] += z[known] * self.law.hazard(z[known])
        return slopes


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


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing `slope` is 0, or the bound that is nearer to it."""
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    return float(optimize.brentq(slope, low, high, xtol=1e-9))
