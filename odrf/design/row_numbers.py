"""Arguments with one number for each row: the name of a column, or the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.errors import InputError, nearest

__all__ = ["row_numbers"]


def row_numbers(argument: str, value: str | ArrayLike, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the numbers (n,) of the rows of `data`, missing ones as NaN.

    Parameters
    ----------
    argument : str
        The name of the argument, for errors.
    value : str or array-like
        The name of a column, or n numbers taken by position.
    data : pandas.DataFrame
        The data frame.

    Raises
    ------
    InputError
        There is no such column, or `value` is not n numbers.
    """
    if isinstance(value, str):
        if value not in data.columns:
            raise InputError(
                f"{argument}={value!r} is not a column of the data{nearest(value, data.columns)}"
            )
        value = data[value]
    try:
        result = pd.Series(value).to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(
            f"{argument} must be numbers, one for each row, or the name of a column of numbers"
        ) from None
    if result.shape != (len(data),):
        raise InputError(
            f"{argument} has length {len(result)} and the data {len(data)} rows: give one number "
            "for each row"
        )
    return np.asarray(result, dtype=np.float64)
