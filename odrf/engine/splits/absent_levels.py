"""Where the levels go that a node does not have, if a factor is split alone.

A split gives coefficients to levels.  A level without one has the projection 0, and so has a row
without any level.  Whether 0 is left or right of the threshold is chance.  So coefficients and
threshold are shifted, where need be, such that 0 lies on the side with more weight.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import ONE, ZERO, part
from odrf.engine.directions.candidates import FEW_LEVELS, INDICATORS
from odrf.engine.rows.rows import level_at, project

__all__ = ["send_absent_levels"]


@part
def _factor_alone(feature_groups, columns, size):
    """Return the predictor of the columns if it is one factor, else -1.

    A single column is a level apart from all others, those absent among them.
    """
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
    """Shift the coefficients such that 0 is between both sides, on the left if `to_left`.

    They have length 1 afterwards.  Returns the threshold.
    """
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
