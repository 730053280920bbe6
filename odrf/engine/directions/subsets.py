"""Random subsets of a node's predictors, and rotated columns.

Zhan, Liu and Xia, section 5: each direction is estimated on a random subset of q predictors, with q
fixed or uniform on 1 … min(⌈N(A)^0.4⌉, P).  In a direction, a factor of many levels enters as one
term, its scored levels: a coefficient for each level would be slow to estimate and poorly
determined.  How many are many depends on the response, see `indicator_levels`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import NO, YES, ZERO, kernel, part
from odrf.engine.directions.candidates import INDICATORS, PLAIN, TWO_LEVELS, FeatureGroups
from odrf.engine.directions.estimation import moments, normalise
from odrf.engine.directions.factors import (
    beyond_chance,
    free_coefficients,
    load_few_levels,
    load_levels,
    load_many_levels,
    note_factors,
    reliability,
)
from odrf.engine.directions.missing import has_missing, load_with_missing
from odrf.engine.directions.samplers import note_free_target
from odrf.engine.numeric import below, shuffle_front, uniform
from odrf.engine.rows import Rows, load_column
from odrf.engine.trees.forest import Forest

# Values of F (1 - F) below this are rounding errors: one side is empty.
NO_SHARE = 1e-12


def largest_subset(subset_size: int, P: int, n: int) -> int:
    """Return the most predictors that a subset can have in a tree of n rows."""
    return subset_size if subset_size > 0 else min(int(np.ceil(n**0.4)), P)


@part
def draw_subset_size(state, rows, subset_size, n_predictors):
    """Return the size q of a random subset; a random size if `subset_size` is 0."""
    if subset_size > 0:
        return subset_size
    largest = int(np.ceil(rows**0.4 - 1e-9))
    return 1 + below(state, min(largest, n_predictors))


@kernel
def draw_classes(state, y, a, m, class_weight, chosen):
    """Draw the classes in y (≥ m,) that a direction is to separate from the others.

    With two classes present it is the second.  With more, it is with probability 1/2 one class,
    drawn in proportion to its weight, and otherwise a random proper subset of those present.
    class_weight (K,) is scratch, chosen (K,) receives the classes.  Returns False if there is only
    one class.
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
    """Draw a cut of the ordered classes; choose the classes below it.

    With F_k the share of the weights a (≥ m,) up to class k, the cut after k is drawn in proportion
    to F_k (1 - F_k), its part of the impurity of ordered classes.  Returns False if y (≥ m,) is
    constant.  The other arguments are those of `draw_classes`.
    """
    K, total, impurity, reached = len(chosen), 0.0, 0.0, 0.0
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
            impurity += class_weight[k]
        else:
            class_weight[k] = 0.0
    if last < 0:
        return False
    point, at = uniform(state) * impurity, 0
    while at < last and point >= class_weight[at]:
        point -= class_weight[at]
        at += 1
    for k in range(at + 1):
        chosen[k] = True
    return True


@part
def _write_target(state, y, a, lo, m, proposals, t):
    """Write a target in [0, 1] for the m rows from `lo` on to t; return False if y is constant.

    A numeric response is mapped linearly so that its extremes become 0 and 1.  For classes the
    target is the indicator of a random subset, see `draw_classes`; for ordered classes, of the
    classes below a random cut, see `draw_up_to`.
    """
    chosen, lo = proposals.chosen, np.uint64(lo)
    if len(chosen) > 2:
        scratch = proposals.class_weight
        if proposals.ordered:
            varies = draw_up_to(state, y[lo:], a[lo:], m, scratch, chosen)
        else:
            varies = draw_classes(state, y[lo:], a[lo:], m, scratch, chosen)
        if not varies:
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
def draw_target(state, rows, lo, m, proposals, work):
    """Draw a target of m rows and write it to `work`; return Σ a, its mean, and if it varies."""
    if not _write_target(state, rows.y, rows.weights, lo, m, proposals, work.target):
        return 0.0, 0.0, False
    note_free_target(work.levels, len(proposals.chosen) > 2)
    for i in range(m):
        work.weights[i] = rows.weights[lo + i]
    total, share = moments(work.target, work.weights, m, work.moment)
    return total, share, True


