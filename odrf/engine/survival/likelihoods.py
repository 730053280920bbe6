"""Likelihoods of times to an event: Cox's partial likelihood, and log T = f + σ ε.

T is then log-normal, log-logistic, or Weibull.  z are values of ε.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.running import one_thread
from odrf.engine.survival.event_ranks import EventRanks, sums_over_rows, sums_over_times

Array = NDArray[np.float64]
# exp() of more is taken as exp() of this, so that sums over rows are in the range of floats.
LARGEST_EXPONENT = 300.0
# Ratios that are 0/0 at z = 0 have their limits closer than this.
NEAR_ZERO = 1e-8


@dataclass(frozen=True)
class ErrorLaw(ABC):
    """A law of the error, whose density is log-concave."""

    @abstractmethod
    def log_density(self, z: Array) -> Array:
        """Return log p(z)."""

    @abstractmethod
    def pull(self, z: Array) -> Array:
        """Return -d log p(z)/dz."""

    @abstractmethod
    def event_curvature(self, z: Array) -> Array:
        """Return what a Newton step divides `pull` by.

        -d² log p(z)/dz², but where this is smaller the secant pull(z)/z, which leads to z = 0: in
        the tails a row would have nearly no weight, and steps would be far too long.
        """

    @abstractmethod
    def log_survival(self, z: Array) -> Array:
        """Return log P(ε > z)."""

    @abstractmethod
    def hazard(self, z: Array) -> Array:
        """Return λ(z), the density over P(ε > z)."""

    @abstractmethod
    def censored_curvature(self, z: Array) -> Array:
        """Return what a Newton step divides `hazard` by: dλ(z)/dz, or more; see `LogisticError`."""

    @abstractmethod
    def quantiles(self, p: Array) -> Array:
        """Return the z with P(ε ≤ z) = p."""

    @abstractmethod
    def partial_mean(self, z: Array, scale: float) -> Array:
        """Return E[exp(scale·ε); ε ≤ z]."""


@dataclass(frozen=True)
class NormalError(ErrorLaw):
    """The standard normal law."""

    def log_density(self, z: Array) -> Array:
        """Return log p(z)."""
        return -0.5 * z**2 - 0.5 * np.log(2 * np.pi)

    def pull(self, z: Array) -> Array:
        """Return z."""
        return z

    def event_curvature(self, z: Array) -> Array:
        """Return 1."""
        return np.ones_like(z)

    def log_survival(self, z: Array) -> Array:
        """Return log P(ε > z)."""
        return scipy.special.log_ndtr(-z)

    def hazard(self, z: Array) -> Array:
        """Return the inverse of Mills' ratio."""
        return np.sqrt(2 / np.pi) / scipy.special.erfcx(z / np.sqrt(2))

    def censored_curvature(self, z: Array) -> Array:
        """Return λ (λ - z)."""
        hazard = self.hazard(z)
        return np.clip(hazard * (hazard - z), 0.0, 1.0)

    def quantiles(self, p: Array) -> Array:
        """Return quantiles of the standard normal law."""
        return scipy.special.ndtri(p)

    def partial_mean(self, z: Array, scale: float) -> Array:
        """Return exp(scale²/2) P(ε ≤ z - scale)."""
        return np.exp(0.5 * scale**2 + scipy.special.log_ndtr(z - scale))


@dataclass(frozen=True)
class LogisticError(ErrorLaw):
    """The standard logistic law."""

    def log_density(self, z: Array) -> Array:
        """Return log p(z)."""
        return scipy.special.log_expit(z) + scipy.special.log_expit(-z)

    def pull(self, z: Array) -> Array:
        """Return tanh(z/2)."""
        return np.tanh(0.5 * z)

    def event_curvature(self, z: Array) -> Array:
        """Return tanh(z/2)/z."""
        return np.divide(np.tanh(0.5 * z), z, out=np.full_like(z, 0.5), where=abs(z) > NEAR_ZERO)

    def log_survival(self, z: Array) -> Array:
        """Return log P(ε > z)."""
        return scipy.special.log_expit(-z)

    def hazard(self, z: Array) -> Array:
        """Return P(ε ≤ z)."""
        return scipy.special.expit(z)

    def censored_curvature(self, z: Array) -> Array:
        """Return dλ(z)/dz for z < 0, and for larger z tanh(z/2)/(2z).

        The latter is the least curvature of a parabola that touches -log P(ε > z) at z and is
        nowhere below it (Jaakkola and Jordan 2000).
        """
        return np.where(
            z < 0, scipy.special.expit(z) * scipy.special.expit(-z), 0.5 * self.event_curvature(z)
        )

    def quantiles(self, p: Array) -> Array:
        """Return the log odds of p."""
        return scipy.special.logit(p)

    def partial_mean(self, z: Array, scale: float) -> Array:
        """Return ∫ (u/(1 - u))^scale du from 0 to P(ε ≤ z).

        By parts: e^(scale z) times (1/(1 + 1/e^z) + …), in terms of Gauss's hypergeometric
        function, which is also right where the mean is infinite, from scale = 1 on.
        """
        p = scipy.special.expit(z)
        whole = scipy.special.hyp2f1(1.0, 1.0, 1.0 + scale, p) * scipy.special.expit(-z)
        return np.exp(np.minimum(scale * z, LARGEST_EXPONENT)) * (whole - scipy.special.expit(-z))


