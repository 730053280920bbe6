"""Quantiles of a new residual, and the share of residuals below one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["residual_quantiles", "shares_below"]

SLACK = 1e-10


def residual_quantiles(
    residual: NDArray[np.float64], weights: NDArray[np.float64], levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the quantiles (q,) of a new residual that is exchangeable with known ones.

    A new residual is below the k-th smallest of n with probability k / (n + 1); between these
    probabilities, quantiles are on a line.  Below 1 / (n + 1) they are minus infinity, above
    n / (n + 1) infinity.  With case weights a residual counts by its weight, and the new one by the
    mean weight.

    Parameters
    ----------
    residual : (n,) float64
        Residuals of rows that had no part in their predictions; NaN where there is none.
    weights : (n,) float64
        Case weights.
    levels : (q,) float64
        Above 0 and below 1.
    """
    known = ~np.isnan(residual) & (weights > 0)
    if not known.any():
        return np.where(levels < 0.5, -np.inf, np.inf)
    order = np.argsort(residual[known], kind="stable")
    added = np.cumsum(weights[known][order])
    reached = added / (added[-1] * (1 + 1 / len(added)))
    found = np.interp(levels, reached, residual[known][order])
    found[levels < reached[0] * (1 - SLACK)] = -np.inf
    found[levels > reached[-1] * (1 + SLACK)] = np.inf
    return found


def shares_below(
    residual: NDArray[np.float64], weights: NDArray[np.float64], observed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share (m,) of the known residuals that is below each observed one.

    Equal ones count half.  NaN where `observed` is.

    Parameters
    ----------
    residual, weights : (n,) float64
        As in `residual_quantiles`.
    observed : (m,) float64
    """
    known = ~np.isnan(residual) & (weights > 0)
    order = np.argsort(residual[known], kind="stable")
    sizes = residual[known][order]
    added = np.concatenate([[0.0], np.cumsum(weights[known][order])])
    below = added[np.searchsorted(sizes, observed, side="left")]
    not_above = added[np.searchsorted(sizes, observed, side="right")]
    total = added[-1] if added[-1] > 0 else np.nan
    return np.where(np.isnan(observed), np.nan, (below + not_above) / 2 / total)
