"""The rows a tree is grown on: bootstrap, subsample, or all of them.

An honest tree is shaped by one half of the rows that it draws and filled by the other.

Of rows that are added to a grown tree, each is drawn on its own: Poisson distributed in place of a
bootstrap (Oza and Russell 2001), with the probability of its share in place of a subsample, and for
either half of an honest tree with probability 1/2.  So it makes no difference in how many batches
they come, or whether a batch is of one row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.randomness import below, branched, shuffle_front, uniform

__all__ = [
    "ALL_ROWS",
    "BOOTSTRAP",
    "SUBSAMPLE",
    "Batch",
    "Sampling",
    "draw_counts",
    "draw_halves",
    "filling_counts",
    "halved",
    "n_drawn",
]

ALL_ROWS, BOOTSTRAP, SUBSAMPLE = 0, 1, 2
# Which branches of a tree's stream say how often added rows are drawn, and for which half.
DRAWN, HALF = 0, 1


class Batch(NamedTuple):
    """Rows that were added to grown trees.

    Attributes
    ----------
    begin : int
        The number of its first row.
    fraction : float
        How often a row of positive weight is drawn on average.
    """

    begin: int
    fraction: float


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
    later : tuple of Batch
        The rows added to the trees, which `fraction` does not concern.
    """

    resample: int
    fraction: float
    honest: bool = False
    later: tuple[Batch, ...] = ()

    def first(self, n: int) -> int:
        """Return how many of n rows the trees were grown on at first."""
        return self.later[0].begin if self.later else n


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


@kernel
def _draw_each(state, fractions, resample, counts):
    """Draw each row on its own, on average as often as its fraction says; write counts (n,).

    From one stream, the draw by a smaller fraction is part of that by a larger one.
    """
    for i in range(len(fractions)):
        counts[i] = 0
        if resample == SUBSAMPLE:
            counts[i] += uniform(state) < fractions[i]
            continue
        # a Poisson process until 1, counted up to the fraction
        passed = -math.log(1.0 - uniform(state))
        while passed < 1.0:
            counts[i] += passed < fractions[i]
            passed -= math.log(1.0 - uniform(state))


def n_drawn(sampling: Sampling, n: int) -> int:
    """Return how many rows a tree draws from n of positive weight, repetitions counted."""
    return n if sampling.resample == ALL_ROWS else max(1, round(sampling.fraction * n))


def draw_counts(
    state: NDArray[np.uint64], weights: NDArray[np.float64], sampling: Sampling
) -> NDArray[np.int64]:
    """Draw how often each row enters a tree: counts (n,); rows of weight zero never do.

    `state` (4,) is the tree's random stream at its beginning, moved on.
    """
    later = _draw_later(state, len(weights), sampling)
    n = sampling.first(len(weights))
    candidates = np.flatnonzero(weights[:n] > 0.0)
    counts = np.zeros(len(weights), dtype=np.int64)
    if sampling.resample == ALL_ROWS or len(candidates) == 0:
        counts[candidates] = 1
    else:
        size = n_drawn(sampling, len(candidates))
        _draw(state, candidates, size, sampling.resample, counts)
    counts[n:] = np.where(weights[n:] > 0.0, later, 0)
    return counts


def _draw_later(state: NDArray[np.uint64], n: int, sampling: Sampling) -> NDArray[np.int64]:
    """Draw how often each row added to a tree enters it, its weight aside."""
    counts = np.ones(n - sampling.first(n), dtype=np.int64)
    if len(counts) and sampling.resample != ALL_ROWS:
        begins = [batch.begin for batch in sampling.later]
        fractions = np.repeat([batch.fraction for batch in sampling.later], np.diff([*begins, n]))
        _draw_each(branched(state, DRAWN), fractions, sampling.resample, counts)
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


def draw_halves(
    state: NDArray[np.uint64], weights: NDArray[np.float64], sampling: Sampling
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw how often each row shapes a tree, and how often it fills it (n,).

    Both are all that it draws, unless the tree is honest.
    """
    coins = branched(state, HALF) if sampling.honest and sampling.later else state
    counts = draw_counts(state, weights, sampling)
    if not sampling.honest:
        return counts, counts
    n = sampling.first(len(weights))
    halves = np.zeros((2, len(counts)), dtype=np.int64)
    halves[:, :n] = halved(state, counts[:n])
    if n < len(counts):
        halves[:, n:] = counts[n:]
        fills = np.empty(len(counts) - n, dtype=np.int64)
        _draw_each(coins, np.full(len(fills), 0.5), SUBSAMPLE, fills)
        halves[1 - fills, np.arange(n, len(counts))] = 0
    return halves[0], halves[1]


def filling_counts(
    state: NDArray[np.uint64], weights: NDArray[np.float64], sampling: Sampling
) -> NDArray[np.int64]:
    """Draw how often each row (n,) enters what a tree says: all that it draws, or their half."""
    return draw_halves(state, weights, sampling)[1]
