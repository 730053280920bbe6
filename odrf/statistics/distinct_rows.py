"""Equal rows of a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_rows"]


def distinct_rows(a: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each set of equal rows (d,), and the number of its set for each row (n,).

    Sets are in the order of their rows, as by `numpy.unique` with ``axis=0``.  That function
    compares rows as structures, where NumPy turns Ctrl-C into a `TypeError`.
    """
    order = np.lexsort(a.T[::-1])
    ordered = a[order]
    begins = np.ones(len(a), dtype=np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(a), dtype=np.int64)
    number[order] = np.cumsum(begins) - 1
    return order[begins], number
