"""The best of a few random thresholds of a projection, as in extremely randomised trees."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part, summing
from odrf.engine.extremes import extremes
from odrf.engine.randomness import uniform
from odrf.engine.splits.criteria import ENTROPY
from odrf.engine.splits.impurity import (
    class_gain,
    gain_of_counts,
    is_allowed,
    moment_gain,
    node_moments,
)
from odrf.engine.splits.scanning import sums_of_counts

__all__ = ["draw_threshold", "random_cut"]

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
    as in `odrf.engine.splits.scanning`; so is table (≥ 4, ≥ K).  Of equal gains the first is
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
    """Return the gain of a threshold; 0 if it is not allowed."""
    weight, n_rows = _left_sums(values, threshold, node.weights, node.counts)
    if not is_allowed(weight, n_rows, node.weight, node.n_rows, min_leaf, node.lightest):
        return 0.0
    if left is None:
        second, baseline = node_moments(node)
        moment = _left_moment(values, threshold, node.moments)
        gain = moment_gain(moment, weight, node.weight, second, node.criterion, node.logs)
        return node.factor * (gain - baseline)
    _left_classes(values, threshold, node, left)
    return _gain_of_classes(left, weight, node, baseline)


@part
def _gain_of_classes(left, left_weight, node, baseline):
    """Return the gain of a cut from the class weights (K,) on its left side.

    Logarithms of whole numbers are looked up.
    """
    value, weight, criterion = node.value, node.weight, node.criterion
    if node.unit and criterion == ENTROPY:
        return gain_of_counts(left, left_weight, value, weight, baseline, criterion, node.logs)
    return class_gain(left, left_weight, value, weight, criterion)
