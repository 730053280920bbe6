"""The likelihood of log T = f + σ ε, for times that may be censored or truncated."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.survival.error_laws import ErrorLaw
from odrf.engine.workers.one_thread import one_thread

__all__ = ["NO_TIMES", "LogTimes", "best_line", "best_scale", "log_times"]

Array = NDArray[np.float64]
Term = Callable[[Array], Array]
# Logarithms of the least and the largest scale σ.
SCALES = np.log(1e-3), np.log(1e3)
# The search for log σ begins with such a step.
FIRST_STEP = 0.5
# A spread of times, or of scores, that is smaller is taken as this.
LEAST_SPREAD = 1e-3


class LogTimes(NamedTuple):
    """Logarithms of times.

    Attributes
    ----------
    time : (n,) float64
        Logarithm of the end of the observation.
    event : (n,) bool
        Whether the row's event happened then.
    start : (n,) float64
        Logarithm of the time after which the row was observed, -∞ for 0; empty if all rows were
        observed from the beginning.
    """

    time: Array
    event: NDArray[np.bool_]
    start: Array

    def of(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> LogTimes:
        """Return those of some rows."""
        start = self.start[rows] if len(self.start) else self.start
        return LogTimes(self.time[rows], self.event[rows], start)

    def losses(self, law: ErrorLaw, scores: Array, scale: float) -> Array:
        """Return minus the log-likelihood of each row (n,) at the scores f (n,) and σ."""
        z = (self.time - scores) / scale
        losses = -self._each(law.log_density, law.log_survival, z)
        losses[self.event] += np.log(scale) + self.time[self.event]
        if len(self.start):
            losses += law.log_survival((self.start - scores) / scale)
        return losses

    def pulls(self, law: ErrorLaw, scores: Array, scale: float) -> Array:
        """Return -σ times the derivatives (n,) of the losses by the scores."""
        pulls = self._each(law.pull, law.hazard, (self.time - scores) / scale)
        if len(self.start):
            pulls -= law.hazard((self.start - scores) / scale)
        return pulls

    def scale_slopes(self, law: ErrorLaw, scores: Array, scale: float) -> Array:
        """Return the derivatives (n,) of the losses by log σ."""
        z = (self.time - scores) / scale
        slopes = self.event - z * self._each(law.pull, law.hazard, z)
        if len(self.start):
            z = (self.start - scores) / scale
            known = np.isfinite(z)
            slopes[known] += z[known] * law.hazard(z[known])
        return slopes

    def curvatures(self, law: ErrorLaw, scores: Array, scale: float) -> Array:
        """Return σ² times what Newton steps (n,) divide by.

        Truncation takes no part in them: it can only make them smaller.
        """
        z = (self.time - scores) / scale
        return self._each(law.event_curvature, law.censored_curvature, z)

    def _each(self, of_event: Term, of_censored: Term, z: Array) -> Array:
        """Return a term (n,) of rows with an event, and another one of the others."""
        terms, censored = np.empty_like(z), ~self.event
        terms[self.event], terms[censored] = of_event(z[self.event]), of_censored(z[censored])
        return terms


NO_TIMES = LogTimes(np.empty(0), np.empty(0, dtype=np.bool_), np.empty(0))


def log_times(time: Array, event: NDArray[np.bool_], start: Array | None) -> LogTimes:
    """Return the logarithms of times (n,) above 0; `start` is None or at least 0."""
    begin = NO_TIMES.start
    if start is not None and start.any():
        begin = np.log(start, out=np.full(len(start), -np.inf), where=start > 0)
    return LogTimes(np.log(time), event, begin)


def best_scale(law: ErrorLaw, times: LogTimes, scores: Array, weights: Array) -> float:
    """Return the σ with the largest likelihood for these scores, between 0.001 and 1000."""
    used = weights > 0
    of_used, of_scores, of_weights = times.of(used), scores[used], weights[used]

    @cache
    def slope(log_scale: float) -> float:
        slopes = of_used.scale_slopes(law, of_scores, float(np.exp(log_scale)))
        return float(np.average(slopes, weights=of_weights))

    distance = np.abs(of_used.time - of_scores)
    guess = float(np.log(max(np.average(distance, weights=of_weights), LEAST_SPREAD)))
    return float(np.exp(_root(slope, float(np.clip(guess, *SCALES)))))


@one_thread()
def best_line(
    law: ErrorLaw, times: LogTimes, weights: Array, basis: Array, offset: Array
) -> tuple[Array, float]:
    """Return the coefficients (q,) and the σ with the largest likelihood of f = offset + basis b.

    Parameters
    ----------
    law : ErrorLaw
    times : LogTimes
        Of n rows.
    weights, offset : (n,) float64
    basis : (n, q) float64
        Its first column is 1.
    """
    above = times.time - offset
    centre = float(np.average(above, weights=weights))
    variance = float(np.average((above - centre) ** 2, weights=weights))
    spread = max(float(np.sqrt(variance)), LEAST_SPREAD)

    def mean_loss(at: Array) -> tuple[float, Array]:
        scores = centre + spread * (basis @ at[:-1]) + offset
        scale = float(np.exp(np.clip(np.log(spread) + at[-1], *SCALES)))
        pulls = weights * times.pulls(law, scores, scale) / weights.sum()
        by_scale = np.average(times.scale_slopes(law, scores, scale), weights=weights)
        value = np.average(times.losses(law, scores, scale), weights=weights)
        return float(value), np.append(-spread / scale * (pulls @ basis), by_scale)

    best = scipy.optimize.minimize(
        mean_loss, np.zeros(basis.shape[1] + 1), jac=True, method="BFGS"
    ).x
    coefficients = spread * best[:-1]
    coefficients[0] += centre
    return coefficients, float(np.exp(np.clip(np.log(spread) + best[-1], *SCALES)))


def _root(slope: Callable[[float], float], guess: float) -> float:
    """Return where an increasing `slope` of log σ is 0, or the bound of `SCALES` nearer to it."""
    low, high, step = guess, guess, FIRST_STEP
    while low > SCALES[0] and slope(low) > 0:
        low, high, step = max(low - step, SCALES[0]), low, 2 * step
    while high < SCALES[1] and slope(high) < 0:
        low, high, step = high, min(high + step, SCALES[1]), 2 * step
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    return float(scipy.optimize.brentq(slope, low, high, xtol=1e-8))
