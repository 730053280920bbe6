"""The range of a projection without its outliers."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.missing import FILL
from odrf.engine.splits.histograms import most_frequent

__all__ = ["INNER_BINS", "range_of_most"]

# Bins between the smallest and the largest value of the sample; one more on each side of them.
INNER_BINS = 254
# So many of ten values in one bin are nearly all.
NEARLY_ALL = 9
# Each time the range shrinks to a 254th or less: these suffice for any float32.
MOST_TIMES = 32


@part
def _bin_of(value, low, high):
    return min(int((value - low) * (np.float32(INNER_BINS) / (high - low))), INNER_BINS - 1)


@part
def _fullest_bin(values, low, high, counts):
    """Return the bin of most of the values from low to high, and whether nearly all are in it."""
    counts[:INNER_BINS] = 0
    known = 0
    for value in values:
        if abs(value) < FILL:
            known += 1
            if low <= value <= high:
                counts[_bin_of(value, low, high)] += 1
    fullest = np.argmax(counts[:INNER_BINS])
    return fullest, 10 * counts[fullest] > NEARLY_ALL * known


@part
def _extremes_of_bin(values, low, high, b):
    least, largest = high, low
    for value in values:
        if low <= value <= high and _bin_of(value, low, high) == b:
            least, largest = min(least, value), max(largest, value)
    return least, largest


@kernel
def range_of_most(values, low, high, counts):
    """Return the range of nearly all values, if bins of equal width would not divide them.

    Parameters
    ----------
    values : (m,) float32
        A sample, in random order; those of empty cells are beyond `FILL`.
    low, high : float32
        The least and the largest of the others.
    counts : (≥ INNER_BINS,) int64
        Scratch.

    Returns
    -------
    low, high : float32
        As given, unless nine tenths of the values are in one bin.  One value that most rows have
        needs no bins of its own.
    """
    if most_frequent(values) >= 0:
        return low, high
    for _ in range(MOST_TIMES):
        # equal, or too close for bins between them
        if not np.float32(INNER_BINS) / (high - low) < np.float32(np.inf):
            break
        fullest, is_crowded = _fullest_bin(values, low, high, counts)
        if not is_crowded:
            break
        least, largest = _extremes_of_bin(values, low, high, fullest)
        if not largest > least:
            break
        low, high = least, largest
    return low, high
