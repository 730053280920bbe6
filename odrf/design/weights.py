"""Arguments with one value for each row: case weights and offsets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_complex_dtype

from odrf.checks import is_number
from odrf.design.response import LARGEST
from odrf.errors import InputError, nearest


def row_numbers(argument: str, value: str | ArrayLike, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the numbers (n,) of the rows of `data`, missing ones as NaN.

    `value` is the name of a column, or n numbers: of a Series by the labels of its index, else by
    position.  Raises `InputError`, which names the `argument`, if it is neither.
    """
    value = _of_rows(argument, value, data)
    try:
        series = pd.Series(value)
        if series.dtype.kind in "mM":
            raise TypeError("dates and durations are numbers to NumPy, of some unit")
        is_real = not is_complex_dtype(series.dtype)
        result = series.to_numpy(dtype=np.float64, na_value=np.nan) if is_real else np.empty(0)
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
    """Return the values (n,) of any type of the rows of `data`, read as `row_numbers` does."""
    value = _of_rows(argument, value, data)
    try:
        series = pd.Series(value).reset_index(drop=True)
        series.isna(), pd.factorize(series)
    except (TypeError, ValueError):
        raise InputError(
            f"{argument} must be the name of a column, or one value for each row"
        ) from None
    if len(series) != len(data):
        raise InputError(
            f"{argument} has length {len(series)} and the data {len(data)} rows: give one value "
            "for each row"
        )
    return series


def _of_rows(argument: str, value: str | ArrayLike, data: pd.DataFrame) -> ArrayLike:
    """Return the column that is named, or a Series in the order of the rows; else the value."""
    if isinstance(value, pd.Series) and len(value) == len(data):
        return aligned(argument, value, data.index)
    if not isinstance(value, str):
        return value
    if value not in data.columns:
        raise InputError(
            f"{argument}={value!r} is not a column of the data{nearest(value, data.columns)}"
        )
    return data[value]


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


@dataclass(frozen=True, eq=False)
class Offset:
    """The offsets of the training rows, `values` (n,), 0 unless `given`, and their column."""

    given: bool
    column: str | None
    values: NDArray[np.float64]

    def of(
        self, newdata: pd.DataFrame, offset: str | ArrayLike | None, complete: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the offsets of the `complete` (m,) rows of `newdata`, if None of the fit's column.

        Raises `InputError` if there are none, or one is missing or not a finite number.
        """
        if offset is None and not self.given:
            return np.zeros(int(complete.sum()))
        source = self.column if offset is None else offset
        if source is None:
            raise InputError(
                "the fit has an offset for each training row, and new rows need theirs: give "
                "offset= to predict(), one number for each row, or 0; for all else fit with the "
                "name of a column as offset=, and give new rows this column"
            )
        return _known(_numbers(source, newdata)[complete])

    def keeping(self, which: NDArray[np.bool_]) -> Offset:
        """Return the offsets of some of the training rows; an `InputError` if one is missing."""
        return Offset(self.given, self.column, _known(self.values[which]))


def offset_of(offset: str | ArrayLike | None, data: pd.DataFrame) -> Offset:
    """Return the offsets of a fit to the n rows of `data`, missing ones as NaN.

    `offset` is a column's name, n numbers (see `row_numbers`), one number, or None for zeros.
    """
    column = offset if isinstance(offset, str) else None
    values = np.zeros(len(data)) if offset is None else _numbers(offset, data)
    return Offset(offset is not None, column, values)


def _numbers(offset: str | ArrayLike, data: pd.DataFrame) -> NDArray[np.float64]:
    if is_number(offset):
        values = np.full(len(data), offset, dtype=np.float64)
    else:
        values = row_numbers("offset", offset, data)
    beyond = int((np.abs(values) > LARGEST).sum())
    if beyond:
        raise InputError(
            f"offset has {beyond} infinite values, or beyond {LARGEST:g} in size: use finite ones"
        )
    return values


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    missing = int(np.isnan(values).sum())
    if missing:
        raise InputError(
            f"offset is missing for {missing} row{'s'[: missing > 1]}: give a number for every row"
        )
    return values


# What a fit predicts does not depend on the unit of the weights.  But squares and sums of very
# large or small ones leave the range of floats, so these are converted to another unit: a power of
# two, which does not round them.

# Weights are converted only if the largest is outside these limits.
LEAST_TOP, MOST_TOP = 2.0**-40, 2.0**40
LARGEST_WEIGHT = 1e200


def raw_weights(weights: str | ArrayLike | None, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the weights (n,) of the rows of `data`, missing ones as NaN; None are all ones."""
    if weights is None:
        return np.ones(len(data))
    return row_numbers("weights", weights, data)


def rows_that_count(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows (n,) do not have the weight 0; raise if they are fewer than two."""
    counted = weights != 0
    if counted.sum() < 2:
        check_weights(weights)
        raise InputError(
            "weights are 0 in all rows but one, and at least 2 rows are needed: give more rows a "
            "positive weight"
        )
    return np.asarray(counted)


def unit_of(weights: NDArray[np.float64]) -> float:
    """Return the unit of checked `weights` (n,): 1 unless the largest is above 2⁴⁰ or below 2⁻⁴⁰.

    It is then the power of two that brings the largest to between 1 and 2.
    """
    largest = float(weights.max())
    if LEAST_TOP <= largest <= MOST_TOP:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)


def in_unit_of_fit(weights: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """Return the weights (m,) of added rows in the `unit` of the fit, unless far too large."""
    if weights.max(initial=0.0) / MOST_TOP / MOST_TOP > unit:
        raise InputError(
            f"weights has values up to {weights.max():g}, far above those of the training rows: "
            "give both in the same unit"
        )
    return weights / unit


def check_weights(weights: NDArray[np.float64], name: str = "weights") -> None:
    """Raise `InputError` unless `weights` (n,), called `name`, are in [0, 1e200] and not all 0."""
    bad = ~(np.abs(weights) <= LARGEST_WEIGHT)
    if bad.any():
        are = "value that is" if bad.sum() == 1 else "values that are"
        raise InputError(
            f"{name} has {bad.sum()} {are} missing, infinite or above {LARGEST_WEIGHT:g}: give "
            "every row a finite weight (a row of weight 0 has no influence)"
        )
    if (weights < 0).any():
        number = (weights < 0).sum()
        values = "value" if number == 1 else "values"
        raise InputError(
            f"{name} has {number} negative {values}, the smallest {weights.min():g}: weights must "
            "be at least 0"
        )
    if not weights.any():
        raise InputError(f"{name} are all zero: give at least one row a positive weight")
