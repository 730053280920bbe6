"""Case weights: from the argument `weights` to one number per row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.row_numbers import row_numbers
from odrf.errors import InputError

__all__ = ["check_weights", "raw_weights"]


def raw_weights(weights: str | ArrayLike | None, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the weights (n,) of the rows of `data`, missing ones as NaN.

    Parameters
    ----------
    weights : str, array-like or None
        The name of a column, n numbers taken by position, or None for all ones.
    data : pandas.DataFrame
        The data frame.

    Raises
    ------
    InputError
        There is no such column, or the weights are not n numbers.
    """
    if weights is None:
        return np.ones(len(data))
    return row_numbers("weights", weights, data)


def check_weights(weights: NDArray[np.float64]) -> None:
    """Raise `InputError` unless `weights` (n,) are finite, at least 0, and not all 0."""
    bad = ~np.isfinite(weights)
    if bad.any():
        raise InputError(
            f"weights has {bad.sum()} missing or infinite values: give every row a finite weight "
            "(a row of weight 0 has no influence)"
        )
    if (weights < 0).any():
        raise InputError(
            f"weights has {(weights < 0).sum()} negative values, the smallest {weights.min():g}: "
            "weights must be at least 0"
        )
    if not weights.any():
        raise InputError("weights are all zero: give at least one row a positive weight")
