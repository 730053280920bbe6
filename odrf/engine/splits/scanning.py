"""The best of all cuts between sorted keys.

Every kernel that tries cuts comes in three kinds: for criteria that need one moment per side, for
criteria that need the weight of each class, and for class weights that are numbers of rows; see
`odrf.engine.splits.impurity.Node`.  `left` is scratch for the class weights on the left side; it is
None if moments are enough.  As None has a type of its own in Numba, only the kernels needed are
compiled.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, part
from odrf.engine.sorting import POSITION, VALUE_SHIFT, value_of
from odrf.engine.splits.criteria import GINI
from odrf.engine.splits.impurity import (
    class_gain,
    counted,
    counts_gain,
    is_allowed,
    moment_gain,
    node_moments,
)

__all__ = [
    "best_of_lane",
    "best_of_some",
    "midpoint",
    "sums_beside",
    "sums_of_counts",
    "threshold_after",
]


@part
def midpoint(low, high):
    """Return a threshold with low ≤ threshold < high, their midpoint where floats allow."""
    middle = np.float32(0.5) * low + np.float32(0.5) * high
    return middle if low <= middle < high else low


@part
def _scan_moments(keys, lane, lanes, n, node, left_weight, left_rows, moment, min_leaf):
    """Return (gain, i) of the best cut, after row i of a lane of n sorted keys; i is -1 for none.

    left_weight, left_rows and moment are the sums over rows of the node that lie left of all keys.
    """
    weights, counts, moments = node.weights, node.counts, node.moments
    weight, n_rows, criterion, at = node.weight, node.n_rows, node.criterion, -1
    lightest = node.lightest
    second, baseline = node_moments(node)
    place, step, best = np.uint64(lane), np.uint64(lanes), baseline
    for i in range(n - 1):
        key = keys[place]
        place += step
        row = key & POSITION
        left_weight += weights[row]
        left_rows += counts[row]
        moment += moments[row]
        if left_rows < min_leaf:
            continue
        if n_rows - left_rows < min_leaf:
            break
        if keys[place] >> VALUE_SHIFT > key >> VALUE_SHIFT:
            gain = moment_gain(moment, left_weight, weight, second, criterion, node.logs)
            if gain > best and lightest < left_weight < weight - lightest:
                best, at = gain, i
    return node.factor * (best - baseline), at


@part
def _scan_classes(keys, lane, lanes, n, node, left_weight, left_rows, left, min_leaf):
    """As `_scan_moments`; `left` (K,) holds the class weights of the rows left of all keys."""
    y, weights, counts, value = node.y, node.weights, node.counts, node.value
    weight, n_rows, criterion, best, at = node.weight, node.n_rows, node.criterion, 0.0, -1
    lightest = node.lightest
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
            if gain > best and is_allowed(
                left_weight, left_rows, weight, n_rows, min_leaf, lightest
            ):
                best, at = gain, i
    return best, at


@part
def sums_of_counts(left, node):
    """Return the sums over classes of `counted` on both sides, and the baseline of `counts_gain`.

    left (K,) holds the class weights of the left side.
    """
    criterion, logs, left_sum, right_sum, baseline = node.criterion, node.logs, 0.0, 0.0, 0.0
    for k in range(len(left)):
        total = np.rint(node.value[k] * node.weight)
        left_sum += counted(left[k], criterion, logs)
        right_sum += counted(total - left[k], criterion, logs)
        baseline += counted(total, criterion, logs)
    if criterion == GINI:
        return left_sum, right_sum, baseline / node.weight
    return left_sum, right_sum, baseline - counted(node.weight, criterion, logs)


@part
def sums_beside(left, node):
    """Return what `sums_of_counts` returns where cuts need it; `left` may be None."""
    if left is None:
        return 0.0, 0.0, 0.0
    if node.unit:
        return sums_of_counts(left, node)
    return 0.0, 0.0, 0.0


@part
def _scan_squares(keys, lane, lanes, n, node, left_rows, left, sums, min_leaf):
    """As `_scan_counts` for the Gini index: sums of squares of whole numbers are exact."""
    y, weights, value, weight, at = node.y, node.weights, node.value, node.weight, -1
    left_sum, right_sum, baseline = sums
    least, most, best = float(min_leaf), weight - min_leaf, baseline
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
        left_sum += moved * (2.0 * before + moved)
        right_sum -= moved * (2.0 * rest - moved)
        if keys[place] >> VALUE_SHIFT > key >> VALUE_SHIFT and least <= passed <= most:
            gain = left_sum / passed + right_sum / (weight - passed)
            if gain > best:
                best, at = gain, i
    return (best - baseline) / weight, at


@part
def _scan_counts(keys, lane, lanes, n, node, left_rows, left, sums, min_leaf):
    """As `_scan_classes`, where weights are whole numbers of rows.

    Moving a row to the left side changes only the two terms of its class.  `sums` are those of the
    rows left of all keys, see `sums_of_counts`.
    """
    y, weights, value, logs = node.y, node.weights, node.value, node.logs
    weight, criterion, at = node.weight, node.criterion, -1
    left_sum, right_sum, baseline = sums
    least, most, best = float(min_leaf), weight - min_leaf, baseline
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
    return (best - baseline) / weight, at


@part
def threshold_after(keys, lane, lanes, at):
    """Return the threshold after key number `at` of a lane of sorted keys; 0 if `at` is -1."""
    if at < 0:
        return np.float32(0.0)
    place = lane + at * lanes
    return midpoint(value_of(keys[place]), value_of(keys[place + lanes]))


@part
def best_of_lane(keys, lane, lanes, m, left, node, sums, min_leaf):
    """Return (gain, threshold) of the best of all cuts between the m sorted keys of a lane.

    `sums` are what `sums_beside` returns where no row is on the left.
    """
    if left is not None:
        for k in range(len(left)):
            left[k] = 0.0
    return best_of_some(keys, lane, lanes, m, left, node, 0.0, ZERO, 0.0, sums, min_leaf)


@part
def best_of_some(keys, lane, lanes, m, left, node, left_weight, left_rows, moment, sums, min_leaf):
    """As `best_of_lane`, where other rows of the node lie left of all keys.

    left_weight, left_rows, moment, `left` and `sums` hold the sums over these rows.
    """
    if left is None:
        gain, at = _scan_moments(
            keys, lane, lanes, m, node, left_weight, left_rows, moment, min_leaf
        )
    elif node.unit:
        scan = keys, lane, lanes, m, node, left_rows, left, sums, min_leaf
        gain, at = _scan_squares(*scan) if node.criterion == GINI else _scan_counts(*scan)
    else:
        gain, at = _scan_classes(keys, lane, lanes, m, node, left_weight, left_rows, left, min_leaf)
    return gain, threshold_after(keys, lane, lanes, at)
