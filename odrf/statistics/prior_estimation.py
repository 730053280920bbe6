"""Probabilities for other shares of the classes, and these shares from unlabelled rows.

If classes come more or less often in a population than in training, but look alike within each,
Bayes' rule takes the probabilities p over: p'_k ∝ p_k·π'_k/π_k, with π the shares in training and
π' the new ones (Saerens, Latinne and Decaestecker 2002, equation (2.4)).  Unknown π' are those of
the largest likelihood of the unlabelled rows, found by EM: π'_k is the mean of p'_k, again and
again (equation (2.9)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "estimated_priors", "shifted"]


class Estimate(NamedTuple):
    """Shares of the classes (K,), the steps they took, and whether these had come to an end."""

    priors: NDArray[np.float64]
    steps: int
    settled: bool


def shifted(
    shares: NDArray[np.float64], trained: NDArray[np.float64], priors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probabilities `shares` (m, K) for classes that come in other shares.

    Parameters
    ----------
    shares : (m, K) float64
        As the training rows have it; rows of NaN stay so.
    trained, priors : (K,) float64
        Shares of the classes in training and in the population.  A class without any in training
        has no probability either.
    """
    ratio = np.divide(priors, trained, out=np.zeros_like(priors), where=trained > 0)
    weighed = shares * ratio
    return weighed / weighed.sum(axis=1, keepdims=True)


def estimated_priors(
    shares: NDArray[np.float64], trained: NDArray[np.float64], max_steps: int, tolerance: float
) -> Estimate:
    """Estimate the shares of the classes among rows of probabilities `shares` (m, K) by EM.

    It starts from those in training, `trained` (K,), and ends when no share moves by more than
    `tolerance`, or after `max_steps`.
    """
    priors = trained
    for step in range(1, max_steps + 1):
        found = shifted(shares, trained, priors).mean(axis=0)
        moved = float(np.abs(found - priors).max())
        priors = found
        if moved <= tolerance:
            return Estimate(priors, step, True)
    return Estimate(priors, max_steps, False)
