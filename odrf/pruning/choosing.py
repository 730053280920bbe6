"""Choosing among nested subtrees by their held-out errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHOICES", "MINIMUM", "ONE_SE", "chosen"]

MINIMUM, ONE_SE = "min", "1se"
CHOICES = (MINIMUM, ONE_SE)


def chosen(error: NDArray[np.float64], spread: NDArray[np.float64], rule: str) -> int:
    """Return the row of the subtree to be chosen, rows going from the largest tree to the root.

    ``"min"`` takes the smallest error, ``"1se"`` the smallest tree whose error is no more than one
    standard error above it (Breiman et al. 1984, section 3.4.3).  The smallest tree if tied.
    """
    best = len(error) - 1 - int(np.argmin(error[::-1]))
    limit = error[best] + (spread[best] if rule == ONE_SE else 0.0)
    return int(np.flatnonzero(error <= limit)[-1])
