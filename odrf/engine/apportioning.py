"""Whole numbers in given proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportion"]


def apportion(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return whole numbers (G,) in proportion to the weights, in all n, by largest remainders.

    The weights add up to 1.
    """
    shares = n * weights
    counts = np.floor(shares).astype(np.int64)
    first = np.argsort(counts - shares, kind="stable")[: n - int(counts.sum())]
    counts[first] += 1
    return counts
