"""Plain twins of the kernels for missing values; NaN is a missing value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def best_placement(x: NDArray, y: NDArray, min_leaf: int) -> float:
    """The best decrease of the mean squared error over all `placements`."""
    return max((decrease(y, left) for left in placements(x, min_leaf)), default=0.0)


def placements(x: NDArray, min_leaf: int) -> Iterator[NDArray[np.bool_]]:
    """Yield the left side of each cut.

    Rows with a missing value go left or right of every cut, or are split from all others.
    """
    empty = np.isnan(x)
    values = np.unique(x[~empty])
    for cut in [*((values[1:] + values[:-1]) / 2), np.inf]:
        for holes_left in (False, True):
            left = np.where(empty, holes_left, np.where(empty, 0.0, x) <= cut)
            if min_leaf <= left.sum() <= len(x) - min_leaf:
                yield left


def decrease(y: NDArray, left: NDArray) -> float:
    """The decrease of the mean squared error by a split."""
    parts = y[left], y[~left]
    return float(y.var() - sum(len(part) / len(y) * part.var() for part in parts))


def filled(x: NDArray, weights: NDArray) -> NDArray:
    """The values with the mean of the others in missing values."""
    known = ~np.isnan(x)
    mean = np.average(x[known], weights=weights[known]) if known.any() else 0.0
    return np.where(known, x, mean)


def with_column(x: NDArray) -> NDArray[np.float32]:
    """The two columns of a predictor: 0 in missing values, and 1 there."""
    empty = np.isnan(x)
    return np.array([np.where(empty, 0.0, x), empty], dtype=np.float32)


def terms_projected(
    X: NDArray, index: NDArray, coef: NDArray, fills: NDArray
) -> NDArray[np.float64]:
    """Σ θ·x of rows X (p, n) with NaN, each term with its fill."""
    out = np.zeros(X.shape[1])
    for column, theta, fill in zip(index, coef, fills, strict=True):
        out += theta * np.where(np.isnan(X[column]), fill, X[column])
    return out
