"""Impurity, gain and cuts by their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.splits.impurity import ENTROPY, ORDINAL, POISSON, SQUARED_ERROR


def impurity(y: NDArray, w: NDArray, criterion: int) -> float:
    if np.ptp(y) == 0:
        return 0.0  # whatever the rounding of the mean
    if criterion == SQUARED_ERROR:
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    if criterion == POISSON:  # half the deviance of events w·y that are expected in proportion to w
        share = y / np.average(y, weights=w)
        return np.average(scipy.special.xlogy(y, share), weights=w)
    if criterion == ORDINAL:
        reached = [np.average(y <= k, weights=w) for k in range(int(y.max()))]
        return sum(share * (1 - share) for share in reached)
    shares = np.array([w[y == k].sum() for k in np.unique(y)]) / w.sum()
    return -np.sum(shares * np.log(shares)) if criterion == ENTROPY else 1 - np.sum(shares**2)


def gain(y: NDArray, w: NDArray, left: NDArray[np.bool_], criterion: int) -> float:
    """Δ = I(A) - P(A_L)·I(A_L) - P(A_R)·I(A_R)."""
    share = w[left].sum() / w.sum()
    return (
        impurity(y, w, criterion)
        - share * impurity(y[left], w[left], criterion)
        - (1 - share) * impurity(y[~left], w[~left], criterion)
    )


def cuts(values: NDArray, counts: NDArray[np.int64], min_leaf: int, apart: float = 0.0) -> Iterator:
    """Yield the left side of each cut between values more than `apart` from each other."""
    ascending = np.sort(values)
    for low, high in pairwise(ascending):
        left = values <= low
        if high - low > apart and min(counts[left].sum(), counts[~left].sum()) >= min_leaf:
            yield left
