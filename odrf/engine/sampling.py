"""The rows a tree is grown on: bootstrap, subsample, or all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import allocating
from odrf.engine.randomness import below, uniform

__all__ = ["ALL_ROWS", "BOOTSTRAP", "SUBSAMPLE", "Sampling", "draw_counts"]

ALL_ROWS, BOOTSTRAP, SUBSAMPLE = 0, 1, 2


class Sampling(NamedTuple):
    """How each tree's rows are drawn.

    Attributes
    ----------
    resample : int
        `ALL_ROWS`, `BOOTSTRAP` (with replacement) or `SUBSAMPLE` (without).
    fraction : float
        Rows drawn, as a share of the rows of positive weight; rounded, at least one.
    """

    resample: int
    fraction: float


@allocating
def draw_counts(state, weights, sampling):
    """Draw how often each row enters a tree: counts (n,); rows of weight zero never do."""
    candidates = np.nonzero(weights > 0.0)[0]
    n = len(candidates)
    counts = np.zeros(len(weights), dtype=np.int64)
    if sampling.resample == ALL_ROWS:
        counts[candidates] = 1
        return counts
    size = max(1, int(np.rint(sampling.fraction * n)))
    if sampling.resample == BOOTSTRAP:
        for _ in range(size):
            counts[candidates[below(state, n)]] += 1
        return counts
    needed = size
    for i in range(n):
        if uniform(state) * (n - i) < needed:
            counts[candidates[i]] = 1
            needed -= 1
    return counts
