"""Data frames of other libraries, and tables in partitions: each enters the package here.

Columns are converted one by one, because ``to_pandas()`` of these libraries turns whole numbers
with missing cells into floats, which cannot tell apart whole numbers beyond 2^53.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from odrf.errors import InputError, installing

# The types that the columns of a data frame have, without a Series of them.


def types_of_columns(data: pd.DataFrame) -> set[Any]:
    """Return each type that a column of the data has, once.

    The Series that ``data.dtypes`` makes takes as long as predicting dozens of rows.
    """
    blocks = getattr(getattr(data, "_mgr", None), "blocks", None)
    return set(data.dtypes) if blocks is None else {block.dtype for block in blocks}


# Tables in partitions, as Dask has them, and the cluster whose workers have them.

PACKAGES = ("dask", "dask_expr")
HOW = (
    "start one with from dask.distributed import Client; client = Client(), which starts workers "
    'on this machine, or Client("tcp://…") for a cluster that runs'
)


def is_partitioned(value: Any) -> bool:
    """Return whether a value is a data frame of Dask."""
    package = type(value).__module__.partition(".")[0]
    return package in PACKAGES and hasattr(value, "to_delayed") and getattr(value, "ndim", 0) == 2


def computed_partitions(frame: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the partitions of a data frame of Dask, one after the other, with some columns or all.

    Columns that the frame lacks are left out.
    """
    if columns is not None:
        frame = frame[[name for name in columns if name in frame.columns]]
    for part in frame.to_delayed():
        yield part.compute()


def active_client() -> Any:
    """Return the client of Dask's cluster that is active, as those who made it say; else None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def required_client(argument: str) -> Any:
    """Return the active client of Dask.

    Raises `InputError` if there is none, Dask is not installed, or the client is asynchronous.
    """
    try:
        import distributed  # noqa: F401, PLC0415  # optional
    except ImportError:
        raise InputError(f"{argument} needs Dask: install it with {installing('dask')}") from None
    client = active_client()
    if client is None:
        raise InputError(f"{argument} needs a client of Dask, and none is active: {HOW}")
    if client.asynchronous:
        raise InputError(f"{argument} needs a client that waits: use Client(asynchronous=False)")
    return client


# Data frames of other libraries: each is converted to pandas once, where it enters the package.

# Values of these are no tables, but for those of pandas.
NO_OTHER_TABLES = ("builtins", "numpy", "odrf", "pandas", "scipy")
# Types of columns that need no conversion, as most have.
PLAIN = frozenset(map(np.dtype, ("f8", "f4", "i8", "i4", "i2", "i1", "u1", "?", "O")))
# As pandas writes the type.
VIEWS = "string_view[pyarrow]"


def in_pandas(value: Any, partitions: bool = False) -> Any:
    """Return a data frame as one of pandas; in a tuple or mapping, all that it holds.

    It may be of any library that narwhals knows.  Row labels become 0, 1, …  A frame that is
    evaluated later, such as a polars ``LazyFrame``, is collected, and so is one of Dask unless
    `partitions` stay as they are.  Frames of pandas, and other values, are returned as they
    are; but text that pyarrow holds as views, with which pandas cannot work, becomes other text,
    and numbers get the byte order of this machine.  Raises `InputError` if two columns of the data
    frame have the same name.
    """
    if isinstance(value, pd.DataFrame):
        types = types_of_columns(value)
        if all(
            isinstance(each, np.dtype) and each.isnative for each in (*types, value.index.dtype)
        ):
            return value
        return _in_native_columns(_without_views(value))
    if value is None or isinstance(value, str | list):
        return value
    if isinstance(value, np.ndarray):
        return in_native_order(value)
    if isinstance(value, tuple):
        return tuple(map(in_pandas, value))
    if isinstance(value, Mapping):
        converted = {name: in_pandas(each) for name, each in value.items()}
        return converted if any(converted[name] is not value[name] for name in converted) else value
    if is_partitioned(value):
        return value if partitions else in_pandas(value.compute())
    if not _is_foreign(value):
        return value
    from odrf.public.other_frames import table_in_pandas  # noqa: PLC0415 - few need narwhals

    found = table_in_pandas(value)
    return _in_native_columns(found) if isinstance(found, pd.DataFrame) else found


def is_table(value: Any) -> bool:
    """Return whether a value is a data frame in memory of a library that narwhals knows."""
    if isinstance(value, pd.DataFrame):
        return True
    if not _is_foreign(value):
        return False
    from odrf.public.other_frames import is_table_elsewhere  # noqa: PLC0415 - few need narwhals

    return is_table_elsewhere(value)


def series_in_pandas(value: Any) -> Any:
    """Return a series of another library as an array of pandas; other values as they are.

    Numbers are in the byte order of this machine.
    """
    if isinstance(value, pd.Series | pd.Index | np.ndarray) or not _is_foreign(value):
        return in_native_order(value)
    from odrf.public.other_frames import column_in_pandas  # noqa: PLC0415 - few need narwhals

    return column_in_pandas(value)


def _is_foreign(value: Any) -> bool:
    """Return whether a value is of a library that may have tables of its own."""
    return type(value).__module__.partition(".")[0] not in NO_OTHER_TABLES


def in_native_order(values: Any) -> Any:
    """Return an array, series or index in the byte order of this machine; other values as they are.

    Files of FITS and netCDF, and of other machines, have another one, which pandas cannot sort.
    """
    if isinstance(values, pd.Series):
        if _is_native(values.dtype) and _is_native(values.index.dtype):
            return values
        converted = _in_native_columns(values.to_frame()).iloc[:, 0]
        converted.name = values.name
        return converted
    if isinstance(values, np.ndarray | pd.Index) and not _is_native(values.dtype):
        dtype: Any = values.dtype
        return values.astype(dtype.newbyteorder("="))
    return values


def _is_native(dtype: Any) -> bool:
    """Return whether values of a type have the byte order of this machine."""
    return not isinstance(dtype, np.dtype) or bool(dtype.isnative)


def _in_native_columns(data: pd.DataFrame) -> pd.DataFrame:
    """Return the data with row labels and columns in the byte order of this machine."""
    if all(map(_is_native, types_of_columns(data))) and _is_native(data.index.dtype):
        return data
    data = data.set_axis(in_native_order(data.index), axis=0)
    for j in np.flatnonzero([not _is_native(dtype) for dtype in data.dtypes]).tolist():
        data.isetitem(j, in_native_order(data.iloc[:, j].to_numpy()))
    return data


def _without_views(data: pd.DataFrame) -> pd.DataFrame:
    """Return the data with views of text in pyarrow as text."""
    # NumPy takes long to write the name of a type
    types = [each for each in types_of_columns(data) if not isinstance(each, np.dtype)]
    if VIEWS not in map(str, types):
        return data
    views = np.flatnonzero(data.dtypes.astype(str) == VIEWS)
    data = data.copy(deep=False)
    for j in views.tolist():
        text: Any = data.iloc[:, j].array
        data.isetitem(j, pd.arrays.ArrowExtensionArray(text.__arrow_array__().cast("large_string")))
    return data
