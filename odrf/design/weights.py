"""Case weights: from the argument to one number per row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.errors import InputError, nearest

__all__ = ["check_weights", "raw_weights"]


def raw_weights(weights: str | ArrayLike | None, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the weights of all n rows of `data`, missing ones as NaN.

    Parameters
    ----------
    weights : str, array-like or None
        A column's name, n numbers taken by position, or None for all ones.
    data : pandas.DataFrame
        The data frame.

    Raises
    ------
    InputError
        No such column, not numbers, or not n of them.
    """
    if weights is None:
        return np.ones(len(data))
    if isinstance(weights, str):
        if weights not in data.columns:
            raise InputError(
                f"weights={weights!r} is not a column of the data{nearest(weights, data.columns)}"
            )
        given: ArrayLike | pd.Series = data[weights]
    else:
        given = weights
    try:
        result = pd.Series(given).to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(
            "weights must be numbers, one for each row, or the name of a column of numbers"
        ) from None
    if result.shape != (len(data),):
        raise InputError(
            f"weights has length {len(result)} and the data {len(data)} rows: give one weight "
            "for each row"
        )
    return result


def check_weights(weights: NDArray[np.float64]) -> None:
    """Raise `InputError` unless `weights` (n,) are finite, at least 0, and not all 0."""
    bad = ~np.isfinite(weights)
    if bad.any():
        raise InputError(
            f"weights has {bad.sum()} missing or infinite values: give every row a finite weight "
            "(0 leaves a row without influence)"
        )
    if (weights < 0).any():
        raise InputError(
            f"weights has {(weights < 0).sum()} negative values, the least {weights.min():g}: "
            "weights must be at least 0"
        )
    if not weights.any():
        raise InputError("weights are all zero: at least one row must count")
