"""The best cut of a projection, and of a single predictor with its empty cells on either side.

The empty cells are first filled above all values, so that the usual kernels try the cuts with these
rows on the right, and the cut that tells them from the others.  The kernels here try the same cuts
with these rows on the left, from the keys that are already sorted.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ONE, ZERO, kernel, part
from odrf.engine.directions.missing import FILL
from odrf.engine.numeric import (
    LAST_PLACE,
    POSITION,
    below,
    key_of,
    place_of,
    sort_by_digits,
    sort_keys,
    sort_lanes,
    value_at,
    value_of,
)
from odrf.engine.splits.histograms import (
    MOST_BINS,
    bin_values,
    crowded_bin,
    scan_bins,
    spread_crowd,
    tally_bins,
)
from odrf.engine.splits.thresholds import best_of_lane, best_of_some, random_cut, sums_beside


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
    """Write gain and threshold of the best cut of every lane of keys (≥ m * lanes,)."""
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
    """Return (gain, threshold) of the best cut in the two nonempty bins around that after `at`."""
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


# Cuts of a single predictor with its empty cells on either side.

FILL_PLACE = np.int32(FILL.view(np.int32))

# How far beyond the values the fill of random thresholds is, as a share of their range: so large is
# the chance, in relation to that of another cut, that a threshold tells empty cells from others.
BEYOND = np.float32(0.1)


@kernel
def other_side(keys, lane, lanes, left, node, min_leaf):
    """Return (gain, threshold) of the best cut with the empty cells on the left.

    keys (≥ m * lanes,) are sorted in the lane, the empty cells last.  The gain is 0 if there are
    none.  `keys` is None where the function is never called, so that it compiles to nothing.
    """
    if keys is None:
        return 0.0, np.float32(0.0)
    m = len(node.y)
    n = m
    while n > 0 and value_of(keys[lane + (n - 1) * lanes]) >= FILL:
        n -= 1
    if n == m or n < 2:
        return 0.0, np.float32(0.0)
    left_weight, left_rows, moment = 0.0, ZERO, 0.0
    if left is not None:
        for k in range(len(left)):
            left[k] = 0.0
    for i in range(n, m):
        row = keys[lane + i * lanes] & POSITION
        left_weight += node.weights[row]
        left_rows += node.counts[row]
        if left is None:
            moment += node.moments[row]
        else:
            left[np.uint64(node.y[row])] += node.weights[row]
    sums = sums_beside(left, node)
    return best_of_some(
        keys, lane, lanes, n, left, node, left_weight, left_rows, moment, sums, min_leaf
    )


@kernel
def bin_with_empty_cells(values, bins, n_bins):
    """Write bins of `values` (m,), the filled ones in the last or first; return if two are used."""
    low, high, n_filled, n_below = _extremes_of_known(values)
    if n_filled == len(values) or (n_filled == 0 and not high > low):
        return False
    first = np.int32(n_below > 0)
    own = np.int32(0 if n_below > 0 else n_bins - 1)
    scale = np.float32(n_bins - 1) / (high - low) if high > low else np.float32(0.0)
    most, zero = np.float32(n_bins - 2), np.float32(0.0)
    for i in range(np.uint64(len(values))):
        value = values[i]
        place = (value - low) * scale
        place = place if place < most else most
        place = place if place > zero else zero
        known = np.int32(place) + first
        bins[i] = np.uint8(own if abs(value) >= FILL else known)
    crowd = crowded_bin(bins)
    if crowd >= 0 and crowd != own:
        spread_crowd(values, bins, low, high, np.int64(first), np.int64(n_bins - 1), np.int64(own))
    return True


@part
def _extremes_of_known(values):
    """Return least and largest known value, how many are filled, and how many of them below."""
    bits = values.view(np.int32)
    low, high, n_filled, n_below = LAST_PLACE, -LAST_PLACE, np.int32(0), np.int32(0)
    for i in range(np.uint64(len(bits))):
        place = place_of(bits[i])
        above, below = place >= FILL_PLACE, place < -FILL_PLACE
        low = min(low, LAST_PLACE if below else place)
        high = max(high, -LAST_PLACE if above else place)
        n_filled += np.int32(above | below)
        n_below += np.int32(below)
    return value_at(low), value_at(high), n_filled, n_below


@part
def last_bin_first(tally, table, left, node, n_bins):
    """Move the sums of the last bin before those of the others; return whether it has any row."""
    last, found = n_bins - 1, False
    if left is None:
        found = tally[last] + tally[MOST_BINS + last] != 0
        for b in range(last, 0, -1):
            for place in (b, MOST_BINS + b):
                tally[place], tally[place - 1] = tally[place - 1], tally[place]
    else:
        for k in range(len(left)):
            found |= table[last, k] > 0.0
    if left is not None or not node.unit:
        for b in range(last, 0, -1):
            for k in range(table.shape[1]):
                table[b, k], table[b - 1, k] = table[b - 1, k], table[b, k]
    return found


@kernel
def draw_side(state, values):
    """Fill empty cells among `values` (m,) on a random side; return the fill, ±`FILL`."""
    low, high, n_filled, _ = _extremes_of_known(values)
    is_above = below(state, 2) == 1
    if 0 < n_filled < len(values):
        beyond = BEYOND * (high - low) if high > low else np.float32(1.0)
        fill = high + beyond if is_above else low - beyond
        for i in range(np.uint64(len(values))):
            values[i] = fill if values[i] >= FILL else values[i]
    return FILL if is_above else -FILL


@part
def cut_of_both_sides(
    state, values, bins, n_bins, node, left, quantum, binned, settings, scratch, two_sided
):
    """Return gain and threshold of the best cut of a predictor with empty cells, and their fill.

    The threshold of a cut between bins is not computed.  `two_sided` is that of the proposals: it
    is None where the function is never called, so that it compiles to nothing, as the next ones do.
    """
    if two_sided is None:
        return 0.0, np.float32(0.0), FILL
    min_leaf = settings.min_leaf
    words, tally, table = scratch.words, scratch.tally, scratch.table
    if settings.n_thresholds > 0:
        fill = draw_side(state, values)
        gain, threshold = random_cut(
            state, values, left, scratch.table, node, settings.n_thresholds, min_leaf
        )
        return gain, threshold, fill
    if not binned:
        gain, threshold = exact_cut(values, scratch.sorting, left, node, min_leaf)
        other, elsewhere = _other_side_of_sorted(scratch.sorting, left, node, min_leaf)
        return (other, elsewhere, -FILL) if other > gain else (gain, threshold, FILL)
    if not bin_with_empty_cells(values, bins, n_bins):
        return 0.0, np.float32(0.0), FILL
    tally_bins(bins, words, tally, table, left, node, n_bins)
    gain, _ = scan_bins(quantum, tally, table, left, node, n_bins, min_leaf)
    if not last_bin_first(tally, table, left, node, n_bins):
        return gain, np.float32(0.0), FILL
    other, _ = scan_bins(quantum, tally, table, left, node, n_bins, min_leaf)
    return max(gain, other), np.float32(0.0), -FILL if other > gain else FILL


@part
def _other_side_of_sorted(sorting, left, node, min_leaf):
    if sorting is None:
        return 0.0, np.float32(0.0)
    return other_side(sorting.keys, ZERO, ONE, left, node, min_leaf)


@part
def other_side_of(keys, lane, lanes, left, node, min_leaf, two_sided):
    """Return (gain, threshold) of the best cut with the empty cells on the left, in a lane."""
    if two_sided is None:
        return 0.0, np.float32(0.0)
    return other_side(keys, lane, lanes, left, node, min_leaf)


@part
def bin_best(values, bins, n_bins, size, theta, two_sided):
    """Write the bins of the values along the best direction, which is in theta[0]."""
    if two_sided is not None and size == 2 and abs(theta[0, 1]) >= FILL:
        bin_with_empty_cells(values, bins, n_bins)
        return
    bin_values(values, bins, n_bins)