@part
def count_columns(feature_groups, order, q):
    """Return the number of columns of the first q predictors of `order`, but for empty cells."""
    width = 0
    for i in range(q):
        width += feature_groups.first[order[i] + 1] - feature_groups.first[order[i]]
        width -= has_missing(feature_groups.holes, order[i])
    return width


@part
def sample_sizes(feature_groups, order, q, m, most, few):
    """Return the rows for a direction, `most` or 10 a term; and 10 a level of factors > `few`."""
    terms, levels = 0, 0
    for i in range(q):
        width = feature_groups.first[order[i] + 1] - feature_groups.first[order[i]]
        if feature_groups.types[order[i]] == INDICATORS and width > few:
            terms, levels = terms + 1, max(levels, width)
        else:
            terms += width
    used = min(m, max(most, 10 * terms))
    return used, max(used, min(m, 10 * levels))


@part
def draw_subset(state, n_rows, subset_size, order):
    """Move a random subset of predictors to the front of `order`; return its size."""
    q = draw_subset_size(state, n_rows, subset_size, len(order))
    shuffle_front(state, order, q)
    return q


@part
def _relate(used, terms, total, work):
    """Write the covariances of the terms that are not scored, per weight of the rows `used`."""
    for j in range(terms):
        if np.isnan(work.covariance[j]):
            work.covariance[j], work.excess[j] = 0.0, 0.0
            for i in range(used):
                work.covariance[j] += work.moment[i] * work.Z[j, i] / total


@part
def load_terms(
    rows, lo, used, m, feature_groups, order, q, few, alone, total, share, work, mixed=NO
):
    """Load the terms of the first q predictors of `order` to Z, for the first `used` rows.

    A term is a column, or the scores of the levels of a factor for the target in `work`: of every
    factor if it is tried `alone`, otherwise of factors of more than `few` levels.  A factor is left
    out if its levels differ by no more than chance, but one of few levels that is alone.  If the
    direction is `mixed`, these factors are no terms, but loaded as random effects.  Levels are
    scored on m rows, for which `work` has the target, its moments, their `total` weight and its
    mean, the `share`; a factor of few levels alone is scored on the first `used` of them.  Returns
    the number of terms, and weight and mean of the first rows.  The columns are written to
    work.column, the sizes to work.size.
    """
    place, at, scored, free = ZERO, ZERO, False, 0
    number, slots = 0, 0
    for i in range(q):
        first = feature_groups.first[order[i]]
        width = feature_groups.first[order[i] + 1] - first
        factor = feature_groups.types[order[i]] == INDICATORS
        if factor and width > few:
            if mixed:
                slots += load_levels(rows, lo, used, first, number, slots, work.levels)
                number += 1
                continue
            present = load_many_levels(
                rows, lo, m, used, first, share, place, at, work, work.levels
            )
            if present > 0:
                at, place, scored = at + present, place + 1, True
            continue
        if has_missing(feature_groups.holes, order[i]):
            terms, at = load_with_missing(
                rows, lo, used, first, width, place, at, work, feature_groups.holes
            )
            place += terms
            continue
        if factor and alone and width > 1:
            load_few_levels(rows, lo, used, first, width, place, at, work, work.levels)
            place, at = place + 1, at + width
            continue
        for k in range(width):
            load_column(rows, lo, used, first + k, YES, work.Z, place + k)
            work.column[at + k], work.scores[at + k] = first + k, 1.0
            work.term[at + k] = place + k
            work.covariance[place + k] = np.nan
        if factor and width > TWO_LEVELS:
            free += free_coefficients(work.Z, place, width, used)
        place += width
        at += width
    note_factors(number, slots, work.levels)
    work.size[0], work.size[1] = at, place if scored else 0
    work.size[2], work.size[3], work.size[4] = free, place, used
    single = scored and place == 1
    if used < m and place > 0 and not single:
        total, share = moments(work.target, work.weights, used, work.moment)
    if scored and not single:
        _relate(used, place, total, work)
    return place, total, share


