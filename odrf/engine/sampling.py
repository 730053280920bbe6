"""The rows a tree is grown on: bootstrap, subsample, or all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.randomness import below, uniform

__all__ = ["ALL_ROWS", "BOOTSTRAP", "SUBSAMPLE", "Sampling", "draw_counts", "draw_size"]

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


@kernel
def _draw(state, candidates, size, resample, counts):
    """Draw `size` of the candidates, row numbers; count in counts (n,) how often each comes."""
    n, needed = len(candidates), size
    if resample == BOOTSTRAP:
        for _ in range(size):
            counts[candidates[below(state, n)]] += 1
        return
    for i in range(n):
        if uniform(state) * (n - i) < needed:
            counts[candidates[i]] = 1
            needed -= 1


def draw_size(sampling: Sampling, n: int) -> int:
    """Return how many rows a tree draws from n of positive weight, repetitions counted."""
    return n if sampling.resample == ALL_ROWS else max(1, round(sampling.fraction * n))


def draw_counts(
    state: NDArray[np.uint64], weights: NDArray[np.float64], sampling: Sampling
) -> NDArray[np.int64]:
    """Draw how often each row enters a tree: counts (n,); rows of weight zero never do."""
    candidates = np.flatnonzero(weights > 0.0)
    counts = np.zeros(len(weights), dtype=np.int64)
    if sampling.resample == ALL_ROWS:
        counts[candidates] = 1
    else:
        size = draw_size(sampling, len(candidates))
        _draw(state, candidates, size, sampling.resample, counts)
    return counts
