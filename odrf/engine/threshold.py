"""The best threshold along one projection: sort, then one scan of the impurity gain.

Gains after Zhan, Liu and Xia, equation (2.1), and its Gini and entropy counterparts, all per
unit of weight in the node: Δ = I(A) - P(A_L)·I(A_L) - P(A_R)·I(A_R).
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import inlined, kernel
from odrf.engine.sorting import sort_with

__all__ = ["ENTROPY", "GINI", "SQUARED_ERROR", "best_threshold", "impurity"]

SQUARED_ERROR, GINI, ENTROPY = 0, 1, 2
# A side with less than this share of a node's weight is lost to rounding: no gain can be told.
NEGLIGIBLE = 1e-12


@kernel
def _xlogx(x):
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def impurity(shares, criterion):
    """Return the Gini index or the entropy (natural logarithm) of class `shares` (K,)."""
    total = 0.0
    for share in shares:
        total += _xlogx(share) if criterion == ENTROPY else share * share
    return -total if criterion == ENTROPY else 1.0 - total


@kernel
def _between(low, high):
    """Return a threshold with low ≤ threshold < high, their midpoint where floats allow."""
    middle = 0.5 * (low + high)
    return middle if low <= middle < high else low


@kernel
def _scan_squared_error(values, items, y, weights, counts, mean, total, rows, min_leaf):
    """Scan for a numeric response: with S the left sum of w·(y - mean), Δ = S²/(W_L·W_R)."""
    best, at, lightest = 0.0, -1, NEGLIGIBLE * total
    left, left_rows, shift = 0.0, 0, 0.0
    for i in range(len(values) - 1):
        row = items[i]
        left += weights[row]
        left_rows += counts[row]
        shift += weights[row] * (y[row] - mean)
        enough = left_rows >= min_leaf and rows - left_rows >= min_leaf
        if values[i + 1] > values[i] and enough and lightest < left < total - lightest:
            gain = shift * shift / (left * (total - left))
            if gain > best:
                best, at = gain, i
    return best, at


@kernel
def _scan_gini(values, items, y, weights, counts, shares, total, rows, min_leaf):
    """Scan for classes: sums of squared class weights on both sides, updated row by row."""
    left_class = np.zeros(len(shares))
    right_class = shares * total
    right_squares = np.sum(right_class * right_class)
    base = right_squares / total
    best, at, lightest = 0.0, -1, NEGLIGIBLE * total
    left, left_rows, left_squares = 0.0, 0, 0.0
    for i in range(len(values) - 1):
        row = items[i]
        k = int(y[row])
        w = weights[row]
        left += w
        left_rows += counts[row]
        left_squares += w * (2.0 * left_class[k] + w)
        right_squares += w * (w - 2.0 * right_class[k])
        left_class[k] += w
        right_class[k] -= w
        enough = left_rows >= min_leaf and rows - left_rows >= min_leaf
        if values[i + 1] > values[i] and enough and lightest < left < total - lightest:
            gain = (left_squares / left + right_squares / (total - left) - base) / total
            if gain > best:
                best, at = gain, i
    return best, at


@kernel
def _scan_entropy(values, items, y, weights, counts, shares, total, rows, min_leaf):
    """Scan for classes: sums of W_k·log W_k on both sides, updated row by row."""
    left_class = np.zeros(len(shares))
    right_class = shares * total
    right_sum = 0.0
    for k in range(len(shares)):
        right_sum += _xlogx(right_class[k])
    base = _xlogx(total) - right_sum
    best, at, lightest = 0.0, -1, NEGLIGIBLE * total
    left, left_rows, left_sum = 0.0, 0, 0.0
    for i in range(len(values) - 1):
        row = items[i]
        k = int(y[row])
        w = weights[row]
        left += w
        left_rows += counts[row]
        left_sum += _xlogx(left_class[k] + w) - _xlogx(left_class[k])
        right_sum += _xlogx(right_class[k] - w) - _xlogx(right_class[k])
        left_class[k] += w
        right_class[k] -= w
        enough = left_rows >= min_leaf and rows - left_rows >= min_leaf
        if values[i + 1] > values[i] and enough and lightest < left < total - lightest:
            remaining = _xlogx(left) - left_sum + _xlogx(total - left) - right_sum
            gain = (base - remaining) / total
            if gain > best:
                best, at = gain, i
    return best, at


@inlined
def best_threshold(values, items, y, weights, counts, value, total, rows, criterion, min_leaf):
    """Return (gain, threshold) of the best split of a node along its projected `values`.

    Parameters
    ----------
    values : (m,) float64
        The node's rows projected on a direction; sorted here in place.
    items : (m,) int64
        Scratch for the rows' positions.
    y, weights, counts : (m,)
        Response (or class code), weight and multiplicity of the node's rows.
    value : (K,) float64
        The node's mean response (K = 1) or class proportions.
    total : float
        Sum of the node's weights.
    rows : int
        N(A), the sum of its multiplicities.
    criterion : int
        `SQUARED_ERROR`, `GINI` or `ENTROPY`.
    min_leaf : int
        Rows that each side must have, multiplicities counted.

    Returns
    -------
    gain, threshold : float
        The first maximum, from the left, of the gain; a gain of 0 means that no split is
        allowed or none reduces the impurity.
    """
    for i in range(len(values)):
        items[i] = i
    sort_with(values, items, len(values))
    node = (values, items, y, weights, counts)
    if criterion == SQUARED_ERROR:
        gain, at = _scan_squared_error(*node, value[0], total, rows, min_leaf)
    elif criterion == GINI:
        gain, at = _scan_gini(*node, value, total, rows, min_leaf)
    else:
        gain, at = _scan_entropy(*node, value, total, rows, min_leaf)
    if at < 0:
        return 0.0, 0.0
    return gain, _between(values[at], values[at + 1])
