"""How many predictors matter, by their importances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["effective_number", "largest"]


def effective_number(importance: NDArray[np.float64], order: int) -> float:
    """Return the effective number of importances (P,), at least 0; it is 0 if all of them are.

    That is the number of Hill (1973) of order 2 or 1.  With the shares s of the importances in
    their sum, it is 1 / Σ s² or exp(-Σ s log s).  If m of them are equal, and the others 0, it is
    m.  Small ones count less for the order 2.

    References
    ----------
    M. O. Hill (1973). Diversity and evenness: a unifying notation and its consequences. Ecology
    54, 427-432.
    """
    if not (importance > 0).any():
        return 0.0
    share = importance / importance.max()
    share = share[share > 0] / share.sum()
    if order == 2:
        return float(1 / (share**2).sum())
    return float(np.exp(-(share * np.log(share)).sum()))


def largest(importance: NDArray[np.float64], number: float) -> NDArray[np.int64]:
    """Return the numbers, in ascending order, of the largest of the importances (P,).

    They are as many as `number`, rounded up; of equal ones the first.
    """
    return np.sort(np.argsort(-importance, kind="stable")[: math.ceil(number)])
