"""Class probabilities under other priors, and priors estimated from unlabelled rows.

Suppose that the classes have other shares (priors) in a population than in training, but the same
distribution of predictors within each class.  Then, by Bayes' rule, the probabilities p become
p'_k ∝ p_k·π'_k/π_k, with π the priors in training and π' the new ones (Saerens, Latinne and
Decaestecker 2002, equation (2.4)).  Unknown π' are estimated by maximum likelihood from the
unlabelled rows, with the EM algorithm: π'_k becomes the mean of p'_k, until it no longer changes
(equation (2.9)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "estimated_priors", "shifted"]


class Estimate(NamedTuple):
    """Priors of the classes (K,), the number of EM steps, and whether they converged."""

    priors: NDArray[np.float64]
    steps: int
    settled: bool


def shifted(
    probabilities: NDArray[np.float64], trained: NDArray[np.float64], priors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return class probabilities (m, K) under other priors.

    Parameters
    ----------
    probabilities : (m, K) float64
        Probabilities under the priors in training; rows of NaN stay NaN.
    trained, priors : (K,) float64
        Priors of the classes in training and in the population.  A class that is absent in training
        keeps probability 0.
    """
    ratio = np.divide(priors, trained, out=np.zeros_like(priors), where=trained > 0)
    weighted = probabilities * ratio
    return weighted / weighted.sum(axis=1, keepdims=True)


def estimated_priors(
    probabilities: NDArray[np.float64],
    trained: NDArray[np.float64],
    max_steps: int,
    tolerance: float,
) -> Estimate:
    """Estimate the priors of the classes by EM, from the `probabilities` (m, K) of m rows.

    EM starts from the priors in training, `trained` (K,).  It ends when no prior changes by more
    than `tolerance`, or after `max_steps` steps.
    """
    priors = trained
    for step in range(1, max_steps + 1):
        updated = shifted(probabilities, trained, priors).mean(axis=0)
        change = float(np.abs(updated - priors).max())
        priors = updated
        if change <= tolerance:
            return Estimate(priors, step, True)
    return Estimate(priors, max_steps, False)
