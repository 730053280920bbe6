"""Data frames and series of other libraries than pandas, by narwhals, which is loaded for them.

Columns are converted one by one, because ``to_pandas()`` of these libraries turns whole numbers
with missing values into floats, which cannot tell apart whole numbers beyond 2^53.
"""

from __future__ import annotations

from typing import Any

import narwhals
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from odrf.errors import InputError

LABELS = (nw.Categorical, nw.Enum, nw.String)
MOMENTS = (nw.Date, nw.Datetime, nw.Duration)


def table_in_pandas(value: Any) -> Any:
    """Return a data frame of another library as one of pandas, other values as they are.

    A frame that is evaluated later is collected.  Raises `InputError` if two columns have the same
    name.
    """
    try:
        # a frame of narwhals itself is not one of its stable interface in all versions
        frame = nw.from_native(narwhals.to_native(value, pass_through=True), pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"two columns of the data have the same name: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return value
    if isinstance(frame.to_native(), pd.DataFrame):
        return frame.to_native()
    _require_different_names(frame.columns)
    columns = {name: _column(frame[name]) for name in frame.columns}
    # copy=False: pandas would bring all columns into one array, a copy of the whole table
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False)


def is_table_elsewhere(value: Any) -> bool:
    """Return whether a value is a data frame in memory of a library that narwhals knows."""
    native = narwhals.to_native(value, pass_through=True)
    return isinstance(nw.from_native(native, pass_through=True), nw.DataFrame)


def column_in_pandas(value: Any) -> Any:
    """Return a series of another library as an array of pandas; other values as they are."""
    native = narwhals.to_native(value, pass_through=True)
    series = nw.from_native(native, pass_through=True, allow_series=True)
    return _column(series).array if isinstance(series, nw.Series) else value


def _require_different_names(names: list[str]) -> None:
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(
            f"the data has more than one column named {twice[0]!r}: rename or drop the others"
        )


def _column(series: nw.Series[Any]) -> pd.Series:
    dtype = series.dtype
    if isinstance(dtype, LABELS):
        return _labels(series)
    if isinstance(dtype, MOMENTS):
        return _moments(series)
    if isinstance(dtype, nw.Decimal):
        return pd.Series(series.to_list(), dtype=object)
    if dtype.is_integer() or isinstance(dtype, nw.Boolean):
        return _whole(series)
    if dtype.is_numeric():
        return pd.Series(series.to_numpy(), copy=False)
    return pd.Series(series.to_list(), dtype=object)


def _labels(series: nw.Series[Any]) -> pd.Series:
    """Return text; categories with their levels, of which those of an ``Enum`` are ordered."""
    text = series.cast(nw.String()).to_list()
    if isinstance(series.dtype, nw.String):
        return pd.Series(text, dtype=object)
    if isinstance(series.dtype, nw.Enum):
        return pd.Series(pd.Categorical(text, list(series.dtype.categories), ordered=True))
    levels = [level for level in series.cat.get_categories().to_list() if level is not None]
    if series.implementation.is_polars():
        levels.sort()  # polars numbers them in the order in which the process has met them
    return pd.Series(pd.Categorical(text, levels))


def _moments(series: nw.Series[Any]) -> pd.Series:
    values = pd.Series(series.to_numpy())
    zone = series.dtype.time_zone if isinstance(series.dtype, nw.Datetime) else None
    if zone is None:
        return values
    return pd.Series(pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(zone))


def _whole(series: nw.Series[Any]) -> pd.Series:
    """Return whole numbers or truth values: with missing values in the nullable type of pandas."""
    empty = series.is_null().to_numpy()
    if not empty.any():
        return pd.Series(series.to_numpy(), copy=False)
    filler = False if isinstance(series.dtype, nw.Boolean) else 0
    values = np.array(series.fill_null(filler).to_numpy())
    if isinstance(series.dtype, nw.Boolean):
        return pd.Series(pd.arrays.BooleanArray(values, empty))
    return pd.Series(pd.arrays.IntegerArray(values, empty))
