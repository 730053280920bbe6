"""Laws of a time to an event given predictors: its survival curve, restricted mean and draws.

Arrays in, arrays out: predictors X (n, p) and times (R,) of at least 0, all float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, gammainc, hyp1f1, ndtr

__all__ = ["LogNormalLaw", "SurvivalLaw", "WeibullLaw"]

# The gamma function of a larger number than 1 + this is no number that a computer has.
MOST_INVERSE = 170.0

OfRows = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class SurvivalLaw(Protocol):
    """What a simulated survival problem asks of the law of its times."""

    def survival(self, X: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return S(t | x), (n, R)."""

    def restricted_mean(self, X: NDArray[np.float64], until: float) -> NDArray[np.float64]:
        """Return E(min(T, until) | x), (n,)."""

    def shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each cause, (n, K), whatever the time of the event."""

    def draw(self, rng: np.random.Generator, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a time of each row, (n,)."""


@dataclass(frozen=True)
class WeibullLaw:
    """Cumulative hazards λ_k(x) t^a(x) of the causes k, all of the same shape a.

    As hazards of causes keep their ratio in time, the cause of an event does not depend on its
    time, and P(T ≤ t, cause k | x) = λ_k / Σλ · (1 - S(t | x)).

    Attributes
    ----------
    rates : callable
        Takes X, and returns λ_k(x), (n, K).
    shape : callable
        Takes X, and returns a(x), (n,).
    """

    rates: OfRows
    shape: OfRows

    def survival(self, X: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(-λ tᵃ), (n, R), λ being the sum over causes."""
        total = self.rates(X).sum(axis=1)
        powers = times[np.newaxis, :] ** self.shape(X)[:, np.newaxis]
        return np.exp(-total[:, np.newaxis] * powers)

    def restricted_mean(self, X: NDArray[np.float64], until: float) -> NDArray[np.float64]:
        """Return ∫ exp(-λ tᵃ) dt from 0 to `until`, (n,), an incomplete gamma function."""
        total, shape = self.rates(X).sum(axis=1), self.shape(X)
        scale, reached = total ** (-1 / shape), total * until**shape
        with np.errstate(invalid="ignore"):
            mean = scale * gamma(1 + 1 / shape) * gammainc(1 / shape, reached)
        flat = 1 / shape > MOST_INVERSE
        # the same integral by Kummer's function, in which nothing overflows
        mean[flat] = until * np.exp(-reached[flat]) * hyp1f1(1, 1 + 1 / shape[flat], reached[flat])
        return mean

    def shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return λ_k / Σλ, (n, K)."""
        rates = self.rates(X)
        return rates / rates.sum(axis=1, keepdims=True)

    def draw(self, rng: np.random.Generator, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return times at which the cumulative hazard reaches an exponential draw, (n,)."""
        reached = rng.standard_exponential(len(X))
        return (reached / self.rates(X).sum(axis=1)) ** (1 / self.shape(X))


@dataclass(frozen=True)
class LogNormalLaw:
    """One cause, log T normal with mean m(x) and a standard deviation that is the same for all.

    Attributes
    ----------
    centre : callable
        Takes X, and returns m(x), (n,).
    spread : float
        Standard deviation of log T, above 0.
    """

    centre: OfRows
    spread: float

    def survival(self, X: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Φ((m - log t) / σ), (n, R)."""
        return ndtr((self.centre(X)[:, np.newaxis] - _log(times)) / self.spread)

    def restricted_mean(self, X: NDArray[np.float64], until: float) -> NDArray[np.float64]:
        """Return E min(T, until), (n,): the mean of times below `until`, and `until` beyond."""
        centre, spread = self.centre(X), self.spread
        late = (_log(np.array(until)) - centre) / spread
        mean = np.exp(centre + spread**2 / 2)
        return mean * ndtr(late - spread) + until * ndtr(-late)

    def shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ones, (n, 1)."""
        return np.ones((len(X), 1))

    def draw(self, rng: np.random.Generator, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(m + σ · normal), (n,)."""
        return np.exp(self.centre(X) + self.spread * rng.standard_normal(len(X)))


def _log(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(times)
