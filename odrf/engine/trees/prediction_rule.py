"""The prediction rule: which class is predicted from the class shares of a leaf or a forest.

For unordered classes it is the class with the largest share, which has the lowest error rate.  For
ordered classes it is the median class: the first one with a cumulative share of at least one half.
It has the smallest mean distance in ranks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import part

__all__ = [
    "MEDIAN",
    "MOST_LIKELY",
    "NUMBER",
    "mean_ranks_off",
    "most_likely",
    "predicted_class",
    "predicted_classes",
]

NUMBER, MOST_LIKELY, MEDIAN = 0, 1, 2
# One half, less a tolerance for rounding.
HALF = 0.5 * (1.0 - 1e-12)


@part
def predicted_class(shares, prediction_rule):
    """Return the class predicted from `shares` (K,): by `MEDIAN`, or `MOST_LIKELY`, ties first."""
    if prediction_rule == MEDIAN:
        total, k = 0.0, 0
        for share in shares:
            total += share
        reached = shares[0]
        while reached < HALF * total:
            k += 1
            reached += shares[k]
        return k
    largest = 0
    for k in range(1, len(shares)):
        if shares[k] > shares[largest]:
            largest = k
    return largest


def most_likely(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class code of the largest share in each row of `shares` (n, K), first if tied.

    Rows of NaN get -1.
    """
    return np.where(np.isnan(shares[:, 0]), -1, np.argmax(shares, axis=1))


def predicted_classes(shares: NDArray[np.float64], ordered: bool) -> NDArray[np.int64]:
    """Return the class code predicted from each row of `shares` (n, K); -1 for rows of NaN."""
    if not ordered:
        return most_likely(shares)
    reached = np.cumsum(shares, axis=1)
    first = np.argmax(reached >= HALF * reached[:, -1:], axis=1)
    return np.where(np.isnan(shares[:, 0]), -1, first)


def mean_ranks_off(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean distance in ranks from the median class, Σ p_k |k - median|, of each row.

    It is Σ min(F_k, 1 - F_k), with F_k the cumulative share up to class k of `shares` (n, K).
    """
    reached = np.cumsum(shares, axis=1)[:, :-1]
    return np.minimum(reached, 1.0 - reached).clip(0.0).sum(axis=1)
