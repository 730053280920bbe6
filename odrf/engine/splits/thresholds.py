"""The best threshold of a projection: among all, or of a few random ones.

Every kernel that tries cuts comes in three kinds: for criteria that need one moment per side, for
criteria that need the weight of each class, and for class weights that are numbers of rows; see
`odrf.engine.splits.impurity.Node`.  `left` is scratch for the class weights on the left side; it is
None if moments are enough.  As None has a type of its own in Numba, only the kernels needed are
compiled.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, kernel, part, summing
from odrf.engine.numeric import POSITION, VALUE_SHIFT, extremes, uniform, value_of
from odrf.engine.splits.impurity import (
    ENTROPY,
    GINI,
    class_gain,
    counted,
    counts_gain,
    gain_of_counts,
    is_allowed,
    moment_gain,
    node_moments,
)


@part
def midpoint(low, high):
    """Return a threshold with low ≤ threshold < high, their midpoint where floats allow."""
    middle = np.float32(0.5) * low + np.float32(0.5) * high
    return middle if low <= middle < high else low


@part
def _scan_moments(keys, lane, lanes, n, node, left_weight, left_rows, moment, min_leaf):
    """Return (gain, i) of the best cut after row i of a lane, -1 for none, from sums left of it."""
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
    """Return Σ `counted` of both sides, `left` (K,), and the baseline of `counts_gain`."""
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
    """Return (gain, threshold) of the best cut of m sorted keys; `sums` are of `sums_beside`."""
    if left is not None:
        for k in range(len(left)):
            left[k] = 0.0
    return best_of_some(keys, lane, lanes, m, left, node, 0.0, ZERO, 0.0, sums, min_leaf)


@part
def best_of_some(keys, lane, lanes, m, left, node, left_weight, left_rows, moment, sums, min_leaf):
    """As `best_of_lane`, where sums are those of other rows, left of all keys."""
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


# The best of a few random thresholds of a projection, as in extremely randomised trees.

# Up to so many classes one pass over the rows for each is quicker than one for all.
FEW_CLASSES = 8
# So many thresholds are evaluated in one pass over the rows, if there are more classes than FEWER.
TOGETHER, FEWER = 3, 3


@summing
def _left_sums(values, threshold, weights, counts):
    """Return weight and number of the rows whose values (m,) are at most the threshold."""
    weight, n_rows = 0.0, 0.0
    for i in range(np.uint64(len(values))):
        goes_left = 1.0 if values[i] <= threshold else 0.0
        weight += goes_left * weights[i]
        n_rows += goes_left * counts[i]
    return weight, n_rows


@summing
def _left_weight(values, threshold, weights):
    """Return the weight of the rows whose values (m,) are at most the threshold."""
    weight = 0.0
    for i in range(np.uint64(len(values))):
        weight += weights[i] if values[i] <= threshold else 0.0
    return weight


@summing
def _left_moment(values, threshold, moments):
    """Return the sum of the moments of the rows whose values (m,) are at most the threshold."""
    moment = 0.0
    for i in range(np.uint64(len(values))):
        moment += moments[i] if values[i] <= threshold else 0.0
    return moment


@summing
def _left_class(values, threshold, y, weights, k):
    """Return the weight of class k in the rows with values up to the threshold."""
    weight = 0.0
    for i in range(np.uint64(len(values))):
        weight += weights[i] if values[i] <= threshold and y[i] == k else 0.0
    return weight


@part
def _left_classes(values, threshold, node, left):
    """Write to left (K,) the class weights of the rows with values up to the threshold.

    Sums of whole numbers are the same in any order: so those of few classes are added up in SIMD
    lanes, one class after another.
    """
    if node.unit and len(left) <= FEW_CLASSES:
        for k in range(len(left)):
            left[k] = _left_class(values, threshold, node.y, node.weights, float(k))
        return
    for k in range(len(left)):
        left[k] = 0.0
    for i in range(np.uint64(len(values))):
        left[np.uint64(node.y[i])] += node.weights[i] if values[i] <= threshold else 0.0


@part
def _left_classes_of_three(values, thresholds, node, K, table):
    """Write to table[:3, :K] the class weights left of three thresholds; return the row of each.

    A row of the node is added where as many thresholds are below its value; what is left of a
    threshold is the sum up to as many as are below the threshold.  Weights are whole numbers.
    """
    first, second, third = thresholds
    for b in range(TOGETHER + 1):
        for k in range(K):
            table[b, k] = 0.0
    for i in range(np.uint64(len(values))):
        value = values[i]
        below = np.uint64(value > first) + np.uint64(value > second) + np.uint64(value > third)
        table[below, np.uint64(node.y[i])] += node.weights[i]
    for b in range(1, TOGETHER):
        for k in range(K):
            table[b, k] += table[b - 1, k]
    return (
        np.int64(second < first) + np.int64(third < first),
        np.int64(first < second) + np.int64(third < second),
        np.int64(first < third) + np.int64(second < third),
    )


@part
def draw_threshold(state, low, high):
    """Return a random number between the least and the largest value."""
    threshold = np.float32(low + np.float32(uniform(state)) * (high - low))
    return min(max(threshold, low), high)


@kernel
def random_cut(state, values, left, table, node, n_thresholds, min_leaf):
    """Return (gain, threshold) of the best of `n_thresholds` random thresholds of `values` (m,).

    Thresholds are uniform between the least and the largest value (Geurts, Ernst and Wehenkel
    2006).  Just as many random numbers are drawn if these are equal.  left (K,) is scratch, or None
    as in `best_of_lane`; so is table (≥ 4, ≥ K).  Of equal gains the first is
    chosen.  A gain of 0 means that no threshold is allowed or that none decreases the impurity.
    """
    low, high = extremes(values)
    best, chosen, n = 0.0, np.float32(0.0), 0
    baseline = _baseline(left, node)
    while n < n_thresholds:
        # two conditions: Numba leaves out what is behind the first one where `left` is None
        if left is not None:  # noqa: SIM102
            if n_thresholds - n >= TOGETHER and node.unit and len(left) > FEWER:
                best, chosen = _better_of_three(
                    state, values, low, high, left, table, node, baseline, min_leaf, best, chosen
                )
                n += TOGETHER
                continue
        threshold = draw_threshold(state, low, high)
        gain = _gain(values, threshold, left, node, baseline, min_leaf)
        if gain > best:
            best, chosen = gain, threshold
        n += 1
    return best, chosen


@part
def _baseline(left, node):
    """Return the baseline of `counts_gain`, where it is used."""
    if left is None:
        return 0.0
    if not (node.unit and node.criterion == ENTROPY):
        return 0.0
    for k in range(len(left)):
        left[k] = 0.0
    return sums_of_counts(left, node)[2]


@part
def _better_of_three(state, values, low, high, left, table, node, baseline, min_leaf, best, chosen):
    """Return the larger of the gain `best` and those of three random thresholds; and where."""
    thresholds = (
        draw_threshold(state, low, high),
        draw_threshold(state, low, high),
        draw_threshold(state, low, high),
    )
    at = _left_classes_of_three(values, thresholds, node, len(left), table)
    for i in range(TOGETHER):
        of_left = table[at[i], : len(left)]
        weight = 0.0
        for k in range(len(left)):
            weight += of_left[k]
        if is_allowed(weight, weight, node.weight, node.n_rows, min_leaf, node.lightest):
            gain = _gain_of_classes(of_left, weight, node, baseline)
            if gain > best:
                best, chosen = gain, thresholds[i]
    return best, chosen


@part
def _gain(values, threshold, left, node, baseline, min_leaf):
    """Return the gain of a threshold, 0 if not allowed; numbers of rows are not added up twice."""
    if left is None or not node.unit:
        if node.unit:
            weight = n_rows = _left_weight(values, threshold, node.weights)
        else:
            weight, n_rows = _left_sums(values, threshold, node.weights, node.counts)
        if not is_allowed(weight, n_rows, node.weight, node.n_rows, min_leaf, node.lightest):
            return 0.0
    if left is None:
        second, baseline = node_moments(node)
        moment = _left_moment(values, threshold, node.moments)
        gain = moment_gain(moment, weight, node.weight, second, node.criterion, node.logs)
        return node.factor * (gain - baseline)
    _left_classes(values, threshold, node, left)
    if node.unit:
        weight = 0.0
        for k in range(len(left)):
            weight += left[k]
        if not is_allowed(weight, weight, node.weight, node.n_rows, min_leaf, node.lightest):
            return 0.0
    return _gain_of_classes(left, weight, node, baseline)


@part
def _gain_of_classes(left, left_weight, node, baseline):
    """Return the gain from class weights `left` (K,); logarithms of whole numbers are looked up."""
    value, weight, criterion = node.value, node.weight, node.criterion
    if node.unit and criterion == ENTROPY:
        return gain_of_counts(left, left_weight, value, weight, baseline, criterion, node.logs)
    return class_gain(left, left_weight, value, weight, criterion)
