"""Cuts along one factor, and where the levels go that a node does not have.

All rows of a level have the same projection.  So one pass over the levels of a node's rows is
enough: there is nothing to project, to bin or to sort but the levels.  A row without any of the
direction's levels has the projection 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ONE, ZERO, kernel, merged, part
from odrf.engine.directions.candidates import FEW_LEVELS, INDICATORS, FeatureGroups, has_levels
from odrf.engine.numeric import POSITION, VALUE_SHIFT, key_of, sort_keys
from odrf.engine.rows import level_at, project
from odrf.engine.splits.impurity import (
    class_gain,
    gain_of_counts,
    is_allowed,
    moment_gain,
    node_moments,
)
from odrf.engine.splits.thresholds import draw_threshold, sums_of_counts, threshold_after

# Columns of the sums where one moment is enough.
MOMENT, ROWS, WEIGHT = 0, 1, 2


class LevelSums(NamedTuple):
    """Scratch for sums over the rows of each level, for factors of up to L levels.

    `slot` (L + 1,): 1 + the number of the term that has a level; 0 for levels without one, and
    between calls.  `sums` (K, 2): for each slot the weights of the classes, and the number of rows
    if it is not their sum; or moment, number of rows and weight.  `values` (L + 1,): the projection
    of each slot.  `keys` (L + 1,): the slots that have rows, in the order of their projections.
    """

    slot: np.ndarray
    sums: np.ndarray
    values: np.ndarray
    keys: np.ndarray


def level_sums_for(feature_groups: FeatureGroups, K: int) -> LevelSums:
    """Allocate the scratch for the factors among these predictors, and K classes."""
    L = int(np.diff(feature_groups.first)[has_levels(feature_groups)].max(initial=0))
    return LevelSums(
        np.zeros(L + 1, dtype=np.int32), np.empty((L + 1, max(K, 2) + 1)),
        np.empty(L + 1, dtype=np.float32), np.empty(L + 1, dtype=np.uint64),
    )  # fmt: skip


@part
def factor_of(place, columns, c, size, levels):
    """Return the factor of all columns of direction c; -1 if there is none, or `levels` is None."""
    if levels is None:
        return -1
    if len(place) == 0 or size == 0 or place[columns[c, 0]] >= 0:
        return -1
    first = place[columns[c, 0]]
    for j in range(1, size):
        if place[columns[c, j]] != first:
            return -1
    return -1 - first


@merged
def _add_up(rows, lo, f, node, left, levels, n):
    """Write the sums of the first n slots."""
    codes, slot, sums, first = rows.codes[f], levels.slot, levels.sums, np.uint64(lo)
    y, weights, counts, moments = node.y, node.weights, node.counts, node.moments
    for number in range(n):
        for k in range(sums.shape[1]):
            sums[number, k] = 0.0
    last = np.uint64(sums.shape[1] - 1)
    for i in range(np.uint64(len(y))):
        at = first + i if rows.copied else np.uint64(rows.at[first + i])
        s = np.uint64(slot[np.uint64(codes[at])])
        if left is None:
            sums[s, MOMENT] += moments[i]
            sums[s, ROWS] += counts[i]
            if not node.unit:
                sums[s, WEIGHT] += weights[i]
        else:
            sums[s, np.uint64(y[i])] += weights[i]
            if not node.unit:
                sums[s, last] += counts[i]


@merged
def _tabulate(rows, lo, f, node, columns, theta, c, size, left, levels):
    """Write sums, projections, unsorted keys of direction c's slots; return their number."""
    level, values, n_slots, used = rows.level, levels.values, size + 1, 0
    values[0] = 0.0
    for j in range(size):
        levels.slot[level[columns[c, j]]] = j + 1
        values[j + 1] = theta[c, j]
    _add_up(rows, lo, f, node, left, levels, n_slots)
    for j in range(size):
        levels.slot[level[columns[c, j]]] = 0
    for s in range(n_slots):
        n_rows = levels.sums[s, ROWS if left is None else levels.sums.shape[1] - 1]
        if left is not None and node.unit:
            n_rows = 0.0
            for k in range(len(left)):
                n_rows += levels.sums[s, k]
        if n_rows > 0.0:
            levels.keys[used] = key_of(values[s], s)
            used += 1
    return used


