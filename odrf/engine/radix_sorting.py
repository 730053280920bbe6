"""Sort many keys by their digits: passes over the keys instead of comparisons.

A comparison of quicksort sends the processor the wrong way half of the time.  Here each pass puts
the keys in the order of one digit of 8 bits of their values, from the lowest digit to the highest,
and keeps the order of equal digits (Knuth, The Art of Computer Programming, vol. 3, algorithm
5.2.5R).  Digits that all keys share take no pass.  Positions need no passes, since they are in
order at first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.sorting import VALUE_SHIFT, sort_keys

__all__ = ["FEWEST_KEYS", "DigitScratch", "digit_scratch", "sort_by_digits"]

DIGITS, BITS, RADIX = 4, np.uint64(8), 256
DIGIT = np.uint64(RADIX - 1)
# Fewer keys than this are sorted faster by comparisons: the counts of a digit cost as much as keys.
FEWEST_KEYS = 32


class DigitScratch(NamedTuple):
    """Keys of up to n rows, and what sorting them needs.

    Attributes
    ----------
    keys, spare : (≥ n,) uint64
    counts : (DIGITS, RADIX) int64
        Of each digit, how many keys have it, and then where the next one of these goes.
    """

    keys: NDArray[np.uint64]
    spare: NDArray[np.uint64]
    counts: NDArray[np.int64]


def digit_scratch(keys: NDArray[np.uint64], spare: NDArray[np.uint64]) -> DigitScratch:
    """Return the scratch with these arrays of equal length."""
    return DigitScratch(keys, spare, np.empty((DIGITS, RADIX), dtype=np.int64))


@part
def _count_digits(keys, n, counts):
    counts[:] = 0
    for i in range(np.uint64(n)):
        value = keys[i] >> VALUE_SHIFT
        for d in range(DIGITS):
            counts[d, value & DIGIT] += 1
            value >>= BITS


@part
def _put_in_order(keys, ordered, n, shift, places):
    """Write the keys to `ordered` by the digit at `shift`; places (RADIX,) are its counts."""
    first = 0
    for digit in range(RADIX):
        count = places[digit]
        places[digit] = first
        first += count
    for i in range(np.uint64(n)):
        digit = (keys[i] >> shift) & DIGIT
        ordered[np.uint64(places[digit])] = keys[i]
        places[digit] += 1


@kernel
def sort_by_digits(scratch, n):
    """Sort the first n of ``scratch.keys`` ascending, as `sort_keys` does.

    Their lower halves, which are positions, ascend before.
    """
    keys, spare, counts = scratch.keys, scratch.spare, scratch.counts
    if n < FEWEST_KEYS:
        sort_keys(keys, n)
        return
    _count_digits(keys, n, counts)
    in_spare = False
    for d in range(DIGITS):
        shift = VALUE_SHIFT + np.uint64(d) * BITS
        if counts[d, (keys[0] >> shift) & DIGIT] == n:
            continue
        if in_spare:
            _put_in_order(spare, keys, n, shift, counts[d])
        else:
            _put_in_order(keys, spare, n, shift, counts[d])
        in_spare = not in_spare
    if in_spare:
        for i in range(np.uint64(n)):
            keys[i] = spare[i]
