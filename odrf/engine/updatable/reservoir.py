"""A reservoir of rows: those of a stream with the smallest hashes of their numbers.

Each row of a stream has the same chance to be among them, and which rows these are depends on
nothing but the seed and the number of rows so far: a bottom-k sample, which is the priority
sampling of unweighted rows (N. Duffield, C. Lund and M. Thorup, "Priority sampling for estimation
of arbitrary subset sums", Journal of the ACM 54 (2007)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.randomness import stream
from odrf.engine.streamed.hashed_draws import hash_rows

__all__ = ["among_smallest", "hashes"]

# No tree has this number, so no stream of a tree is this one.
NO_TREE = 2**32 - 1


def hashes(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes (m,) of rows by their numbers in the stream: those of SplitMix64."""
    words = np.empty(len(numbers), dtype=np.uint64)
    hash_rows(stream(seed, NO_TREE)[0], numbers.astype(np.uint64), words)
    return words


def among_smallest(words: NDArray[np.uint64], k: int) -> NDArray[np.bool_]:
    """Return which of the `words` (m,), all different, are among the k smallest."""
    if len(words) <= k:
        return np.ones(len(words), dtype=np.bool_)
    return np.asarray(words <= np.partition(words, k - 1)[k - 1])
