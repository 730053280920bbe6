"""The rows a tree is grown on: bootstrap, subsample, or all of them.

An honest tree is shaped by one half of the rows that it draws and filled by the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.randomness import below, shuffle_front, uniform

__all__ = [
    "ALL_ROWS",
    "BOOTSTRAP",
    "SUBSAMPLE",
    "Sampling",
    "draw_counts",
    "draw_size",
    "filling_counts",
    "halved",
]

ALL_ROWS, BOOTSTRAP, SUBSAMPLE = 0, 1, 2


class Sampling(NamedTuple):
    """How each tree's rows are drawn.

    Attributes
    ----------
    resample : int
        `ALL_ROWS`, `BOOTSTRAP` (with replacement) or `SUBSAMPLE` (without).
    fraction : float
        Rows drawn, as a share of the rows of positive weight; rounded, at least one.
    honest : bool
        Whether the rows that shape a tree and those that fill its nodes are disjoint halves of
        the rows drawn.
    """

    resample: int
    fraction: float
    honest: bool = False


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


def halved(
    state: NDArray[np.uint64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Divide the rows drawn at random into halves; return the counts (n,) of each.

    The first shape the tree and are one more where the number is odd; the second fill it.  A row
    drawn several times is in one half as often.  A row drawn alone both shapes and fills.
    """
    drawn = np.flatnonzero(counts)
    if len(drawn) == 1:
        return counts, counts
    half = (len(drawn) + 1) // 2
    shuffle_front(state, drawn, half)
    filling = counts.copy()
    filling[drawn[:half]] = 0
    return counts - filling, filling


def filling_counts(
    state: NDArray[np.uint64], weights: NDArray[np.float64], sampling: Sampling
) -> NDArray[np.int64]:
    """Draw how often each row (n,) enters what a tree says: all that it draws, or their half."""
    counts = draw_counts(state, weights, sampling)
    return halved(state, counts)[1] if sampling.honest else counts
