"""The best cut along one projection: exact, or between bins and then refined.

Every kernel that tries cuts comes twice, for criteria that need one moment per side and for
those that need the weight of each class; see `odrf.engine.impurity.Node`.  Which one is meant is
told by `left`, scratch for the class weights on the left: None where moments do.  Numba sees None
as a type of its own and compiles the kernels of that kind alone.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import extremal, kernel, part
from odrf.engine.impurity import class_gain, is_allowed, moment_gain
from odrf.engine.sorting import POSITION, VALUE_SHIFT, key_of, sort_keys

__all__ = ["MOST_BINS", "bin_values", "binned_cut", "exact_cut", "refined_cut"]

MOST_BINS = 256


@part
def _between(low, high):
    """Return a threshold with low ≤ threshold < high, their midpoint where floats allow."""
    middle = np.float32(0.5) * low + np.float32(0.5) * high
    return middle if low <= middle < high else low


@part
def _scan_moments(keys, n, node, left_weight, left_rows, shift, min_leaf):
    """Return (gain, i) of the best cut, after ``keys[i]``, among sorted keys; -1 for none.

    The last three sums are those of the rows that lie left of all keys.
    """
    weights, counts, moments = node.weights, node.counts, node.moments
    weight, n_rows, best, at = node.weight, node.n_rows, 0.0, -1
    for i in range(n - 1):
        row = keys[i] & POSITION
        left_weight += weights[row]
        left_rows += counts[row]
        shift += moments[row]
        if keys[i + 1] >> VALUE_SHIFT > keys[i] >> VALUE_SHIFT:
            gain = moment_gain(shift, left_weight, weight)
            if gain > best and is_allowed(left_weight, left_rows, weight, n_rows, min_leaf):
                best, at = gain, i
    return node.factor * best, at


@part
def _scan_classes(keys, n, node, left_weight, left_rows, left, min_leaf):
    """Return (gain, i) as `_scan_moments`; `left` (K,) are the class weights left of all keys."""
    y, weights, counts, value = node.y, node.weights, node.counts, node.value
    weight, n_rows, criterion, best, at = node.weight, node.n_rows, node.criterion, 0.0, -1
    for i in range(n - 1):
        row = keys[i] & POSITION
        left_weight += weights[row]
        left_rows += counts[row]
        left[int(y[row])] += weights[row]
        if keys[i + 1] >> VALUE_SHIFT > keys[i] >> VALUE_SHIFT:
            gain = class_gain(left, left_weight, value, weight, criterion)
            if gain > best and is_allowed(left_weight, left_rows, weight, n_rows, min_leaf):
                best, at = gain, i
    return best, at


@part
def _threshold(values, keys, at):
    if at < 0:
        return np.float32(0.0)
    return _between(values[keys[at] & POSITION], values[keys[at + 1] & POSITION])


@kernel
def exact_cut(values, keys, left, node, min_leaf):
    """Return (gain, threshold) of the best of all cuts along the projected `values` (m,) float32.

    keys (≥ m,) uint64 and left (K,) or None are scratch.  Of equal gains the leftmost wins; a
    gain of 0 means that no cut is allowed or none reduces the impurity.
    """
    m = len(values)
    for i in range(m):
        keys[i] = key_of(values[i], i)
    sort_keys(keys, m)
    if left is None:
        gain, at = _scan_moments(keys, m, node, 0.0, 0, 0.0, min_leaf)
    else:
        for k in range(len(left)):
            left[k] = 0.0
        gain, at = _scan_classes(keys, m, node, 0.0, 0, left, min_leaf)
    return gain, _threshold(values, keys, at)


@extremal
def _extremes(values):
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    return low, high


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


@part
def _binned_moments(bins, table, node, n_bins, min_leaf):
    weights, moments, counts, unit = node.weights, node.moments, node.counts, node.unit
    for b in range(n_bins):
        table[b, 0] = table[b, 1] = table[b, 2] = 0.0
    for i in range(len(bins)):
        table[bins[i], 0] += weights[i]
        table[bins[i], 1] += moments[i]
    if not unit:
        for i in range(len(bins)):
            table[bins[i], 2] += counts[i]
    weight, n_rows, best, at = node.weight, node.n_rows, 0.0, -1
    left_weight, left_rows, shift = 0.0, 0.0, 0.0
    for b in range(n_bins - 1):
        left_weight += table[b, 0]
        left_rows += table[b, 2]
        shift += table[b, 1]
        gain = moment_gain(shift, left_weight, weight)
        if gain > best:
            left = left_weight if unit else left_rows
            if is_allowed(left_weight, left, weight, n_rows, min_leaf):
                best, at = gain, b
    return node.factor * best, at


@part
def _binned_classes(bins, table, left, node, n_bins, min_leaf):
    y, weights, counts, value, K = node.y, node.weights, node.counts, node.value, len(left)
    for b in range(n_bins):
        for k in range(K + 1):
            table[b, k] = 0.0
    for i in range(len(bins)):
        table[bins[i], int(y[i])] += weights[i]
        table[bins[i], K] += counts[i]
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


@kernel
def binned_cut(bins, table, left, node, n_bins, min_leaf):
    """Return (gain, b) of the best cut between bins, after bin b; b is -1 when none is allowed.

    bins (m,) as `bin_values` numbers them; table (≥ n_bins, ≥ max(K + 1, 3)) and left (K,) or
    None are scratch.
    """
    if left is None:
        return _binned_moments(bins, table, node, n_bins, min_leaf)
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
    n, left_weight, left_rows = 0, 0.0, 0
    for i in range(len(values)):
        if bins[i] == at or bins[i] == above:
            keys[n] = key_of(values[i], i)
            n += 1
        elif bins[i] < at:
            left_weight += node.weights[i]
            left_rows += node.counts[i]
    sort_keys(keys, n)
    if left is None:
        shift = 0.0
        for i in range(len(values)):
            if bins[i] < at:
                shift += node.moments[i]
        gain, i = _scan_moments(keys, n, node, left_weight, left_rows, shift, min_leaf)
    else:
        for k in range(len(left)):
            left[k] = 0.0
        for i in range(len(values)):
            if bins[i] < at:
                left[int(node.y[i])] += node.weights[i]
        gain, i = _scan_classes(keys, n, node, left_weight, left_rows, left, min_leaf)
    return gain, _threshold(values, keys, i)
