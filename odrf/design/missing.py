"""Missing values: where they are, how they are treated, and imputation values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from odrf.checks import checked_choice
from odrf.design.columns import NUMBERS, column_blocks, contents, rows_listed
from odrf.errors import InputError

SURROGATE = "surrogate"
MISSING = ("split", SURROGATE, "median", "drop", "raise")
"""The known treatments of missing values."""

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Missing:
    """Missing values: the `complete` rows (n,), and `counts` above 0 by column, most first."""

    complete: NDArray[np.bool_]
    counts: dict[str, int]

    @property
    def n_incomplete(self) -> int:
        """Number of rows with a missing value."""
        return int((~self.complete).sum())

    def __str__(self) -> str:
        shown = [f"{name!r} ({count})" for name, count in list(self.counts.items())[:_SHOWN]]
        rest = len(self.counts) - len(shown)
        columns = ", ".join(shown) + (f" and {rest} more columns" if rest else "")
        return f"{self.n_incomplete} of {len(self.complete)} rows have missing values, in {columns}"

    def complete_rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `frame` (n rows) that have no missing value."""
        return frame if self.complete.all() else frame[self.complete]

    def require_none(self) -> None:
        """Raise `InputError` with the numbers of missing values per column, if there are any."""
        if self.counts:
            raise InputError(
                f'{self}: fit with missing="split", which keeps these rows, or fill them in'
            )


def require_no_surrogates(missing: str) -> None:
    """Raise `InputError` unless `missing` is a choice of all models: surrogates only `odt` has."""
    if isinstance(missing, str) and missing == SURROGATE:
        raise InputError(
            'missing="surrogate" is for single trees, whose splits are read one by one: use '
            'missing="split", or grow a tree with odt()'
        )
    checked_choice("missing", missing, [choice for choice in MISSING if choice != SURROGATE])


def find_missing(frame: pd.DataFrame, columns: Sequence[str]) -> Missing:
    """Find missing values (None, NaN, NA, NaT) in `columns` of `frame`."""
    complete = np.ones(len(frame), dtype=np.bool_)
    counts: NDArray[np.int64] = np.zeros(len(columns), dtype=np.int64)
    for at, block in column_blocks(frame, columns):
        if _is_full(block):
            continue
        absent = np.asarray(block.isna(), dtype=np.bool_)
        counts[at] = absent.sum(axis=0)
        complete &= ~absent.any(axis=1)
    order = np.argsort(-counts, kind="stable")
    return Missing(
        complete=complete, counts={columns[j]: int(counts[j]) for j in order if counts[j] > 0}
    )


def _is_full(block: pd.DataFrame) -> bool:
    """Return whether a block of numbers has no missing value; False also where that is not sure."""
    # a factor of whole numbers may lose its missing cells among whole numbers
    for dtype in block.dtypes.array:
        if not isinstance(dtype, np.dtype):
            return False
    values = block.to_numpy()
    if values.dtype.kind != "f":
        return values.dtype.kind in "biu"
    # a sum is not a number if one of its terms is not
    with np.errstate(all="ignore"):
        return not np.isnan(values.sum())


def learn_fills(frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, Any]:
    """Return by column the median, or the most frequent value, of which the first, of no numbers.

    All columns have one: new rows may have missing cells in columns that have none in training.
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
    """Return `frame` with the missing cells of the columns in `fills` filled."""
    empty = find_missing(frame, list(fills)).counts if fills else {}
    if not empty:
        return frame
    whole = frame.copy(deep=False)
    for name in empty:  # not by assign(), which has no column "self"
        whole[name] = _filled(frame[name], fills[name])
    return whole


def _filled(column: pd.Series, fill: Any) -> pd.Series:
    """Return a column with its missing cells filled; its type may be another than in training."""
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
    """Return a column in a type that can hold its fill: floats, or one more category."""
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


LARGEST = 1e300
"""Numbers beyond this count as infinite, so that the range of a column is finite too."""


def require_finite(
    columns: NDArray[np.float64], names: Sequence[str], index: pd.Index, what: str
) -> None:
    """Raise `InputError` for the first of `columns` (k, n) with an infinite value or NaN."""
    if np.isnan(columns).any():
        columns = np.where(np.isnan(columns), np.inf, columns)
    require_no_infinite(columns, names, index, what)


def require_no_infinite(
    columns: NDArray[np.float64], names: Sequence[str], index: pd.Index, what: str
) -> None:
    """Raise `InputError` for the first of columns (k, n), each a `what`, with infinite values."""
    # Minimum and maximum need no temporary array as large as the data.
    low = np.fmin.reduce(columns, axis=1, initial=np.inf)
    high = np.fmax.reduce(columns, axis=1, initial=-np.inf)
    fine = (low >= -LARGEST) & (high <= LARGEST)
    if fine.all():
        return
    j = int((~fine).argmax())
    bad = np.abs(columns[j]) > LARGEST
    finite = np.isfinite(columns[j, bad]).all()
    problem = f"beyond {LARGEST:g}" if finite else "infinite or not a number"
    raise InputError(
        f"{what} {names[j]!r} is {problem} in {rows_listed(bad, index)}: correct these values, or "
        "leave these rows out"
    )
