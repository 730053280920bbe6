"""Columns of any type as numbers, to be drawn or coloured by."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["as_numbers", "is_ranked"]


def is_ranked(column: pd.Series) -> bool:
    """Return whether the values have an order: numbers, moments, ordered categories."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(column.dtype.ordered)
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    return is_number or column.dtype.kind in "mM"


def as_numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return a column (n,) as numbers: of labels the number of the level, NaN for empty cells.

    Levels are numbered from 0: categories in their order, other labels sorted as text.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
    elif is_ranked(column) and column.dtype.kind not in "mM":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif is_ranked(column):
        return np.where(column.isna(), np.nan, column.astype("int64").to_numpy(dtype=np.float64))
    else:
        codes, _ = pd.factorize(column.astype(str).where(column.notna()), sort=True)
    return np.where(codes < 0, np.nan, codes.astype(np.float64))
