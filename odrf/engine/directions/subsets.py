"""Random subsets of a node's predictors: how they are drawn, and their columns made ready.

Zhan, Liu and Xia, section 5: each direction is estimated on its own random subset of q
predictors, q fixed or uniform on 1 … min(⌈N(A)^0.4⌉, P).  A factor's levels are scored by their
mean target: in a direction of several predictors the scores of a factor of many levels are one
column, those of few levels as many as they are.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.candidates import INDICATORS
from odrf.engine.directions.estimation import UNRELATED, level_means, moments, normalise
from odrf.engine.randomness import below, shuffle_front, uniform
from odrf.engine.rows.rows import load_column

__all__ = [
    "FEW_LEVELS",
    "aim",
    "draw_classes",
    "draw_subset",
    "draw_subset_size",
    "draw_terms",
    "draw_up_to",
    "largest_subset",
    "load_terms",
    "write_columns",
    "write_direction",
]

# A factor of more levels is one column of scores in a direction of several predictors: as many
# coefficients as it has levels would cost much and be poorly determined.
FEW_LEVELS = np.int64(6)
# What rounding leaves of F (1 - F) where one side is empty.
NO_SHARE = 1e-12


def largest_subset(subset_size: int, P: int, n: int) -> int:
    """Return the most predictors that a subset can have in a tree of n rows."""
    return subset_size if subset_size > 0 else min(int(np.ceil(n**0.4)), P)


@part
def draw_subset_size(state, rows, subset_size, n_predictors):
    """Return the size q of a random subset; `subset_size` 0 stands for a random one."""
    if subset_size > 0:
        return subset_size
    largest = int(np.ceil(rows**0.4 - 1e-9))
    return 1 + below(state, min(largest, n_predictors))


@kernel
def draw_classes(state, y, a, m, class_weight, chosen):
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


@kernel
def draw_up_to(state, y, a, m, class_weight, chosen):
    """Draw a class, and choose it and those below it; False if y (≥ m,) is constant.

    With F_k the share of the weights a (≥ m,) up to class k, k comes in proportion to
    F_k (1 - F_k): to what it adds to the impurity of ordered classes.  Scratch as in
    `draw_classes`.
    """
    K, total, whole, reached = len(chosen), 0.0, 0.0, 0.0
    for k in range(K):
        class_weight[k], chosen[k] = 0.0, False
    for i in range(m):
        class_weight[int(y[i])] += a[i]
        total += a[i]
    last = -1
    for k in range(K - 1):
        reached += class_weight[k] / total
        class_weight[k] = reached * (1.0 - reached)
        if class_weight[k] > NO_SHARE:
            last = k
            whole += class_weight[k]
        else:
            class_weight[k] = 0.0
    if last < 0:
        return False
    point, at = uniform(state) * whole, 0
    while at < last and point >= class_weight[at]:
        point -= class_weight[at]
        at += 1
    for k in range(at + 1):
        chosen[k] = True
    return True


@part
def _draw_target(state, y, a, lo, m, proposals, t):
    """Write the target in [0, 1] that a direction is to predict to t; False if y is constant.

    For the m rows from `lo` on.  A numeric response is mapped linearly from its extremes; for
    classes the target marks those of a random side, for ordered ones those up to a random one.
    """
    chosen, lo = proposals.chosen, np.uint64(lo)
    if len(chosen) > 2:
        scratch = proposals.class_weight
        if proposals.ordered:
            known = draw_up_to(state, y[lo:], a[lo:], m, scratch, chosen)
        else:
            known = draw_classes(state, y[lo:], a[lo:], m, scratch, chosen)
        if not known:
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
def aim(state, rows, lo, m, proposals, work):
    """Draw a target for the m rows from `lo` on to `work`, with its weights and moments.

    Returns the sum of the weights, the mean of the target, and whether it varies.
    """
    if not _draw_target(state, rows.y, rows.weights, lo, m, proposals, work.target):
        return 0.0, 0.0, False
    for i in range(m):
        work.weights[i] = rows.weights[lo + i]
    total, share = moments(work.target, work.weights, m, work.moment)
    return total, share, True


@part
def write_columns(feature_groups, order, q, columns, c):
    """Write the columns of the first q predictors of `order` to columns[c]; return their number."""
    width = 0
    for i in range(q):
        for column in range(feature_groups.first[order[i]], feature_groups.first[order[i] + 1]):
            columns[c, width] = column
            width += 1
    return width


@part
def draw_subset(state, n_rows, subset_size, order):
    """Move a random subset of predictors to the front of `order`; return its size."""
    q = draw_subset_size(state, n_rows, subset_size, len(order))
    shuffle_front(state, order, q)
    return q


@part
def _is_scored(feature_groups, j, most):
    """Whether predictor j is a factor of more than `most` levels."""
    return (
        feature_groups.types[j] == INDICATORS
        and feature_groups.first[j + 1] - feature_groups.first[j] > most
    )


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
def load_terms(rows, lo, m, feature_groups, order, q, most, work):
    """Load the terms of the first q predictors of `order` to Z; return how many there are.

    Factors are scored for the target in `work`.
    """
    place, at = 0, 0
    for i in range(q):
        j = order[i]
        scored = _is_scored(feature_groups, j, most)
        width = feature_groups.first[j + 1] - feature_groups.first[j]
        for k in range(width):
            load_column(rows, lo, m, feature_groups.first[j] + k, not scored, work.Z, place + k)
            work.scores[at + k], work.term[at + k] = 1.0, place if scored else place + k
        if scored:
            _score_levels(m, width, place, at, work)
        place += 1 if scored else width
        at += width
    return place


@part
def write_direction(width, work, theta, c):
    """Write the coefficients of `width` columns to theta[c]; False without a usable length.

    work.theta holds those of the terms, as `load_terms` made them of the columns.
    """
    for k in range(width):
        work.step[k] = work.scores[k] * work.theta[work.term[k]]
    if not normalise(work.step, width):
        return False
    for k in range(width):
        theta[c, k] = work.step[k]
    return True


@part
def draw_terms(
    state, rows, lo, m, n_rows, subset_size, most_rows, feature_groups, proposals, c, work
):
    """Draw the c-th proposal's subset and a target for it, and load the subset's terms.

    The proposal's columns and their number are written, and 1 for the coefficient of a single
    one, for which nothing is loaded.  The rows that are looked at are at most `most_rows`, or ten
    per column.  Returns how many terms, 0 where there is no target, how many rows, the sum of
    their weights and the mean of the target.
    """
    q = draw_subset(state, n_rows, subset_size, proposals.order)
    width = write_columns(feature_groups, proposals.order, q, proposals.columns, c)
    proposals.sizes[c], proposals.theta[c, 0] = width, 1.0
    if width == 1:
        return 0, 0, 0.0, 0.0
    used = min(m, max(most_rows, 10 * width))
    total, share, known = aim(state, rows, lo, used, proposals, work)
    if not known:
        return 0, 0, 0.0, 0.0
    terms = load_terms(rows, lo, used, feature_groups, proposals.order, q, FEW_LEVELS, work)
    return terms, used, total, share
