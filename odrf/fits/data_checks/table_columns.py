"""Columns of a table that could name subjects, and columns as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_float_dtype, is_numeric_dtype

__all__ = [
    "CandidateGroups",
    "candidate_groups",
    "numbers_or_labels",
    "numpy_columns",
    "plain_numbers",
    "rows_drawn",
]

# Rows that are looked at; with more, only some.  The few tell whether a number is a whole one, and
# whether most rows share some values.
ROWS, FEW_ROWS, FEWEST_AT_FIRST = 2000, 64, 5
# Fewer groups, or groups of fewer rows on average, are no pattern.
FEWEST_GROUPS, FEWEST_EACH, FEWEST_ROWS = 6, 2, 30
MOST_CANDIDATES = 40


class CandidateGroups(NamedTuple):
    """A column that divides rows into groups.

    Attributes
    ----------
    name : str
    rows : (m,) int64
        Numbers of rows.
    codes : (m,) int64
        Their groups 0, 1, …; in the order of the numbers, if these are `numbered`.
    numbered : bool
    """

    name: str
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    numbered: bool


def candidate_groups(
    data: pd.DataFrame, names: list[str], rows: NDArray[np.int64]
) -> Iterator[CandidateGroups]:
    """Yield the columns of few labels or whole numbers that divide the `rows` into groups.

    Of many rows only some are looked at, and of a column of many values the rows of some of these.
    """
    if len(rows) < FEWEST_ROWS:
        return
    some = rows_drawn(rows, ROWS)
    first = data.iloc[rows_drawn(some, FEW_ROWS)]
    names = _without_fractions(first, names)
    names = [name for name in names if _could_name_groups(first[name])][:MOST_CANDIDATES]
    for name in names:
        found = _divided(data[name], rows, some)
        if found is not None:
            yield CandidateGroups(name, *found, is_numeric_dtype(data[name].dtype))


def rows_drawn(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most so many of the rows, drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def numpy_columns(data: pd.DataFrame, names: list[str], kinds: str = "iuf") -> list[str]:
    """Return the names of columns that have a NumPy type of one of these kinds.

    Of thousands of columns these can be read at once; one at a time takes as long as a fit.
    """
    dtypes = dict(zip(data.columns, data.dtypes, strict=True))
    return [
        name for name in names if isinstance(dtypes[name], np.dtype) and dtypes[name].kind in kinds
    ]


def plain_numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """Return a column of real numbers (m,), missing ones as NaN; None for a column of others."""
    if not is_numeric_dtype(column.dtype) or is_complex_dtype(column.dtype):
        return None
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def numbers_or_labels(column: pd.Series) -> NDArray[np.float64] | None:
    """Return a column (m,) as numbers, missing ones as their mean; of labels the commonest is 1.

    None for a column of neither numbers nor labels, such as times.
    """
    values = plain_numbers(column)
    if values is not None:
        known = np.isfinite(values)
        if known.all():
            return values
        return np.where(known, values, values[known].mean() if known.any() else 0.0)
    if not _has_labels(column):
        return None
    codes = pd.factorize(column)[0]
    commonest = np.bincount(codes[codes >= 0], minlength=1).argmax()
    return (codes == commonest).astype(np.float64)


def _has_labels(column: pd.Series) -> bool:
    dtype = column.dtype
    text = pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype)
    return text or isinstance(dtype, pd.CategoricalDtype)


def _is_known(dtype: Any) -> bool:
    """Return whether pandas can say what a column holds; of some types of Arrow it cannot."""
    try:
        return dtype.type is not None
    except NotImplementedError:
        return False


def _without_fractions(few: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the names, without those of NumPy's floats that are not all whole numbers."""
    floats = numpy_columns(few, names, "f")
    with np.errstate(invalid="ignore"):
        whole = (few[floats].to_numpy() % 1 == 0).all(axis=0)
    fractions = {name for name, each in zip(floats, whole, strict=True) if not each}
    return [name for name in names if name not in fractions]


def _could_name_groups(few: pd.Series) -> bool:
    """Return whether the first look at a column finds several labels or whole numbers, no holes."""
    dtype = few.dtype
    if not _is_known(dtype) or is_bool_dtype(dtype) or is_complex_dtype(dtype):
        return False
    if is_float_dtype(dtype):
        values = few.to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isfinite(values).all() or (values % 1 != 0).any():
            return False
    elif not (is_numeric_dtype(dtype) or _has_labels(few)):
        return False
    try:
        return len(pd.unique(few)) >= FEWEST_AT_FIRST
    except TypeError:  # values that are no labels
        return False


def _divided(
    column: pd.Series, rows: NDArray[np.int64], some: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return rows and their groups; None if the values are too few or too many."""
    values = column.iloc[some]
    try:
        codes, labels = pd.factorize(values, sort=is_numeric_dtype(column.dtype))
    except TypeError:  # values that are no labels
        return None
    if (codes < 0).any() or len(labels) < FEWEST_GROUPS:
        return None
    if len(some) < len(rows) and FEWEST_EACH * len(labels) > len(some) / 2:
        return _of_some_values(column, rows, labels)
    return (some, codes.astype(np.int64)) if _are_few(len(labels), len(some)) else None


def _of_some_values(
    column: pd.Series, rows: NDArray[np.int64], labels: pd.Index
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return all rows of some of the values, and their groups."""
    kept = rows[np.asarray(column.iloc[rows].isin(labels[: len(labels) // 2]))]
    codes, found = pd.factorize(column.iloc[kept], sort=is_numeric_dtype(column.dtype))
    return (kept, codes.astype(np.int64)) if _are_few(len(found), len(kept)) else None


def _are_few(n_values: int, n_rows: int) -> bool:
    return n_values >= FEWEST_GROUPS and FEWEST_EACH * n_values <= n_rows
