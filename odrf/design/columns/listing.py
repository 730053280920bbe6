"""Short lists for error messages: the first few of many items."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["listed", "rows_listed"]


def listed(items: Iterable[object], most: int = 5) -> str:
    """Return the first `most` of `items`, with the number of those left out.

    Examples
    --------
    >>> listed("abcd", most=2)
    "'a', 'b' and 2 more"
    """
    shown = [repr(item) for item in items]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def rows_listed(rows: NDArray[np.bool_], index: pd.Index) -> str:
    """Return how many of the `rows` (n,) are True, and the `index` labels of the first three.

    Examples
    --------
    >>> rows_listed(np.array([True, False, True]), pd.Index([7, 8, 9]))
    '2 rows (index 7, 9)'
    """
    count = int(rows.sum())
    return f"{count} row{'s' * (count != 1)} (index {listed(index[rows].tolist(), 3)})"