@merged
def _move_left(sums, s, left, unit, weight, n_rows, moment):
    """Add slot s to the sums of the left side: weight, number of rows and moment, and `left`."""
    if left is None:
        n_rows += sums[s, ROWS]
        return weight + sums[s, ROWS if unit else WEIGHT], n_rows, moment + sums[s, MOMENT]
    moved = 0.0
    for k in range(len(left)):
        left[k] += sums[s, k]
        moved += sums[s, k]
    return weight + moved, n_rows + (moved if unit else sums[s, sums.shape[1] - 1]), moment


@merged
def _gain(
    left_weight, left_rows, moment, left, value, weight, n_rows, factor, second, baseline,
    criterion, unit, logs, min_leaf, lightest,
):  # fmt: skip
    """Return Δ of a cut from the sums of its left side; 0 if it is not allowed."""
    if not is_allowed(left_weight, left_rows, weight, n_rows, min_leaf, lightest):
        return 0.0
    if left is None:
        gain = moment_gain(moment, left_weight, weight, second, criterion, logs)
        return factor * (gain - baseline)
    if not unit:
        return class_gain(left, left_weight, value, weight, criterion)
    return gain_of_counts(left, left_weight, value, weight, baseline, criterion, logs)


@merged
def _empty_left(left, node):
    """Empty the left side; return S of the node and the baseline of its gains, see `_gain`."""
    if left is None:
        return node_moments(node)
    for k in range(len(left)):
        left[k] = 0.0
    if not node.unit:
        return 0.0, 0.0
    _, _, baseline = sums_of_counts(left, node)
    return 0.0, baseline


@kernel
def best_cut_of_levels(rows, lo, f, node, columns, theta, c, size, left, levels, min_leaf):
    """Return (gain, threshold) of the best of all cuts of direction c, along factor f alone.

    The direction has `size` terms; the node's rows begin at `lo`.  left (K,) or None and `levels`
    are scratch.  Of equal gains the leftmost cut is chosen.  A gain of 0 means that no cut is
    allowed or that none decreases the impurity.
    """
    used = _tabulate(rows, lo, f, node, columns, theta, c, size, left, levels)
    keys, sums, best, at = levels.keys, levels.sums, 0.0, -1
    sort_keys(keys, used)
    second, baseline = _empty_left(left, node)
    weight, n_rows, moment = 0.0, 0.0, 0.0
    for i in range(used - 1):
        s = keys[i] & POSITION
        weight, n_rows, moment = _move_left(sums, s, left, node.unit, weight, n_rows, moment)
        if keys[i + 1] >> VALUE_SHIFT > keys[i] >> VALUE_SHIFT:
            gain = _gain(
                weight, n_rows, moment, left, node.value, node.weight, node.n_rows, node.factor,
                second, baseline, node.criterion, node.unit, node.logs, min_leaf, node.lightest,
            )  # fmt: skip
            if gain > best:
                best, at = gain, i
    return best, threshold_after(keys, ZERO, ONE, at)


@kernel
def random_cut_of_levels(
    state, rows, lo, f, node, columns, theta, c, size, left, n_thresholds, levels, min_leaf
):
    """As `best_cut_of_levels`, of random thresholds, see `random_cut`."""
    used = _tabulate(rows, lo, f, node, columns, theta, c, size, left, levels)
    keys, sums, values, best, chosen = levels.keys, levels.sums, levels.values, 0.0, np.float32(0.0)
    low = high = values[keys[0] & POSITION]
    for i in range(1, used):
        value = values[keys[i] & POSITION]
        low, high = min(low, value), max(high, value)
    for _ in range(n_thresholds):
        threshold = draw_threshold(state, low, high)
        second, baseline = _empty_left(left, node)
        weight, n_rows, moment = 0.0, 0.0, 0.0
        for i in range(used):
            s = keys[i] & POSITION
            if values[s] <= threshold:
                weight, n_rows, moment = _move_left(
                    sums, s, left, node.unit, weight, n_rows, moment
                )
        gain = _gain(
            weight, n_rows, moment, left, node.value, node.weight, node.n_rows, node.factor,
            second, baseline, node.criterion, node.unit, node.logs, min_leaf, node.lightest,
        )  # fmt: skip
        if gain > best:
            best, chosen = gain, threshold
    return best, chosen