@part
def write_direction(work, proposals, c):
    """Write proposal c: the nonzero coefficients of the columns, scaled to length 1.

    They are computed from work.theta, the coefficients of the terms that `load_terms` made.  The
    coefficients of a column of empty cells, which stand next to each other, are added up.  Returns
    False if they cannot be scaled to length 1.
    """
    coefficient, size = work.coefficient, 0
    for k in range(work.size[0]):
        coefficient[k] = work.scores[k] * work.theta[work.term[k]]
    if not normalise(coefficient, work.size[0]):
        return False
    for k in range(work.size[0]):
        if size > 0 and proposals.columns[c, size - 1] == work.column[k]:
            proposals.theta[c, size - 1] += coefficient[k]
        elif coefficient[k] != 0.0:
            proposals.columns[c, size], proposals.theta[c, size] = work.column[k], coefficient[k]
            size += 1
    proposals.sizes[c] = size
    proposals.reliability[c] = reliability(work.size[1], work) * beyond_chance(work, work.levels)
    return True


@part
def write_single(column, proposals, c):
    """Write proposal c: a single column."""
    proposals.columns[c, 0], proposals.theta[c, 0], proposals.sizes[c] = column, 1.0, 1


@part
def draw_terms(
    state, rows, lo, m, n_rows, subset_size, most_rows, feature_groups, proposals, c, work
):
    """Draw the subset of proposal c and a target for it, and load the terms of the subset.

    For a single column the proposal is written, and nothing is loaded.  At most `most_rows` rows
    are used, or ten per term if more.  Returns the number of terms (-1 for a single column, 0 for a
    constant target), the number of rows, the sum of their weights and the mean of the target.
    """
    q = draw_subset(state, n_rows, subset_size, proposals.order)
    order = proposals.order
    if count_columns(feature_groups, order, q) == 1:
        write_single(feature_groups.first[order[0]], proposals, c)
        return -1, 0, 0.0, 0.0
    few = proposals.indicator_levels
    used, scored = sample_sizes(feature_groups, order, q, m, most_rows, few)
    total, share, known = draw_target(state, rows, lo, scored, proposals, work)
    if not known:
        return 0, 0, 0.0, 0.0
    terms, total, share = load_terms(
        rows, lo, used, scored, feature_groups, order, q, few, NO, total, share, work
    )
    return terms, used, total, share


# Trees grown on rotated columns: all columns of a tree multiplied by an orthogonal matrix.
# A split on a rotated column is a split along a column of the matrix.  The rotated columns are
# computed once for the whole tree, in float32 and in the order in which routing adds terms: so
# training and prediction agree exactly.

# Rows that are rotated at a time: few enough for all their columns to stay in the cache.
ABREAST = 256


@kernel
def _rotate(X, matrix, out):
    """Write Σ_k matrix[k, j]·X[k] to out[j], all float32, for every j."""
    p, n = np.uint64(X.shape[0]), np.uint64(X.shape[1])
    for first in range(np.uint64(0), n, np.uint64(ABREAST)):
        last = min(first + np.uint64(ABREAST), n)
        for j in range(p):
            for i in range(first, last):
                out[j, i] = np.float32(0.0)
            for k in range(p):
                coefficient = matrix[k, j]
                if coefficient != np.float32(0.0):
                    for i in range(first, last):
                        out[j, i] += coefficient * X[k, i]


def rotated_rows(rows: Rows, matrix: NDArray[np.float32]) -> Rows:
    """Return the rows with their columns rotated by the orthogonal matrix (p, p)."""
    X = np.empty_like(rows.X)
    _rotate(rows.X, matrix, X)
    return rows._replace(X=X)


def rotated_feature_groups(p: int) -> FeatureGroups:
    """Return the feature groups of p rotated columns: each column is a predictor."""
    return FeatureGroups(np.arange(p + 1), np.full(p, PLAIN, dtype=np.int8))


def rotated_back(tree: Forest, matrix: NDArray[np.float32]) -> Forest:
    """Return the tree with its splits on rotated columns as directions in the original columns."""
    rotated_column, column = np.nonzero(matrix.T)
    begin = np.searchsorted(rotated_column, np.arange(len(matrix) + 1))
    n_terms = np.zeros(len(tree.left), dtype=np.int64)
    split = np.diff(tree.start) > 0
    n_terms[split] = np.diff(begin)[tree.index]
    start = np.concatenate([[0], np.cumsum(n_terms)])
    at = np.arange(start[-1])
    at += np.repeat(begin[tree.index] - start[:-1][split], n_terms[split])
    return replace(
        tree, start=start, index=column[at].astype(np.int32),
        coef=matrix[column[at], rotated_column[at]],
    )  # fmt: skip
