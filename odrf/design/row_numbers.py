"""An argument that gives each row of the data a number: a column's name, or the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.errors import InputError, nearest

__all__ = ["row_numbers"]


def row_numbers(argument: str, given: str | ArrayLike, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the numbers of all n rows of `data`, missing ones as NaN.

    Parameters
    ----------
    argument : str
        Its name, for errors.
    given : str or array-like
        A column's name, or n numbers taken by position.
    data : pandas.DataFrame
        The data frame.

    Raises
    ------
    InputError
        No such column, not numbers, or not n of them.
    """
    if isinstance(given, str):
        if given not in data.columns:
            raise InputError(
                f"{argument}={given!r} is not a column of the data{nearest(given, data.columns)}"
            )
        given = data[given]
    try:
        result = pd.Series(given).to_numpy(dtype=np.float64, na_value=np.nan)
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
