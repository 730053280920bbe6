"""Bins where most values are crowded into one of equal width.

An outlier, or a heavy tail, leaves nearly all rows in one bin, and no cut between
bins divides them.  Then half of the bins go to the range of the crowded values, as often as these
are crowded again, and the others to what lies below and above it.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.extremes import LAST_PLACE, place_of, value_at

__all__ = ["crowded_bin", "most_frequent", "spread_crowd"]

# A bin is crowded if more than half of so many rows are in it.
SAMPLED, HALF = np.uint64(16), 8
# The sampled rows that the others are compared with.
FIRST, SECOND, THIRD = np.uint64(0), np.uint64(5), np.uint64(10)
# Each time the range shrinks to a sixteenth or less: these suffice for a range of 10^9.
MOST_TIMES = 8


@part
def most_frequent(entries):
    """Return a row with the entry of more than half of the sampled rows; -1 if there is none.

    entries (m,), of which evenly spaced ones are sampled.  Of fewer than `SAMPLED` there is none.
    Three of them are compared with all: one that half of the rows have is rarely missed, and the
    loop needs no branch.
    """
    m = np.uint64(len(entries))
    if m < SAMPLED:
        return np.int64(-1)
    step = m // SAMPLED
    first, second, third = FIRST * step, SECOND * step, THIRD * step
    like_first, like_second, like_third = ZERO, ZERO, ZERO
    for i in range(SAMPLED):
        entry = entries[i * step]
        like_first += entry == entries[first]
        like_second += entry == entries[second]
        like_third += entry == entries[third]
    if like_first > HALF:
        return np.int64(first)
    if like_second > HALF:
        return np.int64(second)
    return np.int64(third) if like_third > HALF else np.int64(-1)


@part
def crowded_bin(bins):
    """Return the bin of more than half of the sampled rows; -1 if there is none.

    bins (m,) uint8.
    """
    at = most_frequent(bins)
    return np.int64(bins[np.uint64(at)]) if at >= 0 else np.int64(-1)


@part
def _extremes_in(values, bins, crowd):
    """Return the least and the largest of the values in a bin; compared as integers."""
    bits = values.view(np.int32)
    low, high = LAST_PLACE, -LAST_PLACE
    for i in range(np.uint64(len(bits))):
        place = place_of(bits[i])
        inside = bins[i] == crowd
        low = min(low, place if inside else LAST_PLACE)
        high = max(high, place if inside else -LAST_PLACE)
    return value_at(low), value_at(high)


@part
def _shares(below, above, n_bins):
    """Return how many bins lie below the crowded range and above it, by their lengths."""
    outside, length = n_bins // 2, below + above
    n_below = np.int64(np.rint(outside * below / length)) if length > 0 else ZERO
    n_below = min(max(n_below, ZERO + (below > 0)), outside - (above > 0))
    return n_below, outside - n_below if above > 0 else ZERO


@part
def _scale(n_bins, length):
    return np.float32(n_bins) / length if length > 0 else np.float32(0.0)


@part
def _write_bins(values, bins, low, high, least, largest, first, n_bins, empty):
    """Write bins of equal width below, in and above the range from `least` to `largest`."""
    below, above = least - low, high - largest
    n_below, n_above = _shares(below, above, n_bins)
    inner = n_bins - n_below - n_above
    last_below, last, last_above = n_below - 1, inner - 1, n_above - 1
    by_below, by_inner = _scale(n_below, below), _scale(inner, largest - least)
    by_above = _scale(n_above, above)
    for i in range(np.uint64(len(values))):
        value = values[i]
        if bins[i] == empty:
            continue
        if value < least:
            b = min(np.int64((value - low) * by_below), last_below)
        elif value <= largest:
            b = n_below + min(np.int64((value - least) * by_inner), last)
        else:
            b = n_below + inner + min(np.int64((value - largest) * by_above), last_above)
        bins[i] = np.uint8(first + b)


@kernel
def spread_crowd(values, bins, low, high, first, n_bins, empty):
    """Write bins of `values` (m,) again, if most of them are crowded into one; see the module.

    Parameters
    ----------
    values : (m,) float32
    bins : (m,) uint8
        Their bins, of equal width; changed.
    low, high : float32
        The least and the largest value.
    first, n_bins : int64
        The first of the bins, and their number, at least 4.
    empty : int64
        The bin of empty cells, which stays as it is; -1 if there are none.
    """
    crowd = crowded_bin(bins)
    for time in range(MOST_TIMES):
        if crowd < 0 or crowd == empty or (time > 0 and most_frequent(values) >= 0):
            return
        least, largest = _extremes_in(values, bins, crowd)
        if not largest > least:
            return
        _write_bins(values, bins, low, high, least, largest, first, n_bins, empty)
        crowd = crowded_bin(bins)
