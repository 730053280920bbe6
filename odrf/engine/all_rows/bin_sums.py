"""Sums over bins of the projections of a stripe of rows, grouped by the nodes that they reach.

The sums of a bin are Q numbers: that of its rows and, for criteria that need one moment per side,
that of the moments, then that of the weights unless all are 1; for other criteria the weight of
each class.  See `odrf.engine.splits.impurity.Node`.

A projection has 256 bins: those of equal width between the smallest and the largest value of the
sample, one for the values below and one for those above, where empty cells are too that are filled
so.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.all_rows.range_of_most import INNER_BINS
from odrf.engine.compiling import kernel, part
from odrf.engine.directions.missing import FILL
from odrf.engine.rows import project

__all__ = [
    "BINS",
    "FINE",
    "PASSED",
    "add_to_bins",
    "add_to_fine_bins",
    "order_by_slots",
    "write_moments",
]

BINS = INNER_BINS + 2
LAST = BINS - 1
# A bin that the cut may be in is divided into so many.
FINE = 2048
# Rows that are projected at a time: their projections and columns stay in the cache.
ROWS = 4096
# The rows that are left of the fine bins have the first entry of the sums.
PASSED = 0


@kernel
def order_by_slots(nodes, slots, begin, order):
    """Sort the rows of a stripe by the slot of their node; rows without a slot are left out.

    nodes (m,) int32 are their nodes, slots (nodes,) int32 the slot of each node, -1 for none.
    begin (S + 1,) int64 receives where the rows of each slot begin in order (m,) int32, in which
    rows of one slot keep their order.
    """
    begin[:] = 0
    for i in range(np.uint64(len(nodes))):
        slot = slots[nodes[i]]
        if slot >= 0:
            begin[slot + 1] += 1
    for s in range(len(begin) - 1):
        begin[s + 1] += begin[s]
    for i in range(np.uint64(len(nodes))):
        slot = slots[nodes[i]]
        if slot >= 0:
            order[begin[slot]] = i
            begin[slot] += 1
    for s in range(len(begin) - 1, 0, -1):
        begin[s] = begin[s - 1]
    begin[0] = 0


@kernel
def write_moments(rows, begin, centre, moments):
    """Write w·(y - centre) of each row, with the centre (S,) of its slot, to moments (≥ m,)."""
    for s in range(len(centre)):
        for i in range(np.uint64(begin[s]), np.uint64(begin[s + 1])):
            moments[i] = rows.weights[i] * (rows.y[i] - centre[s])


@part
def _bin_of(value, low, high, scale):
    place = (value - low) * scale
    place = place if place > np.float32(0.0) else np.float32(0.0)
    place = place if place < np.float32(INNER_BINS - 1) else np.float32(INNER_BINS - 1)
    found = np.int32(place) + np.int32(1)
    found = np.int32(0) if value < low else found
    return np.int32(LAST) if value > high else found


@part
def _add_row(sums, b, rows, i, moments):
    """Add row i to sums[b]; moments (m,) are empty if the sums are those of classes."""
    sums[b, 0] += 1.0
    if len(moments) == 0:
        sums[b, 1 + np.uint64(rows.y[i])] += rows.weights[i]
    else:
        sums[b, 1] += moments[i]
        if sums.shape[1] > 2:
            sums[b, 2] += rows.weights[i]


@part
def _add_unit_moments(sums, bins, m, moments, first):
    for i in range(np.uint64(m)):
        b = np.uint64(bins[i])
        sums[b, 0] += 1.0
        sums[b, 1] += moments[first + i]


@part
def _add_moments(sums, bins, m, moments, weights, first):
    for i in range(np.uint64(m)):
        b = np.uint64(bins[i])
        sums[b, 0] += 1.0
        sums[b, 1] += moments[first + i]
        sums[b, 2] += weights[first + i]


@part
def _add_classes(sums, bins, m, y, weights, first):
    for i in range(np.uint64(m)):
        b = np.uint64(bins[i])
        sums[b, 0] += 1.0
        sums[b, np.uint64(1) + np.uint64(y[first + i])] += weights[first + i]


@kernel
def add_to_bins(rows, begin, candidates, moments, values, bins, sums):
    """Add a stripe to the sums (S, C, BINS, Q) of all candidates of S nodes.

    Parameters
    ----------
    rows : Rows
        The rows of the stripe, in the order of the slots, copied.
    begin : (S + 1,) int64
        Where the rows of each slot begin.
    candidates : NodeCandidates
    moments : (m,) or (0,) float64
        As `write_moments` writes them; empty for sums of classes.
    values : (ROWS,) float32
    bins : (ROWS,) uint8
        Scratch.
    sums : (S, C, BINS, Q) float64
    """
    for s in range(len(begin) - 1):
        columns, theta = candidates.columns[s], candidates.theta[s]
        for lo in range(begin[s], begin[s + 1], len(values)):
            m, first = min(len(values), begin[s + 1] - lo), np.uint64(lo)
            for c in range(candidates.number[s]):
                project(rows, lo, m, columns, theta, c, candidates.sizes[s, c], values)
                low, high = candidates.low[s, c], candidates.high[s, c]
                scale = candidates.scale[s, c]
                for i in range(np.uint64(m)):
                    bins[i] = np.uint8(_bin_of(values[i], low, high, scale))
                of_bins = sums[s, c]
                if len(moments) == 0:
                    _add_classes(of_bins, bins, m, rows.y, rows.weights, first)
                elif of_bins.shape[1] > 2:
                    _add_moments(of_bins, bins, m, moments, rows.weights, first)
                else:
                    _add_unit_moments(of_bins, bins, m, moments, first)


@part
def _fine_bin(value, b, low, scale):
    """Return which part of its bin b a value is in."""
    if b == 0:
        return 0 if value <= -FILL else FINE - 1
    if b == LAST:
        return 0 if value < FILL else FINE - 1
    place = (float(value) - float(low)) * float(scale) - (b - 1)
    return int(min(max(place * FINE, 0.0), FINE - 1.0))


@kernel
def add_to_fine_bins(rows, begin, best, at, above, moments, values, sums, least, largest):
    """Add a stripe to the sums around the cut of one direction for each of S nodes.

    Parameters
    ----------
    rows, begin, moments, values
        As in `add_to_bins`; the rows need not be copied.
    best : NodeCandidates
        One direction for each slot.
    at, above : (S,) int64
        The bin left of the cut, and the next one that has rows.
    sums : (S, 1 + 2 * FINE, Q) float64
        The sums of all bins before `at`, and those of the parts of bin `at`, then of `above`.
    least, largest : (S, 1 + 2 * FINE) float32
        The smallest and the largest value in each.
    """
    for s in range(len(begin) - 1):
        low, high, scale = best.low[s, 0], best.high[s, 0], best.scale[s, 0]
        for lo in range(begin[s], begin[s + 1], len(values)):
            m = min(len(values), begin[s + 1] - lo)
            project(rows, lo, m, best.columns[s], best.theta[s], 0, best.sizes[s, 0], values)
            for i in range(m):
                value = values[i]
                b = _bin_of(value, low, high, scale)
                if b < at[s]:
                    place = PASSED
                elif b == at[s]:
                    place = 1 + _fine_bin(value, b, low, scale)
                elif b == above[s]:
                    place = 1 + FINE + _fine_bin(value, b, low, scale)
                else:
                    continue
                _add_row(sums[s], place, rows, lo + i, moments)
                least[s, place] = min(least[s, place], value)
                largest[s, place] = max(largest[s, place], value)
