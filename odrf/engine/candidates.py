"""The candidate directions of a node: single predictors, and directions on random subsets.

Zhan, Liu and Xia, section 5: each direction is estimated on its own random subset of q
predictors, q fixed or uniform on 1 … min(⌈N(A)^0.4⌉, P).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import inlined, kernel
from odrf.engine.directions import lda, least_squares, level_means, logistic, normalise, related
from odrf.engine.randomness import below, shuffle_front, uniform

__all__ = [
    "BASIS",
    "INDICATORS",
    "LDA",
    "LEAST_SQUARES",
    "LOGISTIC",
    "PLAIN",
    "Blocks",
    "direction_on_single",
    "direction_on_subset",
    "draw_size",
]

LOGISTIC, LEAST_SQUARES, LDA = 0, 1, 2
PLAIN, INDICATORS, BASIS = 0, 1, 2


class Blocks(NamedTuple):
    """Which columns make up each predictor.

    Attributes
    ----------
    first : (P + 1,) int64
        Predictor j owns the columns ``first[j]:first[j + 1]``.
    types : (P,) int8
        `PLAIN` (one column), `INDICATORS` (one 0/1 column per level) or `BASIS` (several
        numeric columns, such as a spline).
    """

    first: np.ndarray
    types: np.ndarray


@kernel
def draw_size(state, rows, subset_size, n_predictors):
    """Return the size q of a random subset; `subset_size` 0 stands for a random one."""
    if subset_size > 0:
        return subset_size
    largest = int(np.ceil(rows**0.4 - 1e-9))
    return 1 + below(state, min(largest, n_predictors))


@kernel
def _draw_classes(state, y, a, n_classes):
    """Draw the classes (K,) that a direction sets apart from the others present in y.

    One class in proportion to its weight; with three or more present, as often a random
    proper group of them.  All False when fewer than two are present.
    """
    weight = np.zeros(n_classes)
    for i in range(len(y)):
        weight[int(y[i])] += a[i]
    present = np.nonzero(weight)[0]
    chosen = np.zeros(n_classes, dtype=np.bool_)
    if len(present) < 2:
        return chosen
    if len(present) == 2:
        chosen[present[1]] = True
        return chosen
    if uniform(state) < 0.5:
        point = uniform(state) * weight.sum()
        at = 0
        while at < len(present) - 1 and point >= weight[present[at]]:
            point -= weight[present[at]]
            at += 1
        chosen[present[at]] = True
        return chosen
    while True:
        size = 0
        for k in present:
            chosen[k] = uniform(state) < 0.5
            size += chosen[k]
        if 0 < size < len(present):
            return chosen


@kernel
def _draw_target(state, y, a, n_classes, t):
    """Write the target t (m,) in [0, 1] that a direction is to predict; False if constant.

    A numeric response is mapped linearly from its extremes; for classes the target marks
    those of a random side.
    """
    if n_classes == 1:
        low = high = y[0]
        for response in y:
            low, high = min(low, response), max(high, response)
        if not high > low:
            return False
        for i in range(len(y)):
            t[i] = (y[i] - low) / (high - low)
        return True
    chosen = _draw_classes(state, y, a, n_classes)
    found = False
    for i in range(len(y)):
        t[i] = 1.0 if chosen[int(y[i])] else 0.0
        found = found or chosen[int(y[i])]
    return found


@inlined
def _sample_rows(state, rows, y, weights, limit):
    """Return rows, responses and weights of at most `limit` rows, drawn with replacement."""
    m = len(rows)
    if m <= limit:
        return rows, y, weights
    sample = np.empty(limit, dtype=np.int64)
    sample_y, sample_weights = np.empty(limit), np.empty(limit)
    for i in range(limit):
        at = below(state, m)
        sample[i], sample_y[i], sample_weights[i] = rows[at], y[at], weights[at]
    return sample, sample_y, sample_weights


@kernel
def _gather(X, rows, columns):
    Z = np.empty((len(rows), len(columns)))
    for j in range(len(columns)):
        for i in range(len(rows)):
            Z[i, j] = X[columns[j], rows[i]]
    return Z


@inlined
def _estimate(state, X, rows, y, weights, columns, family, n_classes, limit, theta):
    """Estimate a direction θ (d,) of length 1 on `columns`; False when there is none."""
    sample, sample_y, a = _sample_rows(state, rows, y, weights, limit)
    t = np.empty(len(sample))
    if not _draw_target(state, sample_y, a, n_classes, t):
        return False
    Z = _gather(X, sample, columns)
    if not related(Z, t, a):
        return False
    if family == LOGISTIC:
        logistic(Z, t, a, theta)
    elif family == LEAST_SQUARES:
        least_squares(Z, t, a, theta)
    else:
        lda(Z, t, a, sample_y, n_classes, theta)
    return normalise(theta)


@inlined
def direction_on_subset(state, X, rows, y, weights, blocks, order, q, settings):
    """Return columns and direction on a random subset of q predictors; empty when none fits.

    `order` (P,) is the scratch permutation of predictors that the subset is drawn from.
    """
    shuffle_front(state, order, q)
    width = 0
    for j in order[:q]:
        width += blocks.first[j + 1] - blocks.first[j]
    columns = np.empty(width, dtype=np.int64)
    at = 0
    for j in order[:q]:
        for column in range(blocks.first[j], blocks.first[j + 1]):
            columns[at] = column
            at += 1
    theta = np.ones(width)
    if width > 1 and not _estimate(
        state,
        X,
        rows,
        y,
        weights,
        columns,
        settings.family,
        settings.n_classes,
        max(settings.direction_rows, 10 * width),
        theta,
    ):
        return columns[:0], theta[:0]
    return columns, theta


@inlined
def direction_on_single(state, X, rows, y, weights, blocks, j, n_classes):
    """Return columns and direction of predictor j alone; empty when it offers none.

    One column is its own direction.  A factor's levels are ordered by their mean target, the
    columns of a basis combined by least squares, both on all rows of the node.
    """
    columns = np.arange(blocks.first[j], blocks.first[j + 1])
    theta = np.ones(len(columns))
    if len(columns) == 1:
        return columns, theta
    t = np.empty(len(rows))
    if not _draw_target(state, y, weights, n_classes, t):
        return columns[:0], theta[:0]
    Z = _gather(X, rows, columns)
    if not related(Z, t, weights):
        return columns[:0], theta[:0]
    if blocks.types[j] == INDICATORS:
        level_means(Z, t, weights, theta)
    else:
        least_squares(Z, t, weights, theta)
    if not normalise(theta):
        return columns[:0], theta[:0]
    return columns, theta
