"""The best cut along one projection: exact, of one or of many, or refined from one between bins."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, kernel
from odrf.engine.sorting import key_of, sort_keys, sort_lanes
from odrf.engine.splits.binning import MOST_BINS
from odrf.engine.splits.scanning import best_of_lane, best_of_some

__all__ = ["exact_cut", "exact_cuts", "refined_cut", "write_lane"]

ONE = np.int64(1)


@kernel
def exact_cut(values, keys, left, node, min_leaf):
    """Return (gain, threshold) of the best of all cuts along the projected `values` (m,) float32.

    keys (≥ m,) uint64 and left (K,) or None are scratch.  Of equal gains the leftmost wins; a
    gain of 0 means that no cut is allowed or none reduces the impurity.  None for `keys` compiles
    to nothing, where nobody calls it.
    """
    if keys is None:
        return 0.0, np.float32(0.0)
    m = len(values)
    write_lane(values, keys, ZERO, ONE)
    sort_keys(keys, m)
    return best_of_lane(keys, ZERO, ONE, m, left, node, min_leaf)


@kernel
def write_lane(values, keys, lane, lanes):
    """Write the keys of the projected `values` (m,) to a lane of the keys, for `exact_cuts`."""
    place, step = np.uint64(lane), np.uint64(lanes)
    for i in range(np.uint64(len(values))):
        keys[place] = key_of(values[i], i)
        place += step


@kernel
def exact_cuts(keys, lanes, left, node, min_leaf, gains, thresholds):
    """Write the (gain, threshold) of every lane's best cut: `exact_cut` of many projections.

    keys (≥ m * lanes,) uint64 as `write_lane` left them.
    """
    m = len(node.y)
    sort_lanes(keys, m, lanes)
    for lane in range(lanes):
        gains[lane], thresholds[lane] = best_of_lane(keys, lane, lanes, m, left, node, min_leaf)


@kernel
def refined_cut(values, bins, at, keys, left, node, min_leaf):
    """Return (gain, threshold) of the best cut inside the two filled bins around a binned cut.

    The cut between bin `at` and the next filled one is among those tried, so that the gain is
    never below that of `binned_cut`, but for rounding.
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
    return best_of_some(keys, ZERO, ONE, n, left, node, left_weight, left_rows, moment, min_leaf)
