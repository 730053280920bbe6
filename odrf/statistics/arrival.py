"""Errors of rows as they arrive, block by block, against those of all earlier rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["arrival_table"]


def arrival_table(
    losses: NDArray[np.float64], weights: NDArray[np.float64], ends: NDArray[np.int64]
) -> pd.DataFrame:
    """Return error, standard error, the error of all earlier rows, and z of each block.

    Parameters
    ----------
    losses : (m,) float64
        NaN for rows that are left out.
    weights : (m,) float64
        Case weights.
    ends : (B,) int64
        Block b has the rows ``ends[b - 1]:ends[b]``, the first one those from 0 on.

    Returns
    -------
    DataFrame
        Columns: ``rows``; ``error``, the weighted mean loss; ``std_error``, that of independent
        rows, NaN for fewer than two; ``before``, the weighted mean loss of all earlier blocks, NaN
        for the first; ``z``, the difference of the two means in standard errors.
    """
    used = np.where(np.isnan(losses), 0.0, weights)
    loss, begins = np.nan_to_num(losses), np.concatenate([[0], ends[:-1]])
    lines = []
    for begin, end in zip(begins, ends, strict=True):
        error, std_error = _mean(loss[begin:end], used[begin:end])
        before, std_before = _mean(loss[:begin], used[:begin])
        width = np.hypot(std_error, std_before)
        z = (error - before) / width if width > 0 else np.nan
        lines.append((int(end - begin), error, std_error, before, z))
    return pd.DataFrame(lines, columns=["rows", "error", "std_error", "before", "z"])


def _mean(loss: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return the weighted mean and its standard error; NaN for no row, or for one."""
    n, total = int((weights > 0).sum()), weights.sum()
    if n == 0:
        return np.nan, np.nan
    mean = float(weights @ loss / total)
    if n == 1:
        return mean, np.nan
    spread = np.sum((weights * (loss - mean)) ** 2)
    return mean, float(np.sqrt(spread * n / (n - 1)) / total)
