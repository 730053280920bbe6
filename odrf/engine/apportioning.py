"""Whole numbers in proportion to weights, by the method of largest remainders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportion"]


def apportion(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return whole numbers (G,) that add up to n, in proportion to the weights (G,).

    The weights must add up to 1.  By the method of largest remainders.
    """
    shares = n * weights
    counts = np.floor(shares).astype(np.int64)
    first = np.argsort(counts - shares, kind="stable")[: n - int(counts.sum())]
    counts[first] += 1
    return counts
