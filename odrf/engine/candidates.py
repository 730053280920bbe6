"""The candidate directions of a node: single predictors, and directions on random subsets.

Zhan, Liu and Xia, section 5: each direction is estimated on its own random subset of q
predictors, q fixed or uniform on 1 … min(⌈N(A)^0.4⌉, P).  A predictor of one column is its own
direction; a factor's levels are scored by their mean target.  In a direction of several
predictors the scores of a factor of many levels are one column, those of few levels as many as
they are; the columns of a basis are combined by least squares.  Sparse directions have random
signs on a few columns (SPORF, Tomita et al. 2020).  Candidates are proposed in rounds, to be judged
together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, inlined, kernel, part
from odrf.engine.directions import (
    UNRELATED,
    covariances,
    lda,
    least_squares,
    level_means,
    logistic,
    moments,
    normalise,
)
from odrf.engine.randomness import below, shuffle_front, uniform
from odrf.engine.rows import load
from odrf.engine.settings import Settings

__all__ = [
    "BASIS",
    "FEW_LEVELS",
    "INDICATORS",
    "LDA",
    "LEAST_SQUARES",
    "LOGISTIC",
    "PLAIN",
    "ROUND",
    "Blocks",
    "Proposals",
    "draw_nonzeros",
    "proposals_for",
    "propose",
]

LOGISTIC, LEAST_SQUARES, LDA = 0, 1, 2
PLAIN, INDICATORS, BASIS = 0, 1, 2
# Fewer rows do not tell a logistic model from its linear limit, least squares.
LOGISTIC_ROWS = 50
# A factor of more levels is one column of scores in a direction of several predictors: as many
# coefficients as it has levels would cost much and be poorly determined.
FEW_LEVELS = 6
# Most candidates of a round: enough for the lanes of `sort_lanes`, few enough for the cache.
ROUND = 32


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


class Proposals(NamedTuple):
    """The directions of a round, scratch for `ROUND` of them on up to W columns each.

    Attributes
    ----------
    columns : (ROUND, W) int64
    theta : (ROUND, W) float32
    sizes : (ROUND,) int64
        How many columns each has.
    order : (P,) int64
        A permutation of the predictors.
    mixed : (p,) int64
        A permutation of the columns.
    singles : (P,) int64
        The predictors that a node tries singly.
    nonzeros : (n_sparse,) int64
        How many columns each sparse direction of a node is to have.
    class_weight : (K,) float64
    chosen : (K,) bool
    """

    columns: np.ndarray
    theta: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    mixed: np.ndarray
    singles: np.ndarray
    nonzeros: np.ndarray
    class_weight: np.ndarray
    chosen: np.ndarray


def proposals_for(P: int, p: int, widest: int, settings: Settings) -> Proposals:
    """Allocate scratch for P predictors of p columns, directions on up to `widest` of them."""
    return Proposals(
        np.empty((ROUND, widest), dtype=np.int64),
        np.empty((ROUND, widest), dtype=np.float32),
        np.empty(ROUND, dtype=np.int64),
        np.arange(P),
        np.arange(p),
        np.empty(P, dtype=np.int64),
        np.empty(settings.n_sparse, dtype=np.int64),
        np.empty(settings.n_classes),
        np.empty(settings.n_classes, dtype=np.bool_),
    )


@part
def _draw_size(state, rows, subset_size, n_predictors):
    """Return the size q of a random subset; `subset_size` 0 stands for a random one."""
    if subset_size > 0:
        return subset_size
    largest = int(np.ceil(rows**0.4 - 1e-9))
    return 1 + below(state, min(largest, n_predictors))


@kernel
def _draw_classes(state, y, a, m, class_weight, chosen):
    """Draw the classes that a direction sets apart from the others in y (≥ m,); False for none.

    One class in proportion to its weight; with three or more present, as often a random proper
    group of them.  class_weight (K,) is scratch, chosen (K,) receives the classes.
    """
    K = len(chosen)
    for k in range(K):
        class_weight[k], chosen[k] = 0.0, False
    for i in range(m):
        class_weight[int(y[i])] += a[i]
    present, last, total = 0, 0, 0.0
    for k in range(K):
        total += class_weight[k]
        if class_weight[k] > 0.0:
            present += 1
            last = k
    if present < 2:
        return False
    if present == 2:
        chosen[last] = True
        return True
    if uniform(state) < 0.5:
        point = uniform(state) * total
        at = 0
        while at < last and point >= class_weight[at]:
            point -= class_weight[at]
            at += 1
        chosen[at] = True
        return True
    size = 0
    while not 0 < size < present:
        size = 0
        for k in range(K):
            if class_weight[k] > 0.0:
                chosen[k] = uniform(state) < 0.5
                size += chosen[k]
    return True


@part
def _draw_target(state, y, a, lo, m, proposals, t):
    """Write the target in [0, 1] that a direction is to predict to t; False if y is constant.

    For the m rows from `lo` on.  A numeric response is mapped linearly from its extremes; for
    classes the target marks those of a random side.
    """
    chosen, lo = proposals.chosen, np.uint64(lo)
    if len(chosen) > 2:
        if not _draw_classes(state, y[lo:], a[lo:], m, proposals.class_weight, chosen):
            return False
        for i in range(np.uint64(m)):
            t[i] = 1.0 if chosen[int(y[lo + i])] else 0.0
        return True
    low = high = y[lo]
    for i in range(np.uint64(m)):
        low, high = min(low, y[lo + i]), max(high, y[lo + i])
    if not high > low:
        return False
    for i in range(np.uint64(m)):
        t[i] = (y[lo + i] - low) / (high - low)
    return True


@part
def _columns_of_subset(state, n_rows, blocks, order, subset_size, columns, c):
    """Write the columns of a random subset of predictors to columns[c].

    Returns the numbers of predictors, now the first of `order`, and of columns.
    """
    q = _draw_size(state, n_rows, subset_size, len(order))
    shuffle_front(state, order, q)
    width = 0
    for i in range(q):
        for column in range(blocks.first[order[i]], blocks.first[order[i] + 1]):
            columns[c, width] = column
            width += 1
    return q, width


@part
def _is_scored(blocks, j, most):
    """Whether predictor j is a factor of more than `most` levels."""
    return blocks.types[j] == INDICATORS and blocks.first[j + 1] - blocks.first[j] > most


@part
def _score_levels(m, width, place, at, work):
    """Turn a factor's `width` indicators in Z from `place` on into one column of scores there.

    Scores are the levels' means of the target, scaled to length 1; they go to work.scores from
    `at` on.
    """
    Z, scores = work.Z[place:], work.scores[at:]
    level_means(Z, width, m, work.weights, work.moment, scores)
    largest = 0.0
    for k in range(width):
        largest = max(largest, abs(scores[k]))
    if not (largest > UNRELATED and normalise(scores, width)):
        for k in range(width):
            scores[k] = 0.0
    for i in range(m):
        Z[0, i] *= scores[0]
    for k in range(1, width):
        for i in range(m):
            Z[0, i] += scores[k] * Z[k, i]


@part
def _load_terms(rows, lo, m, blocks, order, q, most, work):
    """Load the terms of the first q predictors of `order` to Z; return how many there are.

    Factors are scored for the target in `work`.
    """
    place, at = 0, 0
    for i in range(q):
        j = order[i]
        scored = _is_scored(blocks, j, most)
        width = blocks.first[j + 1] - blocks.first[j]
        for k in range(width):
            load(rows, lo, m, blocks.first[j] + k, not scored, work.Z, place + k)
            work.scores[at + k], work.term[at + k] = 1.0, place if scored else place + k
        if scored:
            _score_levels(m, width, place, at, work)
        place += 1 if scored else width
        at += width
    return place


@part
def _columns_of_predictor(blocks, j, columns, c):
    """Write the columns of predictor j to columns[c]; return their number."""
    width = blocks.first[j + 1] - blocks.first[j]
    for k in range(width):
        columns[c, k] = blocks.first[j] + k
    return width


@inlined
def _estimate(rows, lo, m, total, share, theta, c, width, terms, estimator, settings, work):
    """Estimate a direction on the terms in Z, for the target in `work`; False without one.

    Its coefficients on the `width` columns go to theta[c].
    """
    Z, a, estimated = work.Z, work.weights, work.theta
    if terms == 1:  # a factor's scores are its direction
        estimated[0] = 1.0
    elif not covariances(Z, terms, m, a, work.moment, total, work, estimated):
        return False
    elif estimator == LDA:
        y, weight, mean = rows.y[lo : lo + m], work.class_weight, work.class_mean
        lda(Z, terms, m, a, y, total, share, weight, mean, work, estimated)
    elif estimator == LOGISTIC and m >= LOGISTIC_ROWS and settings.newton_steps > 1:
        steps = settings.newton_steps
        logistic(Z, terms, m, work.target, a, total, share, steps, work, estimated)
    else:
        least_squares(terms, work, estimated)
    for k in range(width):
        work.step[k] = work.scores[k] * estimated[work.term[k]]
    if not normalise(work.step, width):
        return False
    for k in range(width):
        theta[c, k] = work.step[k]
    return True


@kernel
def draw_nonzeros(state, p, density, nonzeros):
    """Write how many of the nonzeros of SPORF's p × d matrix fall to each of its columns (d,).

    ⌈λpd⌉ cells are drawn without replacement (Tomita et al. 2020): one more falls to a column
    in proportion to its empty cells.  Where nonzeros are the greater part, zeros are drawn.
    """
    d = len(nonzeros)
    number = int(np.ceil(density * p * d - 1e-9))
    fewer = 2 * number <= p * d
    for c in range(d):
        nonzeros[c] = 0
    left = number if fewer else p * d - number
    while left > 0:
        c = below(state, d)
        if below(state, p) >= nonzeros[c]:
            nonzeros[c] += 1
            left -= 1
    if not fewer:
        for c in range(d):
            nonzeros[c] = p - nonzeros[c]


@part
def _sparse_direction(state, order, nonzeros, j, columns, theta, c):
    """Write nonzeros[j] random columns to columns[c], signs scaled to length 1 to theta[c]."""
    q = nonzeros[j]
    shuffle_front(state, order, q)
    size = np.float32(1.0 / np.sqrt(max(q, 1)))
    for i in range(q):
        columns[c, i] = order[i]
        theta[c, i] = size if uniform(state) < 0.5 else -size
    return q


@part
def propose(state, rows, lo, m, n_rows, first, last, blocks, settings, proposals, work):
    """Propose a node's candidates first … last - 1; return how many there are.

    Those before `settings.n_singles` are the `singles`; then come the sparse directions, then
    those estimated on subsets.  The node's m rows, N(A) = `n_rows`, begin at `lo`.  A direction is
    estimated on the first of them, which are in random order, up to `settings.direction_rows`
    or ten per column.  A subset of one column is no candidate where all predictors are tried
    singly.
    """
    columns, theta, sizes = proposals.columns, proposals.theta, proposals.sizes
    order, singles, n_singles = proposals.order, proposals.singles, settings.n_singles
    mixed, nonzeros = proposals.mixed, proposals.nonzeros
    c, aimed, total, share, known = ZERO, ZERO, 0.0, 0.0, False
    for candidate in range(first, last):
        if candidate < n_singles and blocks.types[singles[candidate]] == PLAIN:
            columns[c, 0], theta[c, 0], sizes[c] = blocks.first[singles[candidate]], 1.0, 1
            c += 1
            continue
        if n_singles <= candidate < n_singles + len(nonzeros):
            j = candidate - n_singles
            sizes[c] = _sparse_direction(state, mixed, nonzeros, j, columns, theta, c)
            c += sizes[c] > 0
            continue
        if candidate < n_singles:
            chosen, q, most, estimator = singles[candidate:], 1, 1, LEAST_SQUARES
            width = _columns_of_predictor(blocks, chosen[0], columns, c)
        else:
            chosen, most, estimator = order, FEW_LEVELS, settings.family
            q, width = _columns_of_subset(
                state, n_rows, blocks, order, settings.subset_size, columns, c
            )
        sizes[c], theta[c, 0] = width, 1.0
        if width == 1:
            c += candidate < n_singles or n_singles < len(order)
            continue
        used = min(m, max(settings.direction_rows, 10 * width))
        if used != aimed or settings.n_classes > 2:
            aimed = used
            known = _draw_target(state, rows.y, rows.weights, lo, used, proposals, work.target)
            for i in range(used):
                work.weights[i] = rows.weights[lo + i]
            total, share = moments(work.target, work.weights, used, work.moment)
        if not known:
            continue
        terms = _load_terms(rows, lo, used, blocks, chosen, q, most, work)
        if _estimate(
            rows, lo, used, total, share, theta, c, width, terms, estimator, settings, work
        ):
            c += 1
    return c
