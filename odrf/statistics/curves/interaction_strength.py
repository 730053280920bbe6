"""H statistics: how much of the prediction is no sum of parts of single variables.

Friedman and Popescu (2008), section 8.1.  Curves are centred here, so that they need not be before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Interaction", "overall_interaction", "pair_interaction"]

# A share of the predictions that sums and differences leave of 0.
ROUNDING = 1e-12


class Interaction(NamedTuple):
    """The strength of an interaction.

    Attributes
    ----------
    strength : float
        Standard deviation, over rows, of what is no sum: in the unit of the prediction.  Of classes
        the root of the sum of the variances of all probabilities.
    H : float
        Its share of the standard deviation of the whole; 0 if that is 0.
    """

    strength: float
    H: float


def pair_interaction(
    both: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> Interaction:
    """Return the interaction of a pair, from partial dependences (s, K) at the values of s rows."""
    return _interaction(both - first - second, both)


def overall_interaction(
    predicted: NDArray[np.float64], alone: NDArray[np.float64], others: NDArray[np.float64]
) -> Interaction:
    """Return the interaction of one variable with all others.

    Parameters
    ----------
    predicted : (s, K) float64
        Predictions of s rows.
    alone : (s, K) float64
        Partial dependence on the variable at their values.
    others : (s, K) float64
        Partial dependence on all other variables at their values.
    """
    return _interaction(predicted - alone - others, predicted)


def _interaction(rest: NDArray[np.float64], whole: NDArray[np.float64]) -> Interaction:
    least = ROUNDING * np.abs(whole).max()
    strength, size = (float(np.sqrt(part.var(axis=0).sum())) for part in (rest, whole))
    if strength <= least:
        return Interaction(0.0, 0.0)
    return Interaction(strength, strength / size if size > least else 0.0)
