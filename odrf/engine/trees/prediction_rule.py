"""Which class the shares of a leaf, or of a forest, stand for.

Of unordered classes it is the one with the largest share, which errs least often.  Of ordered ones
it is the median: the first up to which at least half of the rows come, which errs by the fewest
ranks in the mean.
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
# Half of the rows but for rounding is half of the rows.
HALF = 0.5 * (1.0 - 1e-12)


@part
def predicted_class(shares, prediction_rule):
    """Return the class of the `shares` (K,) by `MOST_LIKELY`, the first if tied, or `MEDIAN`."""
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
    """Return the class code of the largest share in each row (n, K), the first if tied.

    Rows of NaN get -1.
    """
    return np.where(np.isnan(shares[:, 0]), -1, np.argmax(shares, axis=1))


def predicted_classes(shares: NDArray[np.float64], ordered: bool) -> NDArray[np.int64]:
    """Return the class code that each row (n, K) stands for; rows of NaN get -1."""
    if not ordered:
        return most_likely(shares)
    reached = np.cumsum(shares, axis=1)
    first = np.argmax(reached >= HALF * reached[:, -1:], axis=1)
    return np.where(np.isnan(shares[:, 0]), -1, first)


def mean_ranks_off(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many ranks the median of each row (n, K) is off in the mean, Σ p_k |k - median|.

    That is the sum of min(F_k, 1 - F_k), F_k being the share up to class k.
    """
    reached = np.cumsum(shares, axis=1)[:, :-1]
    return np.minimum(reached, 1.0 - reached).clip(0.0).sum(axis=1)
