"""Weighted means of rows, of which there may be none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_mean"]


def weighted_mean(values: NDArray, weights: NDArray[np.float64]) -> float:
    """Return the weighted mean of `values` (m,); NaN if no row has a positive weight.

    Parameters
    ----------
    values, weights : (m,) arrays
        Weights are at least 0.
    """
    if not weights.any():
        return float("nan")
    return float(np.average(values, weights=weights))