# Where the levels go that a node does not have, if a factor is split alone.
# A split gives coefficients to levels.  A level without one has the projection 0, and so has a row
# without any level.  Whether 0 is left or right of the threshold is chance.  So coefficients and
# threshold are shifted, where need be, such that 0 lies on the side with more weight.


@part
def _factor_alone(feature_groups, columns, size):
    """Return the predictor of several columns if it is one factor, else -1."""
    first, low, high = feature_groups.first, 0, len(feature_groups.types)
    if size < 2:
        return -1
    while high - low > 1:
        middle = (low + high) // 2
        if first[middle] <= columns[0, 0]:
            low = middle
        else:
            high = middle
    if feature_groups.types[low] != INDICATORS:
        return -1
    for j in range(1, size):
        if not first[low] <= columns[0, j] < first[low + 1]:
            return -1
    return low


@part
def _add_many(rows, lo, m, column, columns, theta, size, values, seen):
    """Append the levels of rows whose projection is 0 to a direction of a factor of many levels.

    Their coefficient is 0.  Returns the number of columns, -1 if a row has no level; `seen` is
    False before and after.
    """
    f, before = -1 - rows.place[column], size
    for i in range(m):
        if values[i] != 0.0:
            continue
        level = level_at(rows, f, lo + i)
        if level == 0:
            size = -1
            break
        if not seen[level]:
            seen[level] = True
            columns[0, size], theta[0, size] = column + level - 1, 0.0
            size += 1
    for j in range(before, max(size, before)):
        seen[columns[0, j] - column + 1] = False
    return size


@part
def _add_few(rows, lo, m, first, last, columns, theta, size, values, proposals):
    """As `_add_many`, for a factor with the columns from `first` to before `last`."""
    without, before = 0, size
    for i in range(m):
        without += values[i] == 0.0
    for column in range(first, last):
        known = False
        for j in range(before):
            known = known or columns[0, j] == column
        if known:
            continue
        proposals.columns[0, 0], proposals.theta[0, 0] = column, 1.0
        project(rows, lo, m, proposals.columns, proposals.theta, ZERO, ONE, values)
        number = 0
        for i in range(m):
            number += values[i] > 0.5
        if number > 0:
            columns[0, size], theta[0, size] = column, 0.0
            size += 1
            without -= number
    return size if without == 0 else -1


@part
def _shift(theta, size, cut, to_left):
    """Shift the coefficients such that 0 is on the wanted side; return the threshold."""
    low, high, squares = -np.inf, np.inf, 0.0
    for j in range(size):
        if theta[0, j] <= cut:
            low = max(low, float(theta[0, j]))
        else:
            high = min(high, float(theta[0, j]))
    middle = 0.5 * (low + high)
    for j in range(size):
        squares += (theta[0, j] - middle) ** 2
    length = math.sqrt(squares)
    for j in range(size):
        theta[0, j] = (theta[0, j] - middle) / length
    return np.float32(0.0 if to_left else 0.5 * (low - middle) / length)


@part
def send_absent_levels(rows, lo, node, feature_groups, size, cut, scratch, levels):
    """Send levels that the node does not have to the side with more weight; the left one if equal.

    Only if the split, in scratch.columns and scratch.theta with `size` terms, is along one factor.
    Its rows, from `lo` on, stay on their sides.  scratch.values holds their projections, and again
    afterwards.  `levels` are those of the scratch, None if no predictor is a factor.  Returns the
    number of terms and the threshold.
    """
    if levels is None:
        return size, cut
    columns, theta, values, m = scratch.columns, scratch.theta, scratch.values, len(node.y)
    predictor = _factor_alone(feature_groups, columns, size)
    if predictor < 0:
        return size, cut
    left = 0.0
    for i in range(m):
        if values[i] <= cut:
            left += node.weights[i]
    to_left = 2.0 * left >= node.weight
    if to_left == (cut >= 0.0):
        return size, cut
    first, last = feature_groups.first[predictor], feature_groups.first[predictor + 1]
    if last - first > FEW_LEVELS:
        number = _add_many(
            rows, lo, m, first, columns, theta, size, values, scratch.work.levels.seen
        )
    else:
        number = _add_few(rows, lo, m, first, last, columns, theta, size, values, scratch.proposals)
    if number > 0:
        size, cut = number, _shift(theta, number, cut, to_left)
    project(rows, lo, m, columns, theta, ZERO, size, values)
    return size, cut
