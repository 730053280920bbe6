"""The best cut between bins of a projection.

Kernels come in three kinds, see `odrf.engine.splits.scanning`.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import ONE, ZERO, kernel, part, summing
from odrf.engine.extremes import extremes
from odrf.engine.splits.criteria import ENTROPY, GINI, POISSON
from odrf.engine.splits.crowded_bins import crowded_bin, spread_crowd
from odrf.engine.splits.impurity import (
    class_gain,
    counted,
    counts_gain,
    is_allowed,
    moment_gain,
    node_moments,
)
from odrf.engine.splits.scanning import sums_of_counts

__all__ = [
    "COUNT",
    "COUNT_BITS",
    "MOST_BINS",
    "bin_values",
    "binned_cut",
    "scan_bins",
    "tally_bins",
    "write_words",
]

MOST_BINS = 256
# The lower bits of a word hold a multiplicity, the upper bits a moment, which may be negative.
COUNT_BITS, COUNT = np.int64(28), np.int64(2**28 - 1)
LARGEST_SUM, TINY = 2.0**34, 1e-300
# A gain may be wrong by this share of the impurity.
TOLERATED = 1e-9


@kernel
def bin_values(values, bins, n_bins):
    """Write the bin of each of `values` (m,) to bins (m,); return False if all are equal.

    The bins have equal widths, unless one is crowded: see `odrf.engine.splits.crowded_bins`.
    """
    low, high = extremes(values)
    if not high > low:
        return False
    scale = np.float32(n_bins) / (high - low)
    last = np.float32(n_bins - 1)
    for i in range(len(values)):
        place = (values[i] - low) * scale
        bins[i] = np.uint8(np.int32(place if place < last else last))
    if crowded_bin(bins) >= 0:
        spread_crowd(values, bins, low, high, ZERO, np.int64(n_bins), -ONE)
    return True


@kernel
def write_words(node, words):
    """Write each row's moment, as a whole number of quanta, and its multiplicity to one word.

    A bin then adds up both at once.  Returns the quantum: 1 where moments are whole numbers, else
    small enough for the rounding not to matter and large enough for sums not to overflow.
    """
    moments, counts, quantum = node.moments, node.counts, 1.0
    if node.criterion != ENTROPY or not node.unit:
        largest = 0.0
        for moment in moments:
            largest += abs(moment)
        quantum = max(largest, TINY) / LARGEST_SUM
        if node.criterion == POISSON:
            # a power of 2, so that single events are not all rounded in the same direction
            quantum = 2.0 ** math.ceil(math.log2(quantum))
    scale = 1.0 / quantum
    for i in range(np.uint64(len(moments))):
        words[i] = (np.int64(np.rint(moments[i] * scale)) << COUNT_BITS) + np.int64(counts[i])
    return quantum


# Rows of even and of odd numbers are added up separately: consecutive rows often share a bin, and
# then the second addition would have to wait for the first.


@part
def _tally(bins, words, tally):
    """Add each row's word to tally[bin], for odd rows to tally[MOST_BINS + bin]."""
    m = np.uint64(len(bins))
    even, one, odd = m & ~np.uint64(1), np.uint64(1), np.uint64(MOST_BINS)
    for i in range(np.uint64(0), even, np.uint64(2)):
        tally[np.uint64(bins[i])] += words[i]
        tally[odd + np.uint64(bins[i + one])] += words[i + one]
    if even < m:
        tally[np.uint64(bins[even])] += words[even]


@part
def _tally_weighted(bins, words, weights, tally, table):
    """As `_tally`; also add each row's weight to table[bin, 0], for odd rows to table[bin, 1]."""
    m = np.uint64(len(bins))
    even, one, odd = m & ~np.uint64(1), np.uint64(1), np.uint64(MOST_BINS)
    for i in range(np.uint64(0), even, np.uint64(2)):
        first, second = np.uint64(bins[i]), np.uint64(bins[i + one])
        tally[first] += words[i]
        tally[odd + second] += words[i + one]
        table[first, 0] += weights[i]
        table[second, 1] += weights[i + one]
    if even < m:
        last = np.uint64(bins[even])
        tally[last] += words[even]
        table[last, 0] += weights[even]


