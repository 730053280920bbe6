"""Laws of the error ε in log T = f + σ ε: normal, logistic, and least extreme value.

T is then log-normal, log-logistic, or Weibull.  z are values of ε.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["ErrorLaw", "ExtremeValueError", "LogisticError", "NormalError"]

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
        return special.log_ndtr(-z)

    def hazard(self, z: Array) -> Array:
        """Return the inverse of Mills' ratio."""
        return np.sqrt(2 / np.pi) / special.erfcx(z / np.sqrt(2))

    def censored_curvature(self, z: Array) -> Array:
        """Return λ (λ - z)."""
        hazard = self.hazard(z)
        return np.clip(hazard * (hazard - z), 0.0, 1.0)

    def quantiles(self, p: Array) -> Array:
        """Return quantiles of the standard normal law."""
        return special.ndtri(p)

    def partial_mean(self, z: Array, scale: float) -> Array:
        """Return exp(scale²/2) P(ε ≤ z - scale)."""
        return np.exp(0.5 * scale**2 + special.log_ndtr(z - scale))


@dataclass(frozen=True)
class LogisticError(ErrorLaw):
    """The standard logistic law."""

    def log_density(self, z: Array) -> Array:
        """Return log p(z)."""
        return special.log_expit(z) + special.log_expit(-z)

    def pull(self, z: Array) -> Array:
        """Return tanh(z/2)."""
        return np.tanh(0.5 * z)

    def event_curvature(self, z: Array) -> Array:
        """Return tanh(z/2)/z."""
        return np.divide(np.tanh(0.5 * z), z, out=np.full_like(z, 0.5), where=abs(z) > NEAR_ZERO)

    def log_survival(self, z: Array) -> Array:
        """Return log P(ε > z)."""
        return special.log_expit(-z)

    def hazard(self, z: Array) -> Array:
        """Return P(ε ≤ z)."""
        return special.expit(z)

    def censored_curvature(self, z: Array) -> Array:
        """Return dλ(z)/dz for z < 0, and for larger z tanh(z/2)/(2z).

        The latter is the least curvature of a parabola that touches -log P(ε > z) at z and is
        nowhere below it (Jaakkola and Jordan 2000).
        """
        return np.where(z < 0, special.expit(z) * special.expit(-z), 0.5 * self.event_curvature(z))

    def quantiles(self, p: Array) -> Array:
        """Return the log odds of p."""
        return special.logit(p)

    def partial_mean(self, z: Array, scale: float) -> Array:
        """Return ∫ (u/(1 - u))^scale du from 0 to P(ε ≤ z).

        By parts: e^(scale z) times (1/(1 + 1/e^z) + …), in terms of Gauss's hypergeometric
        function, which is also right where the mean is infinite, from scale = 1 on.
        """
        p = special.expit(z)
        whole = special.hyp2f1(1.0, 1.0, 1.0 + scale, p) * special.expit(-z)
        return np.exp(np.minimum(scale * z, LARGEST_EXPONENT)) * (whole - special.expit(-z))


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
        return special.gamma(1.0 + scale) * special.gammainc(1.0 + scale, _exp(z))


def _exp(z: Array) -> Array:
    return np.exp(np.minimum(z, LARGEST_EXPONENT))
