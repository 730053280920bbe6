"""The best cut of a projection: among all cut points, or those near the best cut between bins."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ONE, ZERO, kernel, part
from odrf.engine.radix_sorting import sort_by_digits
from odrf.engine.sorting import key_of, sort_keys, sort_lanes
from odrf.engine.splits.binning import MOST_BINS
from odrf.engine.splits.scanning import best_of_lane, best_of_some, sums_beside

__all__ = ["exact_cut", "exact_cuts", "refined_cut", "write_lane"]


@kernel
def exact_cut(values, sorting, left, node, min_leaf):
    """Return (gain, threshold) of the best of all cuts of the projected `values` (m,) float32.

    `sorting`, a `DigitScratch` of m keys or more, and left (K,) or None are scratch.  Of equal
    gains the leftmost cut is chosen.  A gain of 0 means that no cut is allowed or that none
    decreases the impurity.  `sorting` is None where the function is never called, so that it
    compiles to nothing.
    """
    if sorting is None:
        return 0.0, np.float32(0.0)
    m = len(values)
    write_lane(values, sorting.keys, ZERO, ONE)
    sort_by_digits(sorting, m)
    return best_of_lane(
        sorting.keys, ZERO, ONE, m, left, node, _sums_at_first(left, node), min_leaf
    )


@kernel
def write_lane(values, keys, lane, lanes):
    """Write the keys of the projected `values` (m,) to a lane of the keys, for `exact_cuts`."""
    place, step = np.uint64(lane), np.uint64(lanes)
    for i in range(np.uint64(len(values))):
        keys[place] = key_of(values[i], i)
        place += step


@kernel
def exact_cuts(keys, lanes, left, node, min_leaf, gains, thresholds):
    """Write the (gain, threshold) of the best cut of every lane: `exact_cut` of many projections.

    keys (≥ m * lanes,) uint64 as written by `write_lane`.
    """
    m = len(node.y)
    sort_lanes(keys, m, lanes)
    sums = _sums_at_first(left, node)
    for lane in range(lanes):
        gains[lane], thresholds[lane] = best_of_lane(
            keys, lane, lanes, m, left, node, sums, min_leaf
        )


@part
def _sums_at_first(left, node):
    """Return what `sums_beside` returns where no row is on the left."""
    if left is not None:
        for k in range(len(left)):
            left[k] = 0.0
    return sums_beside(left, node)


@kernel
def refined_cut(values, bins, at, keys, left, node, min_leaf):
    """Return (gain, threshold) of the best cut within the two nonempty bins around a binned cut.

    The cut between bin `at` and the next nonempty bin is among those tried.  So the gain is not
    below that of `binned_cut`, up to rounding.
    """
    above = MOST_BINS
    for b in bins:
        if at < b < above:
            above = b
    n, left_weight, left_rows, moment = ZERO, 0.0, ZERO, 0.0
    if left is not None:
        for k in range(len(left)):
            left[k] = 0.0
    for i in range(np.uint64(len(values))):
        if bins[i] == at or bins[i] == above:
            keys[n] = key_of(values[i], i)
            n += 1
        elif bins[i] < at:
            left_weight += node.weights[i]
            left_rows += node.counts[i]
            if left is None:
                moment += node.moments[i]
            else:
                left[np.uint64(node.y[i])] += node.weights[i]
    sort_keys(keys, n)
    sums = sums_beside(left, node)
    return best_of_some(
        keys, ZERO, ONE, n, left, node, left_weight, left_rows, moment, sums, min_leaf
    )
