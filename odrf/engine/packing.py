"""The trees re-laid for routing: one record a node, what a visit needs side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, kernel

__all__ = ["HEAD", "Packed", "pack"]

# Numbers in a record before its terms: left, right, threshold, number of terms.
HEAD = 4


class Packed(NamedTuple):
    """The split nodes of all trees, in their order, as records of 32-bit numbers.

    A record holds its children, the bits of the float32 threshold, the number of terms and
    for each term a column and the bits of its coefficient.  A child is how many words after
    this record's begin its own does or, when it is a leaf, -1 less its number in the `Forest`.
    Most records fit a line of the cache, and those of the upper levels lie together.

    Attributes
    ----------
    root : (B,) int64
        Where each tree's first record begins, or -1 less the number of a lone leaf.
    words : int32
    floats : float32
        `words` again, seen as floats.
    """

    root: NDArray[np.int64]
    words: NDArray[np.int32]
    floats: NDArray[np.float32]


@allocating
def _places(left, start):
    """Return where each split's record begins, or -1 less a leaf's number, and their length."""
    place, length = np.empty(len(left), dtype=np.int64), 0
    for i in range(len(left)):
        if left[i] < 0:
            place[i] = -1 - i
        else:
            place[i] = length
            length += HEAD + 2 * (start[i + 1] - start[i])
    return place, length


@kernel
def _write(left, threshold, start, index, coef, place, words, floats):
    for i in range(len(left)):
        at = place[i]
        if at < 0:
            continue
        for side in range(2):
            child = place[left[i] + side]
            words[at + side] = child if child < 0 else child - at
        floats[at + 2] = threshold[i]
        words[at + 3] = start[i + 1] - start[i]
        at += HEAD
        for term in range(start[i], start[i + 1]):
            words[at] = index[term]
            floats[at + 1] = coef[term]
            at += 2


def pack(
    root: NDArray[np.int64],
    left: NDArray[np.int64],
    threshold: NDArray[np.float32],
    start: NDArray[np.int64],
    index: NDArray[np.int64],
    coef: NDArray[np.float32],
) -> Packed:
    """Pack the arrays of a `Forest`, which describes them."""
    place, length = _places(left, start)
    words = np.empty(length, dtype=np.int32)
    floats = words.view(np.float32)
    _write(left, threshold, start, index, coef, place, words, floats)
    return Packed(place[root[:-1]], words, floats)
