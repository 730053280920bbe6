"""The random stream and what is drawn from it, on Python's integers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from odrf.engine.sampling import ALL_ROWS, BOOTSTRAP, Sampling


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


def draw_counts(stream: Stream, weights: NDArray, sampling: Sampling) -> NDArray[np.int64]:
    """How often each row enters a tree; the subsample is Knuth's selection sampling."""
    eligible = [i for i, weight in enumerate(weights) if weight > 0]
    counts = np.zeros(len(weights), dtype=int)
    if sampling.resample == ALL_ROWS:
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


def filling_counts(stream: Stream, weights: NDArray, sampling: Sampling) -> NDArray[np.int64]:
    counts = draw_counts(stream, weights, sampling)
    return halved(stream, counts)[1] if sampling.honest else counts


def largest_subset(rows: int) -> int:
    """⌈N^0.4⌉ in integers: the least q with q⁵ ≥ N²."""
    return next(q for q in range(1, int(rows) + 1) if q**5 >= int(rows) ** 2)
