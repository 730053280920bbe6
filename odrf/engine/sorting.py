"""Sort projected values as 64-bit keys: the value's bits above, its row's position below.

The keys of one candidate are sorted by quicksort.  The keys of many candidates on few rows are
sorted together by a sorting network, whose comparisons run in SIMD lanes, one lane for each
candidate.  The network makes the same comparisons whatever the values, so no branch can be
mispredicted.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, kernel, part

__all__ = [
    "POSITION",
    "VALUE_SHIFT",
    "key_of",
    "key_of_rank",
    "sort_keys",
    "sort_lanes",
    "value_of",
]

POSITION = np.uint64(0xFFFFFFFF)
VALUE_SHIFT = np.uint64(32)
SIGN_SHIFT = np.uint32(31)
ALL_BITS, SIGN_BIT = np.uint32(0xFFFFFFFF), np.uint32(0x80000000)
SMALL = 24


@kernel
def key_of(value, position):
    """Return one word that sorts as the float32 `value` does and ends in `position`.

    The bits of a positive float sort as an integer once the sign bit is set, those of a
    negative one once all bits are flipped.  Adding 0 changes -0 to 0, so that both sort alike.
    """
    word = np.float32(value + np.float32(0.0)).view(np.uint32)
    flip = ALL_BITS if word >> SIGN_SHIFT else SIGN_BIT
    return (np.uint64(word ^ flip) << VALUE_SHIFT) | np.uint64(position)


@part
def key_of_rank(rank, position):
    """Return one word that sorts as the whole number `rank` ≥ 0 does and ends in `position`."""
    return (np.uint64(rank) << VALUE_SHIFT) | np.uint64(position)


@kernel
def value_of(key):
    """Return the float32 that `key_of` made the key from."""
    word = np.uint32(key >> VALUE_SHIFT)
    flip = SIGN_BIT if word >> SIGN_SHIFT else ALL_BITS
    return np.uint32(word ^ flip).view(np.float32)


@part
def _insertion(keys, lo, hi):
    for i in range(lo + 1, hi):
        key = keys[i]
        j = i - 1
        while j >= lo and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@part
def _sort_part(keys, lo, hi):
    """Sort ``keys[lo:hi]``, calling itself for the smaller part only: so the stack stays short."""
    while hi - lo > SMALL:
        a, b, c = keys[lo], keys[(lo + hi) >> 1], keys[hi - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = lo, hi - 1
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if j + 1 - lo < hi - i:
            _sort_part(keys, lo, j + 1)
            lo = i
        else:
            _sort_part(keys, i, hi)
            hi = j + 1
    _insertion(keys, lo, hi)


@kernel
def sort_keys(keys, n):
    """Sort ``keys[:n]`` ascending in place (quicksort, with insertion sort for small parts)."""
    _sort_part(keys, ZERO, np.int64(n))


@part
def _compare_lanes(keys, lo, hi, n):
    """Compare n keys from `lo` on with n keys from `hi` on; put the lower of each pair first."""
    low, high = np.uint64(lo), np.uint64(hi)
    for x in range(np.uint64(n)):
        a, b = keys[low + x], keys[high + x]
        keys[low + x], keys[high + x] = min(a, b), max(a, b)


@kernel
def sort_lanes(keys, m, lanes):
    """Sort each lane of ``keys[:m * lanes]`` ascending in place: m rows, one key for each lane.

    Batcher's merge exchange (Knuth, The Art of Computer Programming, vol. 3, algorithm 5.2.2M);
    comparisons of neighbouring rows are made in one loop over all lanes.
    """
    power = 1
    while power < m:
        power *= 2
    run = power >> 1
    while run > 0:
        reach, offset, distance = power >> 1, 0, run
        while True:
            for i in range(offset, m - distance, 2 * run):
                n = min(run, m - distance - i)
                _compare_lanes(keys, i * lanes, (i + distance) * lanes, n * lanes)
            if reach == run:
                break
            offset, distance = run, reach - run
            reach >>= 1
        run >>= 1
