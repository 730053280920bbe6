"""The check that numbers are finite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.listing import rows_listed
from odrf.errors import InputError

__all__ = ["LARGEST", "require_finite", "require_no_infinite"]

LARGEST = 1e300
"""Numbers beyond this count as infinite, so that the range of a column is finite too."""


def require_finite(
    columns: NDArray[np.float64], names: Sequence[str], index: pd.Index, what: str
) -> None:
    """Raise `InputError` for the first of `columns` (k, n) with an infinite value or NaN.

    The other parameters are those of `require_no_infinite`.
    """
    if np.isnan(columns).any():
        columns = np.where(np.isnan(columns), np.inf, columns)
    require_no_infinite(columns, names, index, what)


def require_no_infinite(
    columns: NDArray[np.float64], names: Sequence[str], index: pd.Index, what: str
) -> None:
    """Raise `InputError` for the first of `columns` (k, n) with an infinite value.

    Parameters
    ----------
    columns : (k, n) float64
        Values, one row of the array per column; NaN for empty cells.
    names : (k,) sequence of str
        Their names.
    index : pandas.Index
        Labels of the n rows.
    what : str
        What they are, for the message: "predictor" or "response".
    """
    # Minimum and maximum need no temporary array as large as the data.
    low = np.fmin.reduce(columns, axis=1, initial=np.inf)
    high = np.fmax.reduce(columns, axis=1, initial=-np.inf)
    fine = (low >= -LARGEST) & (high <= LARGEST)
    if fine.all():
        return
    j = int((~fine).argmax())
    bad = np.abs(columns[j]) > LARGEST
    finite = np.isfinite(columns[j, bad]).all()
    found = f"beyond {LARGEST:g}" if finite else "infinite or not a number"
    raise InputError(
        f"{what} {names[j]!r} is {found} in {rows_listed(bad, index)}: correct these values, or "
        "leave these rows out"
    )