@part
def _tally_moments(bins, words, tally, table, node, n_bins):
    for b in range(n_bins):
        tally[b] = tally[MOST_BINS + b] = 0
    if node.unit:
        _tally(bins, words, tally)
    else:
        for b in range(n_bins):
            table[b, 0] = table[b, 1] = 0.0
        _tally_weighted(bins, words, node.weights, tally, table)


@part
def _sum_of_quanta(tally, n_bins):
    total = 0
    for b in range(n_bins):
        total += (tally[b] + tally[MOST_BINS + b]) >> COUNT_BITS
    return total


@part
def _binned_moments(quantum, tally, table, node, n_bins, min_leaf):
    unit, logs = node.unit, node.logs
    weight, n_rows, criterion, at = node.weight, node.n_rows, node.criterion, -1
    second, baseline = node_moments(node)
    left_weight, left_rows, moment, best = 0.0, 0, 0.0, baseline
    # What rounding to quanta adds to the sum of all rows.  Beside it a right side that is lighter
    # than `lightest` would look as if its mean were far from the node's: its own sum is used.
    excess = _sum_of_quanta(tally, n_bins) * quantum - second
    lightest = node.factor * excess * excess / (TOLERATED * node.impurity * weight)
    for b in range(n_bins - 1):
        word = tally[b] + tally[MOST_BINS + b]
        if word == 0:
            continue
        left_rows += word & COUNT
        moment += (word >> COUNT_BITS) * quantum
        left_weight = left_rows if unit else left_weight + (table[b, 0] + table[b, 1])
        if left_rows < min_leaf:
            continue
        if n_rows - left_rows < min_leaf:
            break
        own = moment - excess if weight - left_weight < lightest else moment
        gain = moment_gain(own, left_weight, weight, second, criterion, logs)
        if gain > best and node.lightest < left_weight < weight - node.lightest:
            best, at = gain, b
    return node.factor * (best - baseline), at


@part
def _tally_classes(bins, table, node, n_bins):
    """Add each row's weight to table[bin, class], and its multiplicity to table[bin, K]."""
    y, weights, counts, K = node.y, node.weights, node.counts, table.shape[1] - 1
    for b in range(n_bins):
        for k in range(K + 1):
            table[b, k] = 0.0
    for i in range(np.uint64(len(bins))):
        table[np.uint64(bins[i]), np.uint64(y[i])] += weights[i]
        table[np.uint64(bins[i]), K] += counts[i]


@part
def _binned_classes(table, left, node, n_bins, min_leaf):
    value, K = node.value, len(left)
    for k in range(K):
        left[k] = 0.0
    weight, n_rows, criterion, best, at = node.weight, node.n_rows, node.criterion, 0.0, -1
    left_weight, left_rows = 0.0, 0.0
    for b in range(n_bins - 1):
        if table[b, K] == 0.0:
            continue
        left_rows += table[b, K]
        for k in range(K):
            left_weight += table[b, k]
            left[k] += table[b, k]
        gain = class_gain(left, left_weight, value, weight, criterion)
        if gain > best and is_allowed(
            left_weight, left_rows, weight, n_rows, min_leaf, node.lightest
        ):
            best, at = gain, b
    return best, at


@summing
def _move_bin(table, b, totals, left):
    """Move the rows of bin b to the left side; return their number and the changes of two sums.

    These are the sum of squared class counts on the left, and the sum of products of class counts
    on the left and in the node.  All are whole numbers, so the order of addition does not matter.
    """
    moved, squares, products = 0.0, 0.0, 0.0
    for k in range(len(left)):
        count = table[b, k]
        moved += count
        squares += count * (2.0 * left[k] + count)
        products += count * table[totals, k]
        left[k] += count
    return moved, squares, products


