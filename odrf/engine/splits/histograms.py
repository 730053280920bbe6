"""The best cut between bins of a projection.

Kernels come in three kinds, see `odrf.engine.splits.thresholds`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ONE, ZERO, kernel, part, summing
from odrf.engine.directions.candidates import ROUND
from odrf.engine.numeric import LAST_PLACE, extremes, place_of, value_at
from odrf.engine.rows import column_itself
from odrf.engine.splits.impurity import (
    ENTROPY,
    GINI,
    POISSON,
    class_gain,
    counted,
    counts_gain,
    is_allowed,
    moment_gain,
    node_moments,
)
from odrf.engine.splits.thresholds import sums_of_counts

# Bins where most values are crowded into one of equal width.
# An outlier, or a heavy tail, leaves nearly all rows in one bin, and no cut between bins divides
# them.  Then half of the bins go to the range of the crowded values, as often as these are crowded
# again, and the others to what lies below and above it.

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
    """Return the bin, of bins (m,) uint8, of more than half of the sampled rows; -1 if none."""
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

    `values` (m,).  `bins` (m,): their bins, of equal width; changed.  `low`, `high`: the least and
    the largest value.  `first`, `n_bins`: the first of the bins, and their number, at least 4.
    `empty`: the bin of empty cells, which stays as it is; -1 if there are none.
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


# The best cut between bins of a projection.

MOST_BINS = 256
# The lower bits of a word hold a multiplicity, the upper bits a moment, which may be negative.
COUNT_BITS, COUNT = np.int64(28), np.int64(2**28 - 1)
LARGEST_SUM, TINY = 2.0**34, 1e-300
# A gain may be wrong by this share of the impurity.
TOLERATED = 1e-9


@kernel
def bin_values(values, bins, n_bins):
    """Write bins of equal width, or spread if crowded, to bins (m,); False if all are equal."""
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
    """Move bin b left; return its rows, changes of Σ left², Σ left·node, exact in any order."""
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


# Sums by bin of four projections at a time.
# To add a row to the sum of its bin waits for the row before it, if that is in the same bin: and in
# columns of few values, or with one value in most rows, it nearly always is.  The sums of four
# projections do not wait for each other.  Those of each are added up in the same order as alone.

FOUR = 4


@part
def _add_words(first, second, third, fourth, words, tallies):
    m, one, odd = np.uint64(len(first)), np.uint64(1), np.uint64(MOST_BINS)
    a, b, c, d = tallies[0], tallies[1], tallies[2], tallies[3]
    even = m & ~one
    for i in range(np.uint64(0), even, np.uint64(2)):
        j = i + one
        word, other = words[i], words[j]
        a[np.uint64(first[i])] += word
        b[np.uint64(second[i])] += word
        c[np.uint64(third[i])] += word
        d[np.uint64(fourth[i])] += word
        a[odd + np.uint64(first[j])] += other
        b[odd + np.uint64(second[j])] += other
        c[odd + np.uint64(third[j])] += other
        d[odd + np.uint64(fourth[j])] += other
    if even < m:
        word = words[even]
        a[np.uint64(first[even])] += word
        b[np.uint64(second[even])] += word
        c[np.uint64(third[even])] += word
        d[np.uint64(fourth[even])] += word


@part
def _add_weights(first, second, third, fourth, weights, tables):
    m, zero, one = np.uint64(len(first)), np.uint64(0), np.uint64(1)
    a, b, c, d = tables[0], tables[1], tables[2], tables[3]
    even = m & ~one
    for i in range(zero, even, np.uint64(2)):
        j = i + one
        weight, other = weights[i], weights[j]
        a[np.uint64(first[i]), zero] += weight
        b[np.uint64(second[i]), zero] += weight
        c[np.uint64(third[i]), zero] += weight
        d[np.uint64(fourth[i]), zero] += weight
        a[np.uint64(first[j]), one] += other
        b[np.uint64(second[j]), one] += other
        c[np.uint64(third[j]), one] += other
        d[np.uint64(fourth[j]), one] += other
    if even < m:
        weight = weights[even]
        a[np.uint64(first[even]), zero] += weight
        b[np.uint64(second[even]), zero] += weight
        c[np.uint64(third[even]), zero] += weight
        d[np.uint64(fourth[even]), zero] += weight


@kernel
def tally_four_columns(bins, words, node, n_bins, tallies, tables):
    """Add up by bin what `tally_bins` does, of four projections.

    `bins`: the bins of the node's m rows by the first projection, then those by the others.
    `words`: those of `write_words`.  `node`: its gains need moments.  `tallies` (4, 2·MOST_BINS):
    receives the sums of words.  `tables` (4, MOST_BINS, 2): receives those of weights, unless all
    case weights are 1.
    """
    m = len(node.y)
    first, second, third, fourth = bins[:m], bins[m : 2 * m], bins[2 * m : 3 * m], bins[3 * m :]
    for c in range(FOUR):
        for b in range(n_bins):
            tallies[c, b] = tallies[c, MOST_BINS + b] = 0
    _add_words(first, second, third, fourth, words, tallies)
    if not node.unit:
        for c in range(FOUR):
            for b in range(n_bins):
                tables[c, b, 0] = tables[c, b, 1] = 0.0
        _add_weights(first, second, third, fourth, node.weights, tables)


# Sums over the rows of each value, of four columns of two values at a time.
# An indicator of 0 and 1 needs no bins.  The rows of the lower value are marked, and their words
# and weights are added up in SIMD lanes: words of 8 rows at once, as the order of whole numbers
# does not matter; weights in the order of `tally_bins`, of four columns at once.

# Weights are marked for so many rows at a time, an even number, so that they stay in the cache.
BLOCK = 256


class TwoValues(NamedTuple):
    """The columns of two values whose sums are added up next, and scratch for it.

    `columns` (FOUR,).  `is_cut` (ROUND,): which candidates of a round are columns of two values.
    `candidates` (FOUR,): the numbers of their candidates.  `marked` (FOUR, BLOCK): scratch.
    """

    is_cut: np.ndarray
    candidates: np.ndarray
    columns: np.ndarray
    marked: np.ndarray


def two_values() -> TwoValues:
    """Allocate them."""
    return TwoValues(
        np.empty(ROUND, dtype=np.bool_), np.empty(FOUR, dtype=np.int64),
        np.empty(FOUR, dtype=np.int64), np.empty((FOUR, BLOCK)),
    )  # fmt: skip


@kernel
def write_larger_values(X, high):
    """Write the larger value of each row of X (p, n) that has two values to high (p,), else NaN."""
    for j in range(len(X)):
        low, high[j] = extremes(X[j])
        other = False
        for value in X[j]:
            if low < value < high[j]:
                other = True
                break
        if other or not low < high[j]:
            high[j] = np.nan


@part
def has_two_values(rows, column):
    """Whether a column has two values among all rows, where rows.high is known."""
    return not np.isnan(rows.high[column])


@part
def _add_high_words(first, second, third, fourth, high, words, tallies):
    """Write the sums of words of both values to the first two entries of each of the tallies."""
    a = b = c = d = total = ZERO
    high_a, high_b, high_c, high_d = high
    for i in range(np.uint64(len(first))):
        word = words[i]
        a += word if first[i] < high_a else 0
        b += word if second[i] < high_b else 0
        c += word if third[i] < high_c else 0
        d += word if fourth[i] < high_d else 0
        total += word
    tallies[0, 0], tallies[1, 0], tallies[2, 0], tallies[3, 0] = a, b, c, d
    for k in range(FOUR):
        tallies[k, 1] = total - tallies[k, 0]
        tallies[k, MOST_BINS] = tallies[k, MOST_BINS + 1] = 0


@part
def _mark(values, high, weights, marked):
    """Write the weights of the rows of the lower value, and 0 for the others."""
    for i in range(np.uint64(len(values))):
        marked[i] = weights[i] if values[i] < high else 0.0


@part
def _add_marked(marked, m, tables):
    """Add the first m marked weights to the sums of even and of odd rows."""
    one, even = np.uint64(1), np.uint64(m) & ~np.uint64(1)
    first, second, third, fourth = marked[0], marked[1], marked[2], marked[3]
    a, b, c, d = tables[0, 0, 0], tables[1, 0, 0], tables[2, 0, 0], tables[3, 0, 0]
    odd_a, odd_b, odd_c, odd_d = tables[0, 0, 1], tables[1, 0, 1], tables[2, 0, 1], tables[3, 0, 1]
    for i in range(np.uint64(0), even, np.uint64(2)):
        j = i + one
        a += first[i]
        odd_a += first[j]
        b += second[i]
        odd_b += second[j]
        c += third[i]
        odd_c += third[j]
        d += fourth[i]
        odd_d += fourth[j]
    if even < m:
        a += first[even]
        b += second[even]
        c += third[even]
        d += fourth[even]
    tables[0, 0, 0], tables[1, 0, 0], tables[2, 0, 0], tables[3, 0, 0] = a, b, c, d
    tables[0, 0, 1], tables[1, 0, 1], tables[2, 0, 1], tables[3, 0, 1] = odd_a, odd_b, odd_c, odd_d


@kernel
def tally_two_values(rows, lo, two, words, node, tallies, tables):
    """Add up by value what `tally_bins` does by bin, of four columns.

    `tallies` (4, 2·MOST_BINS).  `rows`: copied, without factors; those of the node begin at `lo`.
    `two`: four columns of two values; some may be the same.  `words`: those of `write_words`.
    `node`: its gains need moments.  `tables` (4, MOST_BINS, 2): receive the sums, as if there were
    two bins.  Weights of the larger value are left out.
    """
    m, marked = len(node.y), two.marked
    a, b, c, d = two.columns[0], two.columns[1], two.columns[2], two.columns[3]
    _add_high_words(
        column_itself(rows, lo, m, a), column_itself(rows, lo, m, b),
        column_itself(rows, lo, m, c), column_itself(rows, lo, m, d),
        (rows.high[a], rows.high[b], rows.high[c], rows.high[d]), words, tallies,
    )  # fmt: skip
    if node.unit:
        return
    for k in range(FOUR):
        tables[k, 0, 0] = tables[k, 0, 1] = 0.0
    for begin in range(0, m, BLOCK):
        number = min(BLOCK, m - begin)
        for k in range(FOUR):
            column = two.columns[k]
            values = column_itself(rows, lo + begin, number, column)
            _mark(values, rows.high[column], node.weights[begin:], marked[k])
        _add_marked(marked, number, tables)
