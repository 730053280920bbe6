"""Maps from predicted to calibrated probabilities: a power, isotonic, Platt's, and beta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.probabilities.logarithmic_pool import logarithms, pool_exponents, pooled
from odrf.statistics.probabilities.reliability import recalibrated

__all__ = [
    "BETA",
    "ISOTONIC",
    "METHODS",
    "PLATT",
    "POWER",
    "LogOdds",
    "Power",
    "Steps",
    "power_map",
    "recalibration_map",
]

POWER, ISOTONIC, PLATT, BETA = "power", "isotonic", "platt", "beta"
METHODS = (POWER, ISOTONIC, PLATT, BETA)
# Probabilities of 0 and 1 have no finite log odds.
LEAST = 1e-4


@dataclass(frozen=True, eq=False)
class Steps:
    """An increasing function through m points; straight between them.

    Attributes
    ----------
    at, value : (m,) float64
        The points; `at` increases.
    """

    at: NDArray[np.float64]
    value: NDArray[np.float64]

    def __call__(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the calibrated probabilities of p (n,)."""
        return np.interp(p, self.at, self.value)


@dataclass(frozen=True)
class LogOdds:
    """log odds = c + a·log p - b·log(1 - p); of Platt's method a = b.

    Attributes
    ----------
    a, b, c : float
    """

    a: float
    b: float
    c: float

    def __call__(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the calibrated probabilities of p (n,)."""
        yes, no = _logarithms(p)
        return np.asarray(scipy.special.expit(self.c + self.a * yes - self.b * no))


@dataclass(frozen=True)
class Power:
    """Probabilities of all classes to a power, made to add up to 1; their order stays.

    Attributes
    ----------
    exponent : float
    """

    exponent: float

    def __call__(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the calibrated probabilities of p (n, K)."""
        return pooled(logarithms(p)[None], np.array([self.exponent]))

    def of_one(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return those (n,) of a class with probabilities p (n,), where there is one other."""
        return self(np.stack([1 - p, p], axis=1))[:, 1]


def power_map(
    p: NDArray[np.float64], code: NDArray[np.int64], weights: NDArray[np.float64]
) -> Power:
    """Learn a power from probabilities p (n, K) and the classes that were seen (n,).

    See `odrf.statistics.probabilities.logarithmic_pool`.
    """
    return Power(float(pool_exponents(logarithms(p)[None], code, weights)[0]))


@one_thread()
def recalibration_map(
    method: str,
    p: NDArray[np.float64],
    event: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Steps | LogOdds:
    """Learn a map from probabilities p (n,) of an event, and whether it happened (n,).

    Parameters
    ----------
    method : {"isotonic", "platt", "beta"}
        The best increasing function; a logistic regression on the log odds of p (Platt 1999); or on
        log p and log(1 - p), with coefficients that are not negative (Kull and others 2017).
    p, event, weights : (n,) float64

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines, Advances in Large Margin
    Classifiers, 61-74.

    Kull, Silva Filho and Flach (2017), Beyond sigmoids: how to obtain well-calibrated probabilities
    from binary classifiers with beta calibration, Electronic Journal of Statistics 11, 5052-5080.
    """
    if method == ISOTONIC:
        at, first = np.unique(p, return_index=True)
        return Steps(at, recalibrated(p, event, weights)[first])
    yes, no = _logarithms(p)
    share = weights / weights.sum()
    one = np.ones(len(p))
    columns = np.stack([yes - no, one] if method == PLATT else [yes, -no, one])
    target = _moderate(event, weights)

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = theta @ columns
        off = share * (scipy.special.expit(score) - target)
        return float(share @ (np.logaddexp(0.0, score) - target * score)), columns @ off

    start = np.r_[np.ones(len(columns) - 1), 0.0]
    bounds = [(0.0, None)] * (len(columns) - 1) + [(None, None)]
    precise = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    theta = scipy.optimize.minimize(
        loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=precise
    ).x
    return LogOdds(float(theta[0]), float(theta[-2]), float(theta[-1]))


def _moderate(event: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Platt's targets (n,), a little inside 0 and 1: no few rows make a probability sure."""
    share = weights / weights.max()
    size = share.sum() ** 2 / (share**2).sum()
    yes = size * float(np.average(event, weights=weights))
    return np.where(event > 0, (yes + 1) / (yes + 2), 1 / (size - yes + 2))


def _logarithms(p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    inside = np.clip(p, LEAST, 1 - LEAST)
    return np.log(inside), np.log1p(-inside)