@part
def _tally_counts(bins, table, node, n_bins):
    """As `_tally_classes`, where weights are multiplicities; row `n_bins` is for the node."""
    y, weights, K = node.y, node.weights, table.shape[1] - 1
    for b in range(n_bins):
        for k in range(K):
            table[b, k] = 0.0
    for i in range(np.uint64(len(bins))):
        table[np.uint64(bins[i]), np.uint64(y[i])] += weights[i]
    for k in range(K):
        table[n_bins, k] = np.rint(node.value[k] * node.weight)


@part
def _binned_squares(table, left, node, n_bins, min_leaf):
    """Return (gain, b) for the Gini index from the table; its row `n_bins` is the node."""
    weight, passed, left_sum, products, node_sum, at = node.weight, 0.0, 0.0, 0.0, 0.0, -1
    for k in range(len(left)):
        node_sum += table[n_bins, k] * table[n_bins, k]
    least, most, best = float(min_leaf), weight - min_leaf, node_sum / weight
    for b in range(n_bins - 1):
        moved, squares, crossed = _move_bin(table, b, n_bins, left)
        passed += moved
        left_sum += squares
        products += crossed
        if moved > 0.0 and least <= passed <= most:
            right_sum = node_sum - 2.0 * products + left_sum
            gain = left_sum / passed + right_sum / (weight - passed)
            if gain > best:
                best, at = gain, b
    return (best - node_sum / weight) / weight, at


@part
def _binned_counts(table, left, node, n_bins, min_leaf):
    """As `_binned_classes`, where weights are whole numbers of rows."""
    criterion, logs, K = node.criterion, node.logs, len(left)
    weight, passed, at = node.weight, 0.0, -1
    for k in range(K):
        left[k] = 0.0
    if criterion == GINI:
        return _binned_squares(table, left, node, n_bins, min_leaf)
    _, _, baseline = sums_of_counts(left, node)
    least, most, best = float(min_leaf), weight - min_leaf, baseline
    for b in range(n_bins - 1):
        before, left_sum, right_sum = passed, 0.0, 0.0
        for k in range(K):
            passed += table[b, k]
            left[k] += table[b, k]
            left_sum += counted(left[k], criterion, logs)
            right_sum += counted(table[n_bins, k] - left[k], criterion, logs)
        if passed > before and least <= passed <= most:
            gain = counts_gain(left_sum, right_sum, passed, weight, criterion, logs)
            if gain > best:
                best, at = gain, b
    return (best - baseline) / weight, at


@part
def tally_bins(bins, words, tally, table, left, node, n_bins):
    """Add up what the cuts between bins need, by bin, in the tally or the table."""
    if left is None:
        _tally_moments(bins, words, tally, table, node, n_bins)
    elif node.unit:
        _tally_counts(bins, table, node, n_bins)
    else:
        _tally_classes(bins, table, node, n_bins)


@part
def scan_bins(quantum, tally, table, left, node, n_bins, min_leaf):
    """Return (gain, b) as `binned_cut`, after `tally_bins`."""
    if left is None:
        return _binned_moments(quantum, tally, table, node, n_bins, min_leaf)
    if node.unit:
        return _binned_counts(table, left, node, n_bins, min_leaf)
    return _binned_classes(table, left, node, n_bins, min_leaf)


@kernel
def binned_cut(bins, words, quantum, tally, table, left, node, n_bins, min_leaf):
    """Return (gain, b) of the best cut between bins, after bin b; b is -1 if no cut is allowed.

    bins (m,) as written by `bin_values`.  If `left` is None, words (≥ m,) and the quantum are those
    of `write_words`.  tally (2·MOST_BINS,) int64, table (> n_bins, K + 1) and left (K,) or None are
    scratch.
    """
    tally_bins(bins, words, tally, table, left, node, n_bins)
    return scan_bins(quantum, tally, table, left, node, n_bins, min_leaf)
