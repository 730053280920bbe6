"""The random stream and what is drawn from it, on Python's integers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, DRAWN, HALF, SUBSAMPLE, Sampling


class Stream:
    """xoshiro256++ (Blackman and Vigna 2021) on Python's integers."""

    def __init__(self, state: NDArray[np.uint64]) -> None:
        self.state = [int(word) for word in state]

    def word(self) -> int:
        a, b, c, d = self.state
        result = (_rotate((a + d) % 2**64, 23) + a) % 2**64
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 17) % 2**64, _rotate(d, 45)]
        return result

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def below(self, n: int) -> int:
        return math.floor(self.uniform() * n)

    def shuffle_front(self, items: list[int], k: int) -> None:
        for i in range(k):
            j = i + self.below(len(items) - i)
            items[i], items[j] = items[j], items[i]


def _rotate(word: int, bits: int) -> int:
    return (word << bits) % 2**64 | word >> (64 - bits)


def branched(stream: Stream, *key: int) -> Stream:
    """Another stream, settled by this one as it is and the key."""
    return Stream(np.random.SeedSequence(stream.state, spawn_key=key).generate_state(4, np.uint64))


def draw_counts(stream: Stream, weights: NDArray, sampling: Sampling) -> NDArray[np.int64]:
    """How often each row enters a tree: the first rows together, later ones one by one."""
    later = branched(stream, DRAWN)
    n = sampling.later[0].begin if sampling.later else len(weights)
    counts = _draw_together(stream, weights[:n], sampling).tolist()
    for i in range(n, len(weights)):
        fraction = [batch.fraction for batch in sampling.later if batch.begin <= i][-1]
        drawn = 1 if sampling.resample == ALL_ROWS else draw_alone(later, fraction, sampling)
        counts.append(drawn if weights[i] > 0 else 0)
    return np.array(counts, dtype=int)


def draw_alone(stream: Stream, fraction: float, sampling: Sampling) -> int:
    """A coin, or the arrivals of a Poisson process up to `fraction`, which goes on to 1."""
    if sampling.resample == SUBSAMPLE:
        return int(stream.uniform() < fraction)
    arrivals = [-math.log(1 - stream.uniform())]
    while arrivals[-1] < 1:
        arrivals.append(arrivals[-1] - math.log(1 - stream.uniform()))
    return sum(at < fraction for at in arrivals)


def _draw_together(stream: Stream, weights: NDArray, sampling: Sampling) -> NDArray[np.int64]:
    """How often each row comes; the subsample is Knuth's selection sampling."""
    eligible = [i for i, weight in enumerate(weights) if weight > 0]
    counts = np.zeros(len(weights), dtype=int)
    if sampling.resample == ALL_ROWS or not eligible:
        counts[eligible] = 1
        return counts
    size = max(1, round(sampling.fraction * len(eligible)))
    if sampling.resample == BOOTSTRAP:
        for _ in range(size):
            counts[eligible[stream.below(len(eligible))]] += 1
        return counts
    for passed, i in enumerate(eligible):
        if stream.uniform() * (len(eligible) - passed) < size - counts.sum():
            counts[i] = 1
    return counts


def halved(stream: Stream, counts: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """The counts of the rows that shape a tree and of those that fill it."""
    drawn = np.flatnonzero(counts).tolist()
    if len(drawn) == 1:
        return counts, counts
    half = math.ceil(len(drawn) / 2)
    stream.shuffle_front(drawn, half)
    shaping, filling = np.zeros_like(counts), np.zeros_like(counts)
    shaping[drawn[:half]], filling[drawn[half:]] = counts[drawn[:half]], counts[drawn[half:]]
    return shaping, filling


def draw_halves(stream: Stream, weights: NDArray, sampling: Sampling) -> tuple[NDArray, NDArray]:
    """How often each row shapes a tree, and how often it fills it."""
    coins = branched(stream, HALF)
    counts = draw_counts(stream, weights, sampling)
    if not sampling.honest:
        return counts, counts
    n = sampling.later[0].begin if sampling.later else len(weights)
    shaping, filling = (half.tolist() for half in halved(stream, counts[:n]))
    for times in counts[n:].tolist():
        fills = coins.uniform() < 0.5
        shaping.append(0 if fills else times)
        filling.append(times if fills else 0)
    return np.array(shaping, dtype=int), np.array(filling, dtype=int)


def filling_counts(stream: Stream, weights: NDArray, sampling: Sampling) -> NDArray[np.int64]:
    return draw_halves(stream, weights, sampling)[1]


def largest_subset(rows: int) -> int:
    """⌈N^0.4⌉ in integers: the least q with q⁵ ≥ N²."""
    return next(q for q in range(1, int(rows) + 1) if q**5 >= int(rows) ** 2)
