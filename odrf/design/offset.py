"""Offsets: a known part of the score of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import is_number
from odrf.design.row_numbers import row_numbers
from odrf.errors import InputError

__all__ = ["Offset", "offset_of"]


@dataclass(frozen=True, eq=False)
class Offset:
    """The offsets of a fit.

    Attributes
    ----------
    given : bool
        Whether the fit has offsets; otherwise all are 0.
    column : str or None
        The column that holds them, in new data too.
    values : (n,) float64
        Offsets of the training rows.
    """

    given: bool
    column: str | None
    values: NDArray[np.float64]

    def of(self, newdata: pd.DataFrame, offset: str | ArrayLike | None) -> NDArray[np.float64]:
        """Return the offsets of all rows of `newdata`.

        Parameters
        ----------
        newdata : DataFrame
        offset : str, array-like, number or None
            Used instead of the column of the fit.

        Raises
        ------
        InputError
            The fit has offsets but no column of them and `offset` is None, or an offset is not a
            finite number.
        """
        if offset is None and not self.given:
            return np.zeros(len(newdata))
        source = self.column if offset is None else offset
        if source is None:
            raise InputError(
                "the fit has an offset for each training row, and new rows need theirs: give "
                "offset=, one number for each row, or 0"
            )
        return _numbers(source, newdata)

    def keeping(self, which: NDArray[np.bool_]) -> Offset:
        """Return the offsets of some of the training rows."""
        return Offset(self.given, self.column, self.values[which])


def offset_of(offset: str | ArrayLike | None, data: pd.DataFrame) -> Offset:
    """Return the offsets of a fit to the n rows of `data`, missing ones as NaN.

    Parameters
    ----------
    offset : str, array-like or None
        A column's name, n numbers taken by position, or None for zeros.
    data : DataFrame

    Raises
    ------
    InputError
        There is no such column, or the offsets are not n numbers, or one is infinite.
    """
    column = offset if isinstance(offset, str) else None
    values = np.zeros(len(data)) if offset is None else _numbers(offset, data)
    return Offset(offset is not None, column, values)


def _numbers(offset: str | ArrayLike, data: pd.DataFrame) -> NDArray[np.float64]:
    if is_number(offset):
        return np.full(len(data), offset, dtype=np.float64)
    values = row_numbers("offset", offset, data)
    if np.isinf(values).any():
        raise InputError(f"offset has {np.isinf(values).sum()} infinite values: use finite ones")
    return values
