"""Errors of rows as they arrive, block by block, against those of all earlier rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["N_SUMS", "arrival_sums", "arrival_table", "fewer_blocks"]

# How many sums there are of each block.
N_SUMS = 7


def arrival_sums(
    losses: NDArray[np.float64], weights: NDArray[np.float64], ends: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what errors and standard errors of blocks are computed from: sums (B, 7).

    Those of blocks that are joined add up.

    Parameters
    ----------
    losses : (m,) float64
        NaN for rows that are left out.
    weights : (m,) float64
        Case weights w.
    ends : (B,) int64
        Block b has the rows ``ends[b - 1]:ends[b]``, the first one those from 0 on.

    Returns
    -------
    (B, 7) float64
        Rows; rows of positive weight with a loss l; and of these Σw, Σwl, Σw², Σw²l, Σw²l².
    """
    w = np.where(np.isnan(losses), 0.0, weights)
    loss, ones = np.nan_to_num(losses), np.ones(len(losses))
    terms = np.stack([ones, w > 0, w, w * loss, w * w, w * w * loss, (w * loss) ** 2], axis=1)
    begins = np.concatenate([[0], ends[:-1]])
    sums = [terms[begin:end].sum(axis=0) for begin, end in zip(begins, ends, strict=True)]
    return np.array(sums).reshape(-1, N_SUMS)


def fewer_blocks(sums: NDArray[np.float64], least: int) -> NDArray[np.float64]:
    """Return the sums of blocks that are joined until each but the last has `least` rows."""
    joined: list[NDArray[np.float64]] = []
    for block in sums:
        if joined and joined[-1][0] < least:
            joined[-1] = joined[-1] + block
        else:
            joined.append(block)
    return np.array(joined).reshape(-1, N_SUMS)


def arrival_table(sums: NDArray[np.float64]) -> pd.DataFrame:
    """Return error, standard error, the error of all earlier rows, and z of each block.

    Parameters
    ----------
    sums : (B, 7) float64
        As `arrival_sums` returns them.

    Returns
    -------
    DataFrame
        Columns: ``rows``; ``error``, the weighted mean loss; ``std_error``, that of independent
        rows, NaN for fewer than two; ``before``, the weighted mean loss of all earlier blocks, NaN
        for the first; ``z``, the difference of the two means in standard errors.
    """
    earlier = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)[:-1]])
    (error, std_error), (before, std_before) = _mean(sums), _mean(earlier)
    with np.errstate(invalid="ignore", divide="ignore"):
        width = np.hypot(std_error, std_before)
        z = np.where(width > 0, (error - before) / width, np.nan)
    columns = {"rows": sums[:, 0].astype(np.int64), "error": error, "std_error": std_error}
    return pd.DataFrame({**columns, "before": before, "z": z})


def _mean(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted means and their standard errors; NaN for no row, or for one."""
    _, n, w, wl, ww, wwl, wwll = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(n > 0, wl / w, np.nan)
        spread = np.maximum(0.0, wwll - 2 * mean * wwl + mean * mean * ww)
        std_error = np.where(n > 1, np.sqrt(spread * n / (n - 1)) / w, np.nan)
    return mean, std_error
