"""Sums over bins, cuts between them, and trees put together: row by row, and node by node."""

from __future__ import annotations

import numpy as np

from reference.crowded_bins import of_most_rows

__all__ = [
    "best_split_of_bins",
    "bin_of_value",
    "fine_bin_of_value",
    "joined_tree",
    "projection_of_row",
    "range_of_most",
    "sums_of_bins",
    "sums_of_sides",
]

INNER, FINE, FILL = 254, 2048, 1e31


def projection_of_row(x, columns, theta):
    """Σ θ·x, added in float32 in the order of the columns."""
    total = np.float32(0.0)
    for column, coefficient in zip(columns, theta, strict=True):
        total = np.float32(total + np.float32(coefficient * x[column]))
    return total


def bin_of_value(value, low, high, scale):
    """0 below the range, 255 above it, and between them bins of equal width."""
    if value < low:
        return 0
    if value > high:
        return INNER + 1
    return 1 + min(int(np.float32(np.float32(value - low) * scale)), INNER - 1)


def range_of_most(values):
    """The range of the values, or of nine tenths of them as long as these share a bin."""
    is_tied = of_most_rows(values) is not None
    values = values[np.abs(values) < FILL]
    low, high = values.min(), values.max()
    if is_tied:
        return low, high
    while high > low:
        scale = np.float32(INNER) / np.float32(high - low)
        inside = values[(values >= low) & (values <= high)]
        bins = [min(int(np.float32(np.float32(v - low) * scale)), INNER - 1) for v in inside]
        fullest = inside[np.array(bins) == np.bincount(bins).argmax()]
        if 10 * len(fullest) <= 9 * len(values) or fullest.min() == fullest.max():
            break
        low, high = fullest.min(), fullest.max()
    return low, high


def fine_bin_of_value(value, b, low, scale):
    """The part of bin b; the outer bins only tell missing values from others."""
    if b == 0:
        return 0 if value <= -FILL else FINE - 1
    if b == INNER + 1:
        return 0 if value < FILL else FINE - 1
    place = (float(value) - float(low)) * float(scale) - (b - 1)
    return int(np.clip(place * FINE, 0, FINE - 1))


def sums_of_bins(bins, y, weights, centre, n_bins, n_classes, unit):
    """Sums by bin: rows, then moments and weights, or the weights of classes."""
    width = 1 + n_classes if n_classes > 2 else 2 if unit else 3
    sums = np.zeros((n_bins, width))
    for b, response, weight in zip(bins, y, weights, strict=True):
        sums[b, 0] += 1
        if n_classes > 2:
            sums[b, 1 + int(response)] += weight
        else:
            sums[b, 1] += weight * (response - centre)
            if not unit:
                sums[b, 2] += weight
    return sums


def _impurity(y, weights, n_classes, criterion):
    if n_classes == 1:
        return np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
    shares = np.array([weights[y == k].sum() for k in range(n_classes)]) / weights.sum()
    if criterion == "ordinal":
        reached = np.cumsum(shares)[:-1]
        return np.sum(reached * (1 - reached))
    if criterion == "entropy":
        return -np.sum(shares[shares > 0] * np.log(shares[shares > 0]))
    return 1 - np.sum(shares**2)


def best_split_of_bins(bins, y, weights, n_bins, n_classes, criterion, min_leaf):
    """The largest decrease of the impurity, and that of the cut after each bin (0: not allowed).

    The cut after a bin without rows is that of the bin before.
    """
    gains = np.zeros(n_bins)
    for b in range(n_bins - 1):
        left = bins <= b
        if not (bins == b).any() or min(left.sum(), (~left).sum()) < max(min_leaf, 1):
            continue
        parts = [
            weights[side].sum() * _impurity(y[side], weights[side], n_classes, criterion)
            for side in (left, ~left)
        ]
        gains[b] = _impurity(y, weights, n_classes, criterion) - sum(parts) / weights.sum()
    return gains.max(), gains


def sums_of_sides(goes_left, y, weights, centre, n_classes):
    """Sums of the left and of the right side, with their smallest and largest responses."""
    sums = np.zeros((2, 4 if n_classes == 1 else 2 + n_classes))
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for left, response, weight in zip(goes_left, y, weights, strict=True):
        side = 0 if left else 1
        sums[side, :2] += 1, weight
        if n_classes == 1:
            off = response - centre
            sums[side, 2:] += weight * off, weight * off**2
        else:
            sums[side, 2 + int(response)] += weight
        low[side], high[side] = min(low[side], response), max(high[side], response)
    return sums, low, high


def joined_tree(crown, branches, max_leaves):
    """The nodes breadth-first: for each its value and, if it is split, threshold, terms and gain.

    `crown` and `branches` are forests of one tree; a branch takes the place of a node.
    """

    def at(tree, i):
        return (branches[i], 0) if tree is crown and i in branches else (tree, i)

    queue, found, leaves = [at(crown, 0)], [], 1
    while queue:
        tree, i = queue.pop(0)
        left = int(tree.left[i])
        if left < 0 or leaves >= max_leaves:
            found.append((float(tree.value[i, 0]), None))
            continue
        leaves += 1
        terms = slice(tree.start[i], tree.start[i + 1])
        split = (tree.threshold[i], tuple(tree.index[terms]), tuple(tree.coef[terms]), tree.gain[i])
        found.append((float(tree.value[i, 0]), split))
        queue += [at(tree, left), at(tree, left + 1)]
    return found
