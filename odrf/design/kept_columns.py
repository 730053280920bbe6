"""Which columns of the data frame the matrix of the training rows does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_integer_dtype

from odrf.design.columns.encoding import Indicators, Numbers, Ranks
from odrf.design.columns.frame import selected
from odrf.design.predictors import Predictors

__all__ = ["kept_columns", "readable_columns"]

# Whole numbers up to these are exact in 32 and in 64 bits.
WHOLE, EXACT = 2**23, 2**53


def readable_columns(recipe: Predictors) -> dict[str, int]:
    """Return the columns of the data that are predictors by themselves, with their numbers.

    Numbers, factors and ordered factors are; dates, and numbers whose ranks stand in the matrix,
    are not.
    """
    found = {}
    for j, term in enumerate(recipe.terms):
        variable = recipe.variables[term[0]]
        known = isinstance(variable.encoding, Numbers | Indicators | Ranks)
        if len(term) == 1 and variable.evaluation is None and known:
            found[variable.name] = j
    return found


def kept_columns(
    recipe: Predictors, frame: pd.DataFrame, columns: Sequence[str]
) -> pd.DataFrame | None:
    """Return those of the `columns` that the matrix does not tell; None if there are none.

    They are those that are no predictors by themselves, and whole numbers of more digits than 32
    bits hold.
    """
    readable = readable_columns(recipe)
    type_of = dict(zip(frame.columns, frame.dtypes, strict=True))
    names = [
        name
        for name in columns
        if name not in readable or (_may_be_long(type_of[name]) and _is_long(frame[name]))
    ]
    return selected(frame, names).copy() if names else None


def _may_be_long(dtype: Any) -> bool:
    return is_integer_dtype(dtype) and getattr(dtype, "itemsize", 8) > 2


def _is_long(column: pd.Series) -> bool:
    """Return whether whole numbers would be rounded.

    A column of the matrix is a number from 0 to 1 in 32 bits, times the range.
    """
    low, high = int(column.min()), int(column.max())
    return high - low > WHOLE or max(-low, high) > EXACT
