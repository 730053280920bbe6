"""The candidate directions of a node: single predictors, and directions on random subsets.

Zhan, Liu and Xia, section 5: each direction is estimated on its own random subset of q
predictors, q fixed or uniform on 1 … min(⌈N(A)^0.4⌉, P).  A predictor of one column is its own
direction; a factor's levels are ordered by their mean target, the columns of a basis combined
by least squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions import (
    centre,
    covariances,
    lda,
    least_squares,
    level_means,
    logistic,
    normalise,
)
from odrf.engine.randomness import below, shuffle_front, uniform
from odrf.engine.rows import load

__all__ = [
    "BASIS",
    "INDICATORS",
    "LDA",
    "LEAST_SQUARES",
    "LEVEL_MEANS",
    "LOGISTIC",
    "PLAIN",
    "SPARSE",
    "Blocks",
    "Candidate",
    "columns_of_predictor",
    "columns_of_subset",
    "estimate",
    "sparse_direction",
]

LOGISTIC, LEAST_SQUARES, LDA, SPARSE, LEVEL_MEANS = 0, 1, 2, 3, 4
PLAIN, INDICATORS, BASIS = 0, 1, 2
# Fewer rows do not tell a logistic model from its linear limit, least squares.
LOGISTIC_ROWS = 50
# From here on the binomial's relative spread is small, and its inversion would underflow.
MANY_NONZEROS = 500


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


class Candidate(NamedTuple):
    """A direction as it is proposed: scratch for up to W columns.

    Attributes
    ----------
    columns : (W,) int64
    theta : (W,) float32
    """

    columns: np.ndarray
    theta: np.ndarray


@part
def _draw_size(state, rows, subset_size, n_predictors):
    """Return the size q of a random subset; `subset_size` 0 stands for a random one."""
    if subset_size > 0:
        return subset_size
    largest = int(np.ceil(rows**0.4 - 1e-9))
    return 1 + below(state, min(largest, n_predictors))


@kernel
def _draw_classes(state, y, a, n_classes):
    """Draw the classes (K,) that a direction sets apart from the others present in y (m,).

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


@part
def _draw_target(state, y, a, n_classes, t):
    """Write the target in [0, 1] that a direction is to predict to t; False if y is constant.

    A numeric response is mapped linearly from its extremes; for classes the target marks
    those of a random side.
    """
    low = high = y[0]
    for response in y:
        low, high = min(low, response), max(high, response)
    if not high > low:
        return False
    if n_classes <= 2:
        for i in range(len(y)):
            t[i] = (y[i] - low) / (high - low)
        return True
    chosen = _draw_classes(state, y, a, n_classes)
    for i in range(len(y)):
        t[i] = 1.0 if chosen[int(y[i])] else 0.0
    return True


@part
def columns_of_subset(state, n_rows, blocks, order, subset_size, columns):
    """Write the columns of a random subset of predictors; return their number.

    order (P,) is the scratch permutation of predictors that the subset is drawn from.
    """
    q = _draw_size(state, n_rows, subset_size, len(order))
    shuffle_front(state, order, q)
    width = 0
    for i in range(q):
        for column in range(blocks.first[order[i]], blocks.first[order[i] + 1]):
            columns[width] = column
            width += 1
    return width


@part
def columns_of_predictor(blocks, j, columns):
    """Write the columns of predictor j; return their number."""
    width = blocks.first[j + 1] - blocks.first[j]
    for k in range(width):
        columns[k] = blocks.first[j] + k
    return width


@part
def estimate(state, rows, lo, m, candidate, width, estimator, settings, work):
    """Estimate a direction on the candidate's columns; return their number, 0 without one.

    It is estimated on the first of the node's m rows, which are in random order, up to
    `settings.direction_rows` or ten per column; a logistic one on few rows by least squares.
    """
    m = min(m, max(settings.direction_rows, 10 * width))
    Z, t, theta, product = work.Z, work.target, work.theta, work.product
    y, a = rows.y[lo : lo + m], rows.weights[lo : lo + m]
    if not _draw_target(state, y, a, settings.n_classes, t):
        return 0
    total = 0.0
    for i in range(m):
        total += a[i]
    for j in range(width):
        load(rows, lo, m, candidate.columns[j], Z, j)
    if estimator == LEVEL_MEANS:
        level_means(Z, width, m, t, a, total, theta)
    else:
        centre(Z, width, m, a, total)
        if not covariances(Z, width, m, t, a, total, product, theta):
            return 0
        if estimator == LOGISTIC and m >= LOGISTIC_ROWS:
            logistic(Z, width, m, t, a, total, settings.newton_steps, work, theta)
        elif estimator != LDA:
            least_squares(Z, width, m, a, work, theta)
        else:
            lda(Z, width, m, t, a, y, settings.n_classes, total, work, theta)
    if not normalise(theta, width):
        return 0
    for j in range(width):
        candidate.theta[j] = theta[j]
    return width


@kernel
def sparse_direction(state, order, density, columns, theta):
    """Write a column of SPORF's matrix; return its number of nonzeros (Tomita et al. 2020).

    ⌈λpd⌉ nonzeros placed uniformly in p × d leave each column a number of them that is close
    to Binomial(p, λ); it is drawn as such, by inversion, columns without any left out.  Each
    is ±1 with equal chance, before scaling to length 1.  order (p,) is scratch.
    """
    p = len(order)
    q = int(np.rint(density * p))
    if q <= MANY_NONZEROS and density < 1.0:
        share = (1.0 - density) ** p
        point = share + uniform(state) * (1.0 - share)
        q, reached = 0, share
        while reached <= point and q < p:
            share *= (p - q) / (q + 1.0) * density / (1.0 - density)
            q += 1
            reached += share
    shuffle_front(state, order, q)
    size = np.float32(1.0 / np.sqrt(q))
    for j in range(q):
        columns[j] = order[j]
        theta[j] = size if uniform(state) < 0.5 else -size
    return q
