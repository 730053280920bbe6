"""The cells of a table as text: numbers of a column with the same decimals."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from odrf.text.wording import LEAST_P, SMALLER, number

__all__ = ["TextColumn", "labels_of", "text_columns"]

# With common decimals the largest entry of a column has four digits, and the smallest one at least;
# else each has three digits, as where these would be too many decimals.
DIGITS, DIGITS_APART, MOST_DECIMALS = 4, 3, 8
# Columns with these names, and what follows, hold p-values.
OF_TESTS = ("p_value", "p_adjusted")
NUMBER = re.compile(r"|nan|-?inf|-?\d[\d.]*(e[+-]\d+)?")


@dataclass(frozen=True)
class TextColumn:
    """A column of a table as text.

    Attributes
    ----------
    header : str
    cells : list of str
    is_numeric : bool
        Numbers are set to the right, words to the left.
    """

    header: str
    cells: list[str]
    is_numeric: bool


def text_columns(table: pd.DataFrame) -> list[TextColumn]:
    """Return the columns of a table; the largest entry of a float column sets its decimals."""
    return [_column(str(name), column) for name, column in table.items()]


def labels_of(table: pd.DataFrame) -> list[str]:
    """Return the labels of the rows of a table; the levels of an index of several, by commas."""
    return [
        ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        for label in table.index
    ]


def _column(header: str, column: pd.Series) -> TextColumn:
    if pd.api.types.is_float_dtype(column):
        cells = _float_cells(column)
        if header.startswith(OF_TESTS):
            cells = [
                SMALLER if p < LEAST_P else cell for p, cell in zip(column, cells, strict=True)
            ]
        return TextColumn(header, cells, True)
    cells = ["" if value is pd.NA else str(value) for value in column]
    return TextColumn(header, cells, bool(cells) and all(map(NUMBER.fullmatch, cells)))


def _float_cells(column: pd.Series) -> list[str]:
    values = column.to_numpy(dtype=float) + 0.0  # no -0.0
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    largest, smallest = sizes.max(initial=0.0), sizes.min(initial=np.inf)
    before_point = math.floor(math.log10(largest)) + 1 if largest > 0 else DIGITS
    decimals = max(DIGITS - before_point, 0)
    apart = decimals > MOST_DECIMALS or smallest < 10.0**-decimals
    texts = (number(value, DIGITS_APART) if apart else f"{value:.{decimals}f}" for value in values)
    return ["" if np.isnan(value) else text for value, text in zip(values, texts, strict=True)]
