"""Whether what a fit leaves unexplained follows itself in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["autocorrelation"]


def autocorrelation(runs: NDArray[np.float64]) -> float:
    """Return the correlation of residuals with the next ones, NaN without any that vary.

    Parameters
    ----------
    runs : (r, w) float64
        Residuals in r runs of w successive rows; NaN for rows without one.
    """
    known = ~np.isnan(runs)
    if not known.any():
        return float("nan")
    centred = np.where(known, runs - runs[known].mean(), 0.0)
    pairs = known[:, 1:] & known[:, :-1]
    variance = np.sum(centred**2) / known.sum()
    if not pairs.any() or variance <= 0:
        return float("nan")
    return float(np.sum(centred[:, 1:] * centred[:, :-1]) / pairs.sum() / variance)
