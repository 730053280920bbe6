"""Columns with outliers, beside which most values look equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, indicated, with_rows

__all__ = ["crowded_columns"]

# A column is crowded if more than this share of its values lies within this part of its range, and
# they are not just a few different ones, such as many zeros.
MOST, NEAR, DIFFERENT = 0.75, 1e-3, 10
# About so many rows tell.
ROWS = 2000


def crowded_columns(X: Matrix) -> NDArray[np.int64]:
    """Return the columns of a matrix (p, n), scaled to [0, 1], most values of which are crowded."""
    n = X.shape[1]
    some = indicated(with_rows(X, np.arange(0, n, max(1, n // ROWS))))
    middle = np.median(some, axis=1, keepdims=True)
    near = np.abs(some - middle) <= NEAR / 2
    crowded = np.flatnonzero(near.mean(axis=1) > MOST)
    different = [len(np.unique(some[j, near[j]])) for j in crowded]
    return crowded[np.array(different, dtype=np.int64) > DIFFERENT]
