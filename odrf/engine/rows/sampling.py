"""The rows a tree is grown on: bootstrap, subsample, or all of them.

An honest tree uses one half of the rows that it draws to choose its splits (the shaping rows) and
the other half to compute the values of its nodes (the filling rows).

Rows that are added to a grown tree are drawn independently of each other: as often as a Poisson
variable where trees have bootstrap samples (Oza and Russell 2001), with probability `fraction`
where they have subsamples, and into either half of an honest tree with probability 1/2.  So the
result does not depend on how many batches the rows come in.
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
# Keys of the streams, derived from a tree's, that draw added rows and their halves.
DRAWN, HALF = 0, 1


class Batch(NamedTuple):
    """Rows that were added to grown trees.

    Attributes
    ----------
    begin : int
        The number of its first row.
    fraction : float
        How often a row of positive weight is drawn, on average.
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
        Number of rows drawn, as a share of the rows of positive weight; rounded, at least one row.
    honest : bool
        Whether shaping and filling rows are disjoint halves of the rows drawn.
    later : tuple of Batch
        The rows added to the trees later; `fraction` does not apply to them.
    """

    resample: int
    fraction: float
    honest: bool = False
    later: tuple[Batch, ...] = ()

    def first(self, n: int) -> int:
        """Return how many of n rows were there when the trees were first grown."""
        return self.later[0].begin if self.later else n


@kernel
def _draw(state, candidates, size, resample, counts):
    """Draw `size` of the row numbers `candidates`; add to counts (n,) how often each is drawn."""
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
    """Draw each row independently, `fractions` (n,) times on average; write counts (n,).

    From the same stream, the rows drawn with a smaller fraction are among those drawn with a larger
    one.
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
    """Return how many rows a tree draws from n of positive weight, counting repetitions."""
    return n if sampling.resample == ALL_ROWS else max(1, round(sampling.fraction * n))


def draw_counts(
    state: NDArray[np.uint64], weights: NDArray[np.float64], sampling: Sampling
) -> NDArray[np.int64]:
    """Draw how often each row enters a tree: counts (n,), 0 for rows of weight zero.

    `state` (4,) is the initial state of the tree's random stream, and is advanced.
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
    """Draw how often each row added to a tree enters it, were its weight positive."""
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

    The first half are the shaping rows, one more than the others if the number is odd; the second
    half are the filling rows.  All copies of a row are in the same half.  If only one row was
    drawn, it is in both.
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
    """Draw how often each row (n,) counts in choosing splits, and how often in node values.

    Both are all rows drawn unless the tree is honest.
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
    """Draw how often each row (n,) counts in node values: the filling rows of an honest tree."""
    return draw_halves(state, weights, sampling)[1]