@dataclass(frozen=True)
class ExtremeValueError(ErrorLaw):
    """The law of the logarithm of an exponential time."""

    def log_density(self, z: Array) -> Array:
        """Return log p(z)."""
        return z - _exp(z)

    def pull(self, z: Array) -> Array:
        """Return e^z - 1."""
        return np.expm1(np.minimum(z, LARGEST_EXPONENT))

    def event_curvature(self, z: Array) -> Array:
        """Return e^z for z > 0, else (e^z - 1)/z."""
        below = np.expm1(np.minimum(z, 0.0))
        secant = np.divide(below, z, out=np.ones_like(z), where=z < -NEAR_ZERO)
        return np.where(z < 0, secant, _exp(z))

    def log_survival(self, z: Array) -> Array:
        """Return -e^z."""
        return -_exp(z)

    def hazard(self, z: Array) -> Array:
        """Return e^z."""
        return _exp(z)

    def censored_curvature(self, z: Array) -> Array:
        """Return e^z."""
        return _exp(z)

    def quantiles(self, p: Array) -> Array:
        """Return log(-log(1 - p))."""
        return np.log(-np.log1p(-p))

    def partial_mean(self, z: Array, scale: float) -> Array:
        """Return the incomplete gamma function of 1 + scale, from 0 to e^z."""
        return scipy.special.gamma(1.0 + scale) * scipy.special.gammainc(1.0 + scale, _exp(z))


def _exp(z: Array) -> Array:
    return np.exp(np.minimum(z, LARGEST_EXPONENT))


# The likelihood of log T = f + σ ε, for times that may be censored or truncated.

Term = Callable[[Array], Array]
# Logarithms of the least and the largest scale σ.
SCALES = np.log(1e-3), np.log(1e3)
# The search for log σ begins with such a step.
FIRST_STEP = 0.5
# A spread of times, or of scores, that is smaller is taken as this.
LEAST_SPREAD = 1e-3


class LogTimes(NamedTuple):
    """Logarithms of times.

    `time` (n,): logarithm of the end of the observation.  `event` (n,): whether the row's event
    happened then.  `start` (n,): logarithm of the time after which the row was observed, -∞ for 0;
    empty if all rows were observed from the beginning.
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
        """Return σ² times what Newton steps (n,) divide by, which truncation only makes smaller."""
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

    `times` are of n rows, as are weights and offset (n,).  The first column of basis (n, q) is 1.
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


# Cox's partial likelihood of scores f: its value, gradient, and the diagonal of its Hessian.
# Ties are Efron's.  At a time with d events of weights w, let S be the sum of w·exp(f) over the
# rows at risk and D over those with the event.  The time adds Σ w·f - w̄ Σ_l log(S - D·l/d) to the
# log partial likelihood, with l = 0 … d - 1 and w̄ the mean weight of the d events, as in R's
# package survival.  d counts the rows of positive weight.

# Scores further below the largest one count as this far below: so sums over risk sets, and the
# squares of their inverses, are in the range of floats.
FARTHEST = 300.0


class PartialLikelihood(NamedTuple):
    """The negative log partial likelihood, and its derivatives by the scores.

    `losses` (n,): what each row's event adds to it, divided by the row's weight; 0 for censored
    rows.  Rows of one time share their denominators equally.  `first`, `second` (n,): derivatives
    by each row's score, and second derivatives by the same score, divided by the row's weight.
    """

    losses: Array
    first: Array
    second: Array


def partial_likelihood(ranks: EventRanks, weights: Array, scores: Array) -> PartialLikelihood:
    """Return the negative log partial likelihood of `scores` (n,) with `weights` (n,).

    Scores are logarithms of relative hazards.  Rows of weight 0 are in no risk set; some of the R
    event times of `ranks` may have no event of positive weight.
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
    """Return the largest score of positive weight, and exp(score - largest) (n,) ≥ exp(-300)."""
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

    dead, weight, risk (R,) are the number of events, and sums over these of weights w and of
    w·exp(f); total (R,) has sums of w·exp(f) over the rows at risk.  The rows of of_time are the
    mean logarithm of the denominators; the increment of the cumulative hazard, and the same for
    the rows with the event; the sum of the squares of both.
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
