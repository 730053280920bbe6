"""The best of a few random thresholds of a projection, as in extremely randomised trees."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part, summing
from odrf.engine.extremes import extremes
from odrf.engine.randomness import uniform
from odrf.engine.splits.impurity import class_gain, is_allowed, moment_gain, node_moments

__all__ = ["draw_threshold", "random_cut"]

# Up to so many classes one pass over the rows for each is quicker than one for all.
FEW_CLASSES = 8


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
def draw_threshold(state, low, high):
    """Return a random number between the least and the largest value."""
    threshold = np.float32(low + np.float32(uniform(state)) * (high - low))
    return min(max(threshold, low), high)


@kernel
def random_cut(state, values, left, node, n_thresholds, min_leaf):
    """Return (gain, threshold) of the best of `n_thresholds` random thresholds of `values` (m,).

    Thresholds are uniform between the least and the largest value (Geurts, Ernst and Wehenkel
    2006).  Just as many random numbers are drawn if these are equal.  left (K,) is scratch, or None
    as in `odrf.engine.splits.scanning`.  Of equal gains the first is chosen.  A gain of 0 means
    that no threshold is allowed or that none decreases the impurity.
    """
    low, high = extremes(values)
    second, baseline = node_moments(node)
    best, chosen = 0.0, np.float32(0.0)
    for _ in range(n_thresholds):
        threshold = draw_threshold(state, low, high)
        weight, n_rows = _left_sums(values, threshold, node.weights, node.counts)
        if not is_allowed(weight, n_rows, node.weight, node.n_rows, min_leaf, node.lightest):
            continue
        if left is None:
            moment = _left_moment(values, threshold, node.moments)
            gain = moment_gain(moment, weight, node.weight, second, node.criterion, node.logs)
            gain = node.factor * (gain - baseline)
        else:
            _left_classes(values, threshold, node, left)
            gain = class_gain(left, weight, node.value, node.weight, node.criterion)
        if gain > best:
            best, chosen = gain, threshold
    return best, chosen
