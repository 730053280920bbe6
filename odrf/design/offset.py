"""Offsets: a known part of the score of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import is_number
from odrf.design.response import LARGEST
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

    def of(
        self,
        newdata: pd.DataFrame,
        offset: str | ArrayLike | None,
        complete: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return the offsets of the `complete` rows of `newdata`.

        Parameters
        ----------
        newdata : DataFrame
            m rows.
        offset : str, array-like, number or None
            Used instead of the column of the fit.
        complete : (m,) bool

        Raises
        ------
        InputError
            The fit has offsets but no column of them and `offset` is None, or an offset is missing
            or not a finite number.
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
        """Return the offsets of some of the training rows.

        Raises
        ------
        InputError
            One of them is missing.
        """
        return Offset(self.given, self.column, _known(self.values[which]))


def offset_of(offset: str | ArrayLike | None, data: pd.DataFrame) -> Offset:
    """Return the offsets of a fit to the n rows of `data`, missing ones as NaN.

    Parameters
    ----------
    offset : str, array-like or None
        A column's name, n numbers (see `row_numbers`), one number, or None for zeros.
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
