"""Arguments with one value for each row: the name of a column, or the values."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_complex_dtype

from odrf.errors import InputError, nearest

__all__ = ["aligned", "row_labels", "row_numbers"]


def row_numbers(argument: str, value: str | ArrayLike, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the numbers (n,) of the rows of `data`, missing ones as NaN.

    Parameters
    ----------
    argument : str
        The name of the argument, for errors.
    value : str or array-like
        The name of a column, or n numbers: of a Series by the labels of its index, else by
        position.
    data : pandas.DataFrame
        The data frame.

    Raises
    ------
    InputError
        There is no such column, or `value` is not n numbers, or is a Series with other labels.
    """
    if isinstance(value, str):
        value = _column(argument, value, data)
    elif isinstance(value, pd.Series) and len(value) == len(data):
        value = aligned(argument, value, data.index)
    try:
        given = pd.Series(value)
        if given.dtype.kind in "mM":
            raise TypeError("dates and durations are numbers to NumPy, of some unit")
        is_real = not is_complex_dtype(given.dtype)
        result = given.to_numpy(dtype=np.float64, na_value=np.nan) if is_real else np.empty(0)
    except (TypeError, ValueError):
        raise InputError(
            f"{argument} must be numbers, one for each row, or the name of a column of numbers"
        ) from None
    if not is_real:
        raise InputError(f"{argument} holds complex numbers: give one real number for each row")
    if result.shape != (len(data),):
        raise InputError(
            f"{argument} has length {len(result)} and the data {len(data)} rows: give one number "
            "for each row"
        )
    return np.asarray(result, dtype=np.float64)


def row_labels(argument: str, value: str | ArrayLike, data: pd.DataFrame) -> pd.Series:
    """Return the values (n,) of the rows of `data`, of any type, numbered from 0.

    The arguments are those of `row_numbers`.

    Raises
    ------
    InputError
        There is no such column, or `value` is not n values, or is a Series with other labels.
    """
    if isinstance(value, str):
        value = _column(argument, value, data)
    elif isinstance(value, pd.Series) and len(value) == len(data):
        value = aligned(argument, value, data.index)
    try:
        given = pd.Series(value)
        given = given.reset_index(drop=True)
        given.isna(), pd.factorize(given)
    except (TypeError, ValueError):
        raise InputError(
            f"{argument} must be the name of a column, or one value for each row"
        ) from None
    if len(given) != len(data):
        raise InputError(
            f"{argument} has length {len(given)} and the data {len(data)} rows: give one value for "
            "each row"
        )
    return given


def _column(argument: str, name: str, data: pd.DataFrame) -> pd.Series:
    if name not in data.columns:
        raise InputError(
            f"{argument}={name!r} is not a column of the data{nearest(name, data.columns)}"
        )
    return data[name]


def aligned(argument: str, values: pd.Series, index: pd.Index) -> pd.Series:
    """Return the values in the order of `index`; raise `InputError` if they have other labels."""
    if values.index.equals(index):
        return values
    if not (values.index.is_unique and index.is_unique and index.isin(values.index).all()):
        raise InputError(
            f"{argument}= is a Series with other row labels than the data, and its numbers belong "
            "to rows by their labels: give it the index of the data, or give its numbers by "
            f"position: {argument}.to_numpy()"
        )
    return values.reindex(index)
