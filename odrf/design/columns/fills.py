"""What empty cells are filled with: the median of a column of numbers, or its commonest value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from odrf.design.columns.measurement import NUMBERS, contents
from odrf.design.columns.missing import find_missing
from odrf.errors import InputError

__all__ = ["filled", "learn_fills"]


def learn_fills(frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, Any]:
    """Return by column the median of its values, or the most frequent one if they are no numbers.

    Of several most frequent values, the first in their order is taken.  All columns have a fill:
    new rows may have empty cells in columns that have none in training.

    Raises
    ------
    InputError
        A column is empty in every row, or has values that cannot be compared.
    """
    fills = {}
    for name in columns:
        known = frame[name].dropna()
        if known.empty:
            raise InputError(
                f"column {name!r} is missing in every training row: leave it out of the formula "
                "or the data"
            )
        fills[name] = _median(known) if _is_number(known) else _most_frequent(known)
    return fills


def _median(known: pd.Series) -> Any:
    dtype = known.dtype
    if isinstance(dtype, pd.SparseDtype):  # older pandas has no median of these
        known = known.astype(dtype.subtype)
    return known.median()


def _most_frequent(known: pd.Series) -> Any:
    try:
        return known.mode().iloc[0]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {known.name!r} holds values that cannot be compared, such as tables: "
            "make them numbers or text"
        ) from error


def filled(frame: pd.DataFrame, fills: Mapping[str, Any]) -> pd.DataFrame:
    """Return `frame` with the empty cells of the columns in `fills` filled."""
    empty = find_missing(frame, list(fills)).counts if fills else {}
    if not empty:
        return frame
    whole = frame.copy(deep=False)
    for name in empty:  # not by assign(), which has no column "self"
        whole[name] = _filled(frame[name], fills[name])
    return whole


def _filled(column: pd.Series, fill: Any) -> pd.Series:
    """Return a column with its empty cells filled; its type may be another than in training."""
    known = column.notna()
    if not known.any():
        return pd.Series(fill, index=column.index)
    column = _widened(column, fill)
    if _holds(column, fill):
        return column.fillna(fill)
    return column.astype(object).where(known, fill)


def _is_number(column: pd.Series) -> bool:
    categorical = isinstance(column.dtype, pd.CategoricalDtype)
    return not categorical and contents(column) == NUMBERS


def _widened(column: pd.Series, fill: Any) -> pd.Series:
    """Return a column of whole numbers, decimals or categories in a type that can hold its fill.

    Numbers become floats; categories get one more.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column if fill in dtype.categories else column.cat.add_categories([fill])
    if not is_numeric_dtype(dtype) or not _is_number(column):
        return column
    whole = is_integer_dtype(dtype) and float(fill).is_integer()
    if whole:
        limits = np.iinfo(getattr(dtype, "numpy_dtype", np.int64))
        whole = limits.min <= int(fill) <= limits.max
    return column if whole or is_float_dtype(dtype) else column.astype("Float64")


def _holds(column: pd.Series, fill: Any) -> bool:
    """Return whether a column of numbers or dates can have the fill as a value; True for others."""
    dtype = column.dtype
    if is_bool_dtype(dtype):
        return isinstance(fill, bool | np.bool_)
    if is_numeric_dtype(dtype):
        return isinstance(fill, float | int | np.number) and not isinstance(fill, bool)
    if dtype.kind == "M":
        return isinstance(fill, pd.Timestamp) and (fill.tz is None) == (column.dt.tz is None)
    if isinstance(dtype, pd.PeriodDtype):
        return isinstance(fill, pd.Period) and fill.freq == dtype.freq
    return True
