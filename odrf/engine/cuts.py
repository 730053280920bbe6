"""The best cut along one projection: exact, or between bins and then refined.

Every kernel that tries cuts comes twice, for criteria that need one moment per side and for
those that need the weight of each class; see `odrf.engine.impurity.Node`.  Which one is meant is
told by `left`, scratch for the class weights on the left: None where moments do.  Numba sees None
as a type of its own and compiles the kernels of that kind alone.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.impurity import (
    ENTROPY,
    GINI,
    class_gain,
    counted,
    counts_gain,
    is_allowed,
    moment_gain,
    whole_moments,
)
from odrf.engine.sorting import POSITION, VALUE_SHIFT, key_of, sort_keys, sort_lanes, value_of

__all__ = [
    "MOST_BINS",
    "bin_values",
    "binned_cut",
    "exact_cut",
    "exact_cuts",
    "refined_cut",
    "write_lane",
    "write_words",
]

MOST_BINS = 256
ONE = np.int64(1)
SIGN_SHIFT, ALL_BUT_SIGN = np.int32(31), np.int32(0x7FFFFFFF)
# A word's lower bits hold a multiplicity, its upper ones a moment of either sign.
COUNT_BITS, COUNT = np.int64(28), np.int64(2**28 - 1)
LARGEST_SUM, TINY = 2.0**34, 1e-300


@part
def _between(low, high):
    """Return a threshold with low ≤ threshold < high, their midpoint where floats allow."""
    middle = np.float32(0.5) * low + np.float32(0.5) * high
    return middle if low <= middle < high else low


@part
def _scan_moments(keys, lane, lanes, n, node, left_weight, left_rows, moment, min_leaf):
    """Return (gain, i) of the best cut, after row i of a lane of n sorted keys; -1 for none.

    The sums given are those of the rows that lie left of all keys.
    """
    weights, counts, moments = node.weights, node.counts, node.moments
    weight, n_rows, criterion, at = node.weight, node.n_rows, node.criterion, -1
    second, whole = whole_moments(node)
    place, step, best = np.uint64(lane), np.uint64(lanes), whole
    for i in range(n - 1):
        key = keys[place]
        place += step
        row = key & POSITION
        left_weight += weights[row]
        left_rows += counts[row]
        moment += moments[row]
        if keys[place] >> VALUE_SHIFT > key >> VALUE_SHIFT:
            gain = moment_gain(moment, left_weight, weight, second, criterion, node.logs)
            if gain > best and is_allowed(left_weight, left_rows, weight, n_rows, min_leaf):
                best, at = gain, i
    return node.factor * (best - whole), at


@part
def _scan_classes(keys, lane, lanes, n, node, left_weight, left_rows, left, min_leaf):
    """Return (gain, i) as `_scan_moments`; `left` (K,) are the class weights left of all keys."""
    y, weights, counts, value = node.y, node.weights, node.counts, node.value
    weight, n_rows, criterion, best, at = node.weight, node.n_rows, node.criterion, 0.0, -1
    place, step = np.uint64(lane), np.uint64(lanes)
    for i in range(n - 1):
        key = keys[place]
        place += step
        row = key & POSITION
        left_weight += weights[row]
        left_rows += counts[row]
        left[np.uint64(y[row])] += weights[row]
        if keys[place] >> VALUE_SHIFT > key >> VALUE_SHIFT:
            gain = class_gain(left, left_weight, value, weight, criterion)
            if gain > best and is_allowed(left_weight, left_rows, weight, n_rows, min_leaf):
                best, at = gain, i
    return best, at


@part
def _sums_of_counts(left, node):
    """Return what the classes of both sides and of the node add up to, from `left` (K,)."""
    criterion, logs, left_sum, right_sum, whole = node.criterion, node.logs, 0.0, 0.0, 0.0
    for k in range(len(left)):
        total = np.rint(node.value[k] * node.weight)
        left_sum += counted(left[k], criterion, logs)
        right_sum += counted(total - left[k], criterion, logs)
        whole += counted(total, criterion, logs)
    if criterion == GINI:
        return left_sum, right_sum, whole / node.weight
    return left_sum, right_sum, whole - counted(node.weight, criterion, logs)


@part
def _scan_counts(keys, lane, lanes, n, node, left_rows, left, min_leaf):
    """Return (gain, i) as `_scan_classes` where weights are whole numbers of rows.

    A row moves one class from right to left, and its two terms of the sums alone.
    """
    y, weights, value, logs = node.y, node.weights, node.value, node.logs
    weight, criterion, at = node.weight, node.criterion, -1
    left_sum, right_sum, whole = _sums_of_counts(left, node)
    least, most, best = float(min_leaf), weight - min_leaf, whole
    place, step, passed = np.uint64(lane), np.uint64(lanes), float(left_rows)
    for i in range(n - 1):
        key = keys[place]
        place += step
        row = key & POSITION
        k, moved = np.uint64(y[row]), weights[row]
        before = left[k]
        rest = np.rint(value[k] * weight) - before
        left[k] = before + moved
        passed += moved
        left_sum += counted(before + moved, criterion, logs) - counted(before, criterion, logs)
        right_sum += counted(rest - moved, criterion, logs) - counted(rest, criterion, logs)
        if keys[place] >> VALUE_SHIFT > key >> VALUE_SHIFT and least <= passed <= most:
            gain = counts_gain(left_sum, right_sum, passed, weight, criterion, logs)
            if gain > best:
                best, at = gain, i
    return (best - whole) / weight, at


@part
def _best_of_lane(keys, lane, lanes, m, left, node, min_leaf):
    """Return (gain, threshold) of the best of all cuts between the m sorted keys of a lane."""
    if left is None:
        gain, at = _scan_moments(keys, lane, lanes, m, node, 0.0, ZERO, 0.0, min_leaf)
    else:
        for k in range(len(left)):
            left[k] = 0.0
        if node.unit:
            gain, at = _scan_counts(keys, lane, lanes, m, node, ZERO, left, min_leaf)
        else:
            gain, at = _scan_classes(keys, lane, lanes, m, node, 0.0, ZERO, left, min_leaf)
    return gain, _threshold(keys, lane, lanes, at)


@part
def _threshold(keys, lane, lanes, at):
    if at < 0:
        return np.float32(0.0)
    place = lane + at * lanes
    return _between(value_of(keys[place]), value_of(keys[place + lanes]))


@kernel
def exact_cut(values, keys, left, node, min_leaf):
    """Return (gain, threshold) of the best of all cuts along the projected `values` (m,) float32.

    keys (≥ m,) uint64 and left (K,) or None are scratch.  Of equal gains the leftmost wins; a
    gain of 0 means that no cut is allowed or none reduces the impurity.
    """
    m = len(values)
    write_lane(values, keys, ZERO, ONE)
    sort_keys(keys, m)
    return _best_of_lane(keys, ZERO, ONE, m, left, node, min_leaf)


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
        gains[lane], thresholds[lane] = _best_of_lane(keys, lane, lanes, m, left, node, min_leaf)


@part
def _in_order(bits):
    """Return the bits of a float32 as an int32 that sorts as it does, or turn them back."""
    return bits ^ ((bits >> SIGN_SHIFT) & ALL_BUT_SIGN)


@part
def _extremes(values):
    """Return the least and the largest of `values`, as integers: those LLVM compares in lanes."""
    bits = values.view(np.int32)
    low = high = _in_order(bits[0])
    for i in range(np.uint64(len(bits))):
        place = _in_order(bits[i])
        low, high = min(low, place), max(high, place)
    return np.int32(_in_order(low)).view(np.float32), np.int32(_in_order(high)).view(np.float32)


@kernel
def bin_values(values, bins, n_bins):
    """Put `values` (m,) into equal-width bins, numbers in bins (m,); False if all are equal."""
    low, high = _extremes(values)
    if not high > low:
        return False
    scale = np.float32(n_bins) / (high - low)
    last = np.float32(n_bins - 1)
    for i in range(len(values)):
        place = (values[i] - low) * scale
        bins[i] = np.uint8(np.int32(place if place < last else last))
    return True


@kernel
def write_words(node, words):
    """Write each row's moment, a whole number of quanta, and multiplicity to one word.

    So that a bin adds up both at once.  Returns the quantum: small enough that rounding is lost
    in that of the sums, large enough that no sum of them overflows; 1 where moments are whole.
    """
    moments, counts, quantum = node.moments, node.counts, 1.0
    if node.criterion != ENTROPY or not node.unit:
        largest = 0.0
        for moment in moments:
            largest += abs(moment)
        quantum = max(largest, TINY) / LARGEST_SUM
    scale = 1.0 / quantum
    for i in range(np.uint64(len(moments))):
        words[i] = (np.int64(np.rint(moments[i] * scale)) << COUNT_BITS) + np.int64(counts[i])
    return quantum


@part
def _binned_moments(bins, words, quantum, tally, table, node, n_bins, min_leaf):
    weights, unit, logs = node.weights, node.unit, node.logs
    for b in range(n_bins):
        tally[b] = 0
    for i in range(np.uint64(len(bins))):
        tally[np.uint64(bins[i])] += words[i]
    if not unit:
        for b in range(n_bins):
            table[b, 0] = 0.0
        for i in range(np.uint64(len(bins))):
            table[np.uint64(bins[i]), 0] += weights[i]
    weight, n_rows, criterion, at = node.weight, node.n_rows, node.criterion, -1
    second, whole = whole_moments(node)
    left_weight, left_rows, moment, best = 0.0, 0, 0.0, whole
    for b in range(n_bins - 1):
        if tally[b] == 0:
            continue
        left_rows += tally[b] & COUNT
        moment += (tally[b] >> COUNT_BITS) * quantum
        left_weight = left_rows if unit else left_weight + table[b, 0]
        gain = moment_gain(moment, left_weight, weight, second, criterion, logs)
        if gain > best and is_allowed(left_weight, left_rows, weight, n_rows, min_leaf):
            best, at = gain, b
    return node.factor * (best - whole), at


@part
def _binned_classes(bins, table, left, node, n_bins, min_leaf):
    y, weights, counts, value, K = node.y, node.weights, node.counts, node.value, len(left)
    for b in range(n_bins):
        for k in range(K + 1):
            table[b, k] = 0.0
    for i in range(np.uint64(len(bins))):
        table[np.uint64(bins[i]), np.uint64(y[i])] += weights[i]
        table[np.uint64(bins[i]), K] += counts[i]
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
        if gain > best and is_allowed(left_weight, left_rows, weight, n_rows, min_leaf):
            best, at = gain, b
    return best, at


@part
def _binned_counts(bins, table, left, node, n_bins, min_leaf):
    """`_binned_classes` where weights are whole numbers of rows."""
    y, weights, criterion, logs, K = node.y, node.weights, node.criterion, node.logs, len(left)
    for b in range(n_bins):
        for k in range(K):
            table[b, k] = 0.0
    for i in range(np.uint64(len(bins))):
        table[np.uint64(bins[i]), np.uint64(y[i])] += weights[i]
    for k in range(K):
        left[k] = 0.0
    weight, passed, at = node.weight, 0.0, -1
    _, _, whole = _sums_of_counts(left, node)
    least, most, best = float(min_leaf), weight - min_leaf, whole
    for k in range(K):
        table[n_bins, k] = np.rint(node.value[k] * weight)
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
    return (best - whole) / weight, at


@kernel
def binned_cut(bins, words, quantum, tally, table, left, node, n_bins, min_leaf):
    """Return (gain, b) of the best cut between bins, after bin b; b is -1 when none is allowed.

    bins (m,) as `bin_values` numbers them.  Where `left` is None, words (≥ m,) and the quantum
    are those of `write_words`; tally (≥ n_bins,) int64, table (> n_bins, K + 1) and left (K,) or
    None are scratch.
    """
    if left is None:
        return _binned_moments(bins, words, quantum, tally, table, node, n_bins, min_leaf)
    if node.unit:
        return _binned_counts(bins, table, left, node, n_bins, min_leaf)
    return _binned_classes(bins, table, left, node, n_bins, min_leaf)


@kernel
def refined_cut(values, bins, at, keys, left, node, min_leaf):
    """Return (gain, threshold) of the best cut inside the two filled bins around a binned cut.

    The cut between bin `at` and the next filled one is among those tried, so that the gain is
    never below that of `binned_cut`.
    """
    above = MOST_BINS
    for b in bins:
        if at < b < above:
            above = b
    n, left_weight, left_rows = ZERO, 0.0, ZERO
    for i in range(len(values)):
        if bins[i] == at or bins[i] == above:
            keys[n] = key_of(values[i], i)
            n += 1
        elif bins[i] < at:
            left_weight += node.weights[i]
            left_rows += node.counts[i]
    sort_keys(keys, n)
    if left is None:
        moment = 0.0
        for i in range(len(values)):
            if bins[i] < at:
                moment += node.moments[i]
        gain, i = _scan_moments(keys, ZERO, ONE, n, node, left_weight, left_rows, moment, min_leaf)
    else:
        for k in range(len(left)):
            left[k] = 0.0
        for i in range(len(values)):
            if bins[i] < at:
                left[int(node.y[i])] += node.weights[i]
        if node.unit:
            gain, i = _scan_counts(keys, ZERO, ONE, n, node, left_rows, left, min_leaf)
        else:
            gain, i = _scan_classes(
                keys, ZERO, ONE, n, node, left_weight, left_rows, left, min_leaf
            )
    return gain, _threshold(keys, ZERO, ONE, i)
