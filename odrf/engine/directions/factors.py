"""Factors in directions: scores of their levels, and how far they can be trusted.

Coppersmith, Hong and Hosking (1999): the levels of a factor are points, the shares of the K
classes among their rows.  They are ordered along the first eigenvector v of the weighted covariance
of these points.  The order along v is that of the mean of v[class] in each level.  So for many
levels v[class] is a target, and their scores are shrunk as for two classes.

For the entropy every share is first divided by the root of the class's share in the node.  Near the
shares of the node the gain in entropy is a sum of squares of such deviations, as the gain in Gini's
index is one of the plain deviations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.candidates import FEW_LEVELS, INDICATORS, FeatureGroups, has_levels
from odrf.engine.directions.estimation import (
    RIDGE,
    UNRELATED,
    add_ridge,
    centre,
    moments,
    normalise,
    scatter,
    solve,
    weigh,
)
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import Spectrum, right_singular
from odrf.engine.rows import level_at, level_of
from odrf.engine.splits.impurity import ENTROPY, ORDINAL

# Entries of an eigenvector are equally large if they differ by no more than this share.
EQUAL = 1.0 - 1e-9
# Scores below this share of the largest are 0 but for rounding.
ROUNDING = 1e-9
# So many classes, all present, need no iteration.
THREE = 3


class ClassShares(NamedTuple):
    """Scratch for the classes in the levels of a factor: up to K classes in L levels.

    `entropy`: whether the criterion is the entropy.
    `table` (L + 1, K): the weight of each class in each level; then the deviations of the shares.
      The last row in use is that of rows without a level.
    `row` (L + 1,): 1 + the row of each level of a factor of many levels; 0 between calls.
    `levels` (L,): the level in each row of the table.
    `roots` (L,): √w, with w the weight of a level.
    `value` (K,): the weight of each class; then its target.
    `share`, `unit` (K,): the share of each class, and what its deviations are multiplied by.
    """

    entropy: bool
    table: np.ndarray
    row: np.ndarray
    levels: np.ndarray
    roots: np.ndarray
    value: np.ndarray
    share: np.ndarray
    unit: np.ndarray
    spectrum: Spectrum


def class_shares_for(feature_groups: FeatureGroups, settings: KernelParams) -> ClassShares | None:
    """Allocate the scratch for the factors among these predictors.

    None if no factor is ordered by it: if there are none, nor empty cells, or fewer than three
    classes, or their order is known.  As None has a type of its own in Numba, no code is needed
    then.
    """
    if settings.n_classes <= 2 or settings.criterion == ORDINAL or feature_groups.holes is None:
        return None
    widths = np.diff(feature_groups.first)[has_levels(feature_groups)]
    L, K = int(widths.max(initial=1)), settings.n_classes
    D = max(min(L, K), min(K, THREE))
    return ClassShares(
        settings.criterion == ENTROPY, np.empty((L + 1, K)), np.zeros(L + 1, dtype=np.int64),
        np.empty(L, dtype=np.int64), np.empty(L), np.empty(K), np.empty(K), np.empty(K),
        Spectrum(np.empty((D, K)), np.empty((D, K)), np.empty(D)),
    )  # fmt: skip


@part
def is_ordered_by_shares(shares, feature_groups, predictor):
    """Return whether the levels of a predictor, a factor, are ordered by their class shares."""
    if shares is None:
        return False
    return feature_groups.types[predictor] == INDICATORS


@part
def _tabulate_few(rows, lo, m, first, width, table, value):
    """Write the class weights of levels 0 … width to the table, their sums to `value`; return Σ."""
    codes, y, weights = rows.codes[-1 - rows.place[first]], rows.y, rows.weights
    first_row, one, total = np.uint64(lo), np.uint64(1), 0.0
    for level in range(width + 1):
        for k in range(len(value)):
            table[level, k] = 0.0
    without = np.uint64(width)
    for i in range(first_row, first_row + np.uint64(m)):
        code = np.uint64(codes[i if rows.copied else np.uint64(rows.at[i])])
        table[code - one if code > 0 else without, np.uint64(y[i])] += weights[i]
    for k in range(len(value)):
        value[k] = 0.0
        for level in range(width + 1):
            value[k] += table[level, k]
        total += value[k]
    return total


@part
def _tabulate_many(rows, lo, m, f, shares):
    """Write the class weights of the levels present, as they are met; return their number."""
    number, row, table = 0, shares.row, shares.table
    for i in range(m):
        level = level_at(rows, f, lo + i)
        if level == 0:
            continue
        if row[level] == 0:
            table[number] = 0.0
            shares.levels[number] = level
            number += 1
            row[level] = number
        table[row[level] - 1, int(rows.y[lo + i])] += rows.weights[lo + i]
    for g in range(number):
        row[shares.levels[g]] = 0
    return number


@part
def _write_deviations(number, total, shares):
    """Replace the table of `number` levels by √w times deviations; return those present."""
    table, value, K = shares.table, shares.value, len(shares.value)
    g = d = 0
    for k in range(K):
        share = value[k] / total
        shares.share[k] = share
        shares.unit[k] = 1.0 / math.sqrt(share) if shares.entropy and share > 0.0 else 1.0
    for level in range(number):
        weight = 0.0
        for k in range(K):
            weight += table[level, k]
        if not weight > 0.0:
            continue
        d, root, part_of_one = 0, math.sqrt(weight), 1.0 / weight
        for k in range(K):
            if shares.share[k] > 0.0:
                deviation = table[level, k] * part_of_one - shares.share[k]
                table[g, d] = root * deviation * shares.unit[k]
                d += 1
        shares.levels[g], shares.roots[g] = level, root
        g += 1
    return g, d


@part
def _principal_of_three(g, shares):
    """Write the first squared singular value and right singular vector of g rows, for 3 classes.

    Each row is orthogonal to u, whose entries are 1 or the roots of the shares: so the vector is in
    the plane of two others, in which it has a closed form.
    """
    u, table, spectrum = shares.unit, shares.table, shares.spectrum
    first, second, third = 1.0 / u[0], 1.0 / u[1], 1.0 / u[2]
    across = math.sqrt(first * first + second * second)
    length = math.sqrt(across * across + third * third)
    # the basis of the plane: (e, f, 0), and its vector product with u
    e, f = second / across, -first / across
    h, j, k = -f * third / length, e * third / length, (f * first - e * second) / length
    xx, xy, yy = 0.0, 0.0, 0.0
    for i in range(g):
        x = e * table[i, 0] + f * table[i, 1]
        y = h * table[i, 0] + j * table[i, 1] + k * table[i, 2]
        xx += x * x
        xy += x * y
        yy += y * y
    half = 0.5 * (xx - yy)
    radius = math.sqrt(half * half + xy * xy)
    along, beside = (half + radius, xy) if half >= 0.0 else (xy, radius - half)
    if radius == 0.0:
        along = 1.0
    spectrum.values[0] = yy + half + radius
    spectrum.vectors[0, 0] = along * e + beside * h
    spectrum.vectors[0, 1] = along * f + beside * j
    spectrum.vectors[0, 2] = beside * k


@part
def _component(number, total, shares):
    """Write v to the first vector; return how many levels and classes there are, 0, 0 if alike."""
    g, d = _write_deviations(number, total, shares)
    if g < 2 or d < 2:
        return 0, 0
    if d == len(shares.unit) == THREE:
        _principal_of_three(g, shares)
    else:
        right_singular(shares.table, g, d, shares.spectrum)
    if not shares.spectrum.values[0] > UNRELATED * UNRELATED * total:
        return 0, 0
    vector, largest, sign = shares.spectrum.vectors[0], 0.0, 1.0
    for c in range(d):
        largest = max(largest, abs(vector[c]))
    for c in range(d):  # of v and -v the one whose last large entry is positive
        if abs(vector[c]) >= EQUAL * largest:
            sign = 1.0 if vector[c] > 0.0 else -1.0
    for c in range(d):
        vector[c] *= sign / largest
    return g, d


@part
def _write_values(total, shares):
    """Write the target of each class, in [0, 1], from v."""
    value, vector = shares.value, shares.spectrum.vectors[0]
    low, high, c = np.inf, -np.inf, 0
    for k in range(len(value)):
        share = value[k] / total
        if share > 0.0:
            value[k] = vector[c] / (math.sqrt(share) if shares.entropy else 1.0)
            low, high = min(low, value[k]), max(high, value[k])
            c += 1
    for k in range(len(value)):
        value[k] = (value[k] - low) / (high - low)


@part
def _add_up_classes(rows, lo, m, value):
    """Write the weight of each class to `value`; return their sum."""
    total = 0.0
    value[:] = 0.0
    for i in range(m):
        value[int(rows.y[lo + i])] += rows.weights[lo + i]
        total += rows.weights[lo + i]
    return total


@kernel
def principal_scores(rows, lo, m, first, width, shares, work):
    """Score the few levels of a factor, whose columns start at `first`, on the m rows from `lo` on.

    Writes columns and scores to `work` as those of one term, as `load_terms` of
    `odrf.engine.directions.subsets` does.  Returns False if all levels have the same class shares,
    or without `shares`.
    """
    if shares is None:
        return False
    total = _tabulate_few(rows, lo, m, first, width, shares.table, shares.value)
    g, d = _component(width, total, shares)
    largest = 0.0
    for at in range(g):
        score = 0.0
        for c in range(d):
            score += shares.table[at, c] * shares.spectrum.vectors[0, c]
        work.column[at], work.scores[at] = first + shares.levels[at], score / shares.roots[at]
        work.term[at], largest = 0, max(largest, abs(work.scores[at]))
    for at in range(g):
        if abs(work.scores[at]) < ROUNDING * largest:
            work.scores[at] = 0.0
    work.theta[0], work.size[0], work.size[1], work.size[2] = 1.0, g, 0, 0
    return g > 0


@kernel
def principal_target(rows, lo, m, first, shares, work):
    """Write the target of a factor of many levels for the m rows from `lo` on to `work`.

    The factor's columns start at `first`.  Writes weights and moments too; returns the sum of the
    weights, the mean of the target, and whether it varies: it does not if all levels have the same
    class shares, or without `shares`.  The shares of d classes vary in d - 1 directions:
    work.levels.freedom counts those besides v.
    """
    if shares is None:
        return 0.0, 0.0, False
    total = _add_up_classes(rows, lo, m, shares.value)
    number = _tabulate_many(rows, lo, m, -1 - rows.place[first], shares)
    _, d = _component(number, total, shares)
    if d == 0:
        return 0.0, 0.0, False
    _write_values(total, shares)
    for i in range(m):
        work.target[i] = shares.value[int(rows.y[lo + i])]
        work.weights[i] = rows.weights[lo + i]
    work.levels.freedom[0] = d - 2.0
    work.levels.dismissed[:] = 0
    total, share = moments(work.target, work.weights, m, work.moment)
    return total, share, True


# Scores for the levels of a factor of many levels, and how far they can be trusted.
# The levels are scored by their mean target, shrunk towards the mean of the node: an empirical
# Bayes estimate, which ignores a factor whose levels differ by no more than chance.  Two things
# would still favour a factor without meaning over a numeric predictor, as the same rows would score
# the levels and evaluate the split:
#
# * A direction would be estimated on scores that contain each row's own target.  So each row gets
#   the score of its level without this row (leave one out).
# * The gain of a split would contain the noise by which its levels are ordered.  So candidates are
#   compared by ρ²·Δ, with ρ the share of the direction's covariance with the target that is left
#   without this noise, see `reliability`.
#
# If the target itself was chosen by the levels, as for more than two classes, the
# sum of squares between levels is a largest eigenvalue.  With ν degrees of freedom between levels,
# and q other directions in which the target could have been chosen, one of S + ν noise variances
# without this choice becomes one of (S + ν)·(S + q)/S, so that S is known from it.  It is 0 below
# (√ν + √q)², the edge of what noise alone gives (Baik and Silverstein 2006).
#
# The levels of a factor of few levels are not shrunk: their order is no freer than the cut point of
# a numeric predictor.

# A node's own variance counts as so many degrees of freedom when that within levels is estimated:
# in small nodes most levels have one row.
PRIOR = 4.0
# The best cut of a numeric predictor without meaning gains about as much as so many degrees of
# freedom.  So much is allowed to a factor too.
FREE = FEW_LEVELS - 1.0
# Levels are sorted by looking through all of them if these are at most so many times as many.
SWEPT = 8


@part
def _add_up(rows, lo, m, f, share, work):
    """Add up each level that is present; return Σ a, Σ a·(t - t̄)², and their number."""
    levels, codes, first = work.levels, rows.codes[f], np.uint64(lo)
    weight, moment, seen = levels.weight, levels.moment, levels.seen
    total, squares, present = 0.0, 0.0, 0
    for i in range(np.uint64(m)):
        k = np.uint64(level_of(codes, rows, first + i))
        a, s = work.weights[i], work.moment[i]
        if not seen[k]:
            weight[k], moment[k], seen[k] = 0.0, 0.0, True
            if k > 0:
                work.levels.present[present] = k
                present += 1
        weight[k] += a
        moment[k] += s
        total += a
        squares += s * (work.target[i] - share)
    seen[0] = False
    for p in range(present):
        seen[work.levels.present[p]] = False
    return total, squares, present


@part
def _sweep(levels, number, largest, seen):
    """Sort the first levels in place; `seen` is False before and after."""
    for p in range(number):
        seen[levels[p]] = True
    at = 0
    for k in range(1, largest + 1):
        if seen[k]:
            levels[at], seen[k] = k, False
            at += 1


@part
def _sort(levels, number, seen):
    """Sort the first levels in place: few by shell sort, many by marking them in `seen`."""
    largest = 0
    for p in range(number):
        largest = max(largest, levels[p])
    if largest < SWEPT * number:
        _sweep(levels, number, largest, seen)
        return
    gap = number // 2
    while gap > 0:
        for i in range(gap, number):
            level, j = levels[i], i
            while j >= gap and levels[j - gap] > level:
                levels[j] = levels[j - gap]
                j -= gap
            levels[j] = level
        gap //= 2


@part
def _edge(freedom, other):
    """Return (√ν + √q)², with q the `other` directions; ν if there are none."""
    if other == 0.0:
        return freedom
    return freedom + other + 2.0 * math.sqrt(freedom * other)


@part
def _without_choice(unchosen, freedom, other, noise):
    """Return S times the noise, of `unchosen` = λ - ν·noise, λ being the sum between levels."""
    if other == 0.0:
        return unchosen
    centre = unchosen - noise * other
    return 0.5 * (centre + math.sqrt(max(centre**2 - 4.0 * noise**2 * freedom * other, 0.0)))


@kernel
def score_levels(rows, lo, m, used, f, share, term, at, work):
    """Score the levels of factor f on the m rows from `lo` on, for the target in `work`.

    The `share` is its mean.  Writes the levels that the rows have to work.levels.present, in
    ascending order, and their scores to work.scores from `at` on; the leave-one-out scores of the
    first `used` rows to work.Z[term]; and to work.covariance[term] and work.excess[term] the
    covariance with the target that is left without noise, and the rest, per weight.  Returns the
    number of levels scored: 0, and nothing is written, if they differ by no more than chance.
    """
    total, squares, present = _add_up(rows, lo, m, f, share, work)
    weight, moment, scores = work.levels.weight, work.levels.moment, work.scores
    between, weight_squares = 0.0, 0.0
    for p in range(present):
        k = work.levels.present[p]
        if weight[k] > 0.0:
            between += moment[k] * moment[k] / weight[k]
            weight_squares += weight[k] * weight[k]
    freedom = max(present - 1.0, 0.0)
    noise = max(squares - between, 0.0) + PRIOR * squares / max(m - 1.0, 1.0)
    known = max(m - present, 0.0) + PRIOR
    noise /= known
    other = work.levels.freedom[0] if freedom > FREE else 0.0
    by_chance = _edge(freedom, other)
    above, chance = between - noise * by_chance, ROUNDING * squares
    if freedom > FREE:
        # One standard error, of the sum between levels and of the noise.  A largest eigenvalue of
        # noise is at the edge if it is one standard error above its mean (Johnstone 2001).
        spread = 2.0 * freedom if other == 0.0 else 0.0
        chance = noise * math.sqrt(spread + 2.0 * by_chance**2 / known)
    if not above > chance:
        return 0
    unchosen = between - freedom * noise
    evidence = _without_choice(unchosen, freedom, other, noise)
    _sort(work.levels.present, present, work.levels.seen)
    shrinkage = noise * (total - weight_squares / total) / max(evidence, noise)
    largest, apparent, left_out = 0.0, 0.0, 0.0
    for p in range(present):
        k = work.levels.present[p]
        score = moment[k] / (weight[k] + shrinkage)
        scores[at + p] = score
        apparent += score * moment[k]
        largest = max(largest, abs(score))
    for p in range(present):
        scores[at + p] /= largest
        if abs(scores[at + p]) < ROUNDING:
            scores[at + p] = 0.0
    codes, first, last = rows.codes[f], np.uint64(lo), np.uint64(used)
    for i in range(np.uint64(m)):
        k = np.uint64(level_of(codes, rows, first + i))
        a, s, score = work.weights[i], work.moment[i], 0.0
        if k > 0:
            score = (moment[k] - s) / (weight[k] - a + shrinkage) / largest
        if i < last:
            work.Z[term, i] = score
        left_out += s * score
    apparent /= largest
    owed = (unchosen - evidence) * apparent / between
    allowed = _edge(min(freedom, FREE), other) * noise * apparent / between
    left = min(left_out - owed + allowed, apparent)
    work.covariance[term], work.excess[term] = left / total, (apparent - left) / total
    return present


@part
def reliability(terms, work):
    """Return the share ρ of a direction's covariance with the target that is not noise.

    The direction has the coefficients work.theta on the terms; work.covariance and work.excess are
    the covariances of the terms.  A cut along the direction gains in proportion to the square of
    the covariance.
    """
    remaining, noise = 0.0, 0.0
    for j in range(terms):
        remaining += work.theta[j] * work.covariance[j]
        noise += work.theta[j] * work.excess[j]
    if not abs(remaining) < abs(remaining + noise):
        return 1.0
    return abs(remaining) / abs(remaining + noise)


# The levels of a factor as one term of a direction.


@part
def load_few_levels(rows, lo, m, first, width, place, at, work, levels):
    """Load a factor of few levels, whose first column is `first`, as one term.

    The scores are the mean targets of the levels minus that of the rows, scaled to length 1.  They
    are written to work.scores from `at` on.  Those of the rows are not: the term is the only one.
    """
    if levels is None:
        return
    f, scores, largest = -1 - rows.place[first], work.scores[at:], 0.0
    weight, moment, codes, begin = levels.weight, levels.moment, rows.codes[f], np.uint64(lo)
    for k in range(width + 1):
        weight[k], moment[k] = 0.0, 0.0
    for i in range(np.uint64(m)):
        level = np.uint64(level_of(codes, rows, begin + i))
        weight[level] += work.weights[i]
        moment[level] += work.moment[i]
    for k in range(width):
        scores[k] = moment[k + 1] / weight[k + 1] if weight[k + 1] > 0.0 else 0.0
        largest = max(largest, abs(scores[k]))
    if not (largest > UNRELATED and normalise(scores, width)):
        for k in range(width):
            scores[k] = 0.0
    for k in range(width):
        work.column[at + k], work.term[at + k] = first + k, place
    work.covariance[place] = np.nan


@part
def load_many_levels(rows, lo, m, used, first, share, place, at, work, levels):
    """Load a factor of many levels as a term; return its columns, 0 if it differs by chance."""
    if levels is None:
        return 0
    f = -1 - rows.place[first]
    if levels.dismissed[f] == m:
        return 0
    keeps = len(levels.kept) > 0
    if keeps and levels.kept[f, 0] == m and levels.kept[f, 1] == used:
        return _load_kept(f, used, place, at, work, levels)
    present = score_levels(rows, lo, m, used, f, share, place, at, work)
    if present == 0:
        levels.dismissed[f] = m
    for k in range(present):
        work.column[at + k], work.term[at + k] = first + levels.present[k] - 1, place
    if keeps and present > 0:
        _keep(f, m, used, present, place, at, work, levels)
    return present


@part
def _keep(f, m, used, present, place, at, work, levels):
    """Keep the scores of a factor for the next direction that has it."""
    levels.kept[f, 0], levels.kept[f, 1], levels.kept[f, 2] = m, used, present
    for k in range(present):
        levels.kept_columns[f, k] = work.column[at + k]
        levels.kept_scores[f, k] = work.scores[at + k]
    for i in range(used):
        levels.kept_rows[f, i] = work.Z[place, i]
    levels.kept_covariance[f, 0] = work.covariance[place]
    levels.kept_covariance[f, 1] = work.excess[place]


@part
def _load_kept(f, used, place, at, work, levels):
    """Load a factor whose scores are kept, as `load_many_levels` does."""
    present = levels.kept[f, 2]
    for k in range(present):
        work.column[at + k] = levels.kept_columns[f, k]
        work.scores[at + k] = levels.kept_scores[f, k]
        work.term[at + k] = place
    for i in range(used):
        work.Z[place, i] = levels.kept_rows[f, i]
    work.covariance[place] = levels.kept_covariance[f, 0]
    work.excess[place] = levels.kept_covariance[f, 1]
    return present


# How much of a direction's fit is chance, where factors enter it by an indicator for each level.
# A number has one coefficient in a direction; a factor of which the rows have L levels has L - 1
# free ones.  With k free coefficients on m rows, a target without any relation has an expected R²
# of k / (m - 1), which would favour directions on factors.  Of the gain of a cut along the
# direction the share
#
#     ρ² = max(0, 1 - 2·k / (m - 1 - k) · (1 - R²) / R²)
#
# counts, with R² the squared correlation of direction and target.  With 1 in place of 2 it is the
# adjusted R², divided by R².  The chance counts twice, as in the criteria of Mallows (1973) and
# Akaike (1974): once for what the fit seems to explain, and once for the error of the coefficients
# in new rows.

TWICE = 2.0


@part
def free_coefficients(Z, first, width, m):
    """Return how many levels the rows have, less one: of shifted columns from Z[first] on."""
    varying = 0
    for j in range(first, first + width):
        for i in range(m):
            if Z[j, i] != 0.0:
                varying += 1
                break
    return max(varying - 1, 0)


@part
def beyond_chance(work, levels):
    """Return ρ of work.theta on the terms in work.Z; 1 if no factor is free, or no `levels`."""
    if levels is None or work.size[2] == 0:
        return 1.0
    k, terms, m = work.size[2], work.size[3], work.size[4]
    left, total, weighted, squares, common, target = m - 1.0 - k, 0.0, 0.0, 0.0, 0.0, 0.0
    if left < 1.0:
        return 0.0
    for i in range(m):
        value, a = 0.0, work.weights[i]
        for j in range(terms):
            value += work.theta[j] * work.Z[j, i]
        total += a
        weighted += a * value
        squares += a * value * value
        common += work.moment[i] * value
        target += work.moment[i] * work.target[i]
    related = common * common
    unrelated = (squares - weighted * weighted / total) * target - related
    if not related > 0.0:
        return 0.0
    return math.sqrt(max(1.0 - TWICE * k / left * max(unrelated, 0.0) / related, 0.0))


# Factors as random effects of a direction.
#
# Where a direction is regressed on numbers and factors together, the effects u of the L levels of a
# factor are random, of variance τ² beside the noise σ² (Henderson 1975).  Numbers and one factor
# minimise, with weights a,
#
#     Σ a·(t - c - βᵀz - u)² + λ·Σ u²,    λ = σ²/τ².
#
# So levels of few rows are shrunk, and a factor without effect vanishes, as its τ² is estimated to
# be 0.  Several factors are solved for one after the other, each together with the numbers.
#
# At first τ² and σ² are estimated by the moments of what the numbers leave, and after each of the
# `ROUNDS` from the solution: τ² = Σ u² / k and σ² = (Σ a·(t - t̄)² - E) / (m - 1 - p), with E the
# explained sum of squares, Σ a·(t - t̄)·(fit), p numbers and k = Σ n/(n + λ), with n the weight of a
# level (Harville 1977).
#
# k is the number of effects that are free in fact, and k·σ² is what they add to E by chance.  So of
# the gain of a cut along the direction the share ρ² = 1 - k·σ²/E counts.

ROUNDS = 3
# They are estimated on at most so many rows, or those of other directions if more.
MIXED_ROWS = 2000
# The least share of the target's variance that counts as noise, for λ to be positive.
NOISELESS = 1e-6


@part
def load_levels(rows, lo, m, first, j, at, levels):
    """Load factor j of a direction, whose columns start at `first`; return how many levels it has.

    The levels of the m rows from `lo` on get the slots after `at`, in ascending order.  Rows
    without a level have slot 0.
    """
    if levels is None:
        return 0
    effects, seen, present, number = levels.effects, levels.seen, levels.present, 0
    codes, begin = rows.codes[-1 - rows.place[first]], np.uint64(lo)
    for i in range(np.uint64(m)):
        k = np.uint64(level_of(codes, rows, begin + i))
        if k > 0 and not seen[k]:
            seen[k] = True
            present[number] = k
            number += 1
    for p in range(number):
        seen[present[p]] = False
    _sort(present, number, seen)
    slot_of, slot = effects.slot_of, effects.slot[j]
    for p in range(number):
        slot_of[present[p]] = at + p + 1
        effects.column[at + p + 1] = first + present[p] - 1
    for i in range(np.uint64(m)):
        slot[i] = slot_of[np.uint64(level_of(codes, rows, begin + i))]
    for p in range(number):
        slot_of[present[p]] = 0
    effects.begin[j], effects.begin[j + 1] = at + 1, at + 1 + number
    return number


@part
def note_factors(number, slots, levels):
    """Note how many factors a direction has, with so many slots."""
    if levels is not None:
        levels.effects.size[0], levels.effects.size[1] = number, slots


@part
def _add_up_levels(p, m, work, effects):
    """Add up the weights, the targets and the p numbers of each level, and a column of ones."""
    F, slots = effects.size[0], effects.size[1]
    weight, moment, numbers = effects.weight, effects.moment, effects.numbers
    for s in range(slots + 1):
        weight[s], moment[s] = 0.0, 0.0
        for j in range(p):
            numbers[s, j] = 0.0
    for f in range(F):
        slot = effects.slot[f]
        for i in range(m):
            at, a = np.uint64(slot[i]), work.weights[i]
            weight[at] += a
            moment[at] += work.moment[i]
            for j in range(p):
                numbers[at, j] += a * work.Z[j, i]
    for s in range(slots + 1):
        numbers[s, p] = weight[s]


@part
def _regress_on_numbers(p, m, total, work, effects):
    """Write β without factors to work.theta, and A·β = c with a constant to `effects`.

    Centres the terms.  Returns Σ a·(t - t̄)², and the same of the residuals.
    """
    theta, ridge, squares = work.theta, 0.0, 0.0
    for i in range(m):
        squares += work.moment[i] * work.target[i]
    if p > 0:
        weigh(work.Z, p, m, work.weights, work.moment, work, theta)
        scatter(work.Z, p, m, total, work)
        centre(work.Z, p, m, work.sums, total)
        ridge = add_ridge(work.A, p, RIDGE)
    for j in range(p):
        effects.c[j] = theta[j]
        for k in range(j + 1):
            effects.A[j, k] = work.A[j, k]
        effects.A[p, j] = 0.0
    effects.A[p, p], effects.c[p], theta[p] = total, 0.0, 0.0
    solve(work.A, theta, p)
    left = squares
    for j in range(p):
        left -= theta[j] * (effects.c[j] + ridge * theta[j])
    return squares, max(left, 0.0)


@part
def _variances(f, squares, m, p, theta, effects):
    """Return σ² and τ² of factor f by moments of the residuals, with a sum of `squares`."""
    between, weight, weight_squares = 0.0, 0.0, 0.0
    first, end = effects.begin[f], effects.begin[f + 1]
    for s in range(first, end):
        n, moment = effects.weight[s], effects.moment[s]
        for j in range(p):
            moment -= effects.numbers[s, j] * theta[j]
        if n > 0.0:
            between += moment * moment / n
            weight += n
            weight_squares += n * n
    freedom = end - first - 1.0
    noise = max(squares - between, 0.0) + PRIOR * squares / max(m - 1.0, 1.0)
    noise /= max(m - p - freedom - 1.0, 0.0) + PRIOR
    above = between - freedom * noise
    if freedom < 1.0 or not above > ROUNDING * squares:
        return noise, 0.0
    return noise, above / (weight - weight_squares / weight)


@part
def _subtract_others(f, m, p, work, effects):
    """Write to work.theta and `left` what the other factors leave of c and of the targets."""
    theta, left, effect = work.theta, effects.left, effects.effect
    for j in range(p + 1):
        theta[j] = effects.c[j]
    for s in range(effects.begin[f], effects.begin[f + 1]):
        left[s] = effects.moment[s]
    if effects.size[0] == 1:
        return
    for other in range(effects.size[0]):
        if other != f and effects.variance[other] > 0.0:
            for s in range(effects.begin[other], effects.begin[other + 1]):
                for j in range(p + 1):
                    theta[j] -= effects.numbers[s, j] * effect[s]
    slot, fit = effects.slot[f], work.eta
    for i in range(m):
        at = np.uint64(slot[i])
        fit[i] -= effect[at]
        left[at] -= work.weights[i] * fit[i]


@part
def _solve_with_factor(f, m, p, ratio, work, effects):
    """Solve for β and the effects of factor f, with λ = `ratio`, given the others; return k.

    The effects are eliminated first, as the levels have no rows in common.
    """
    _subtract_others(f, m, p, work, effects)
    A, theta, numbers, left = work.A, work.theta, effects.numbers, effects.left
    first, end, free = effects.begin[f], effects.begin[f + 1], 0.0
    for j in range(p + 1):
        for k in range(j + 1):
            A[j, k] = effects.A[j, k]
    for s in range(first, end):
        share = 1.0 / (effects.weight[s] + ratio)
        free += effects.weight[s] * share
        for j in range(p + 1):
            of_level = numbers[s, j] * share
            theta[j] -= of_level * left[s]
            for k in range(j + 1):
                A[j, k] -= of_level * numbers[s, k]
    solve(A, theta, p + 1)
    for s in range(first, end):
        for j in range(p + 1):
            left[s] -= numbers[s, j] * theta[j]
        effects.effect[s] = left[s] / (effects.weight[s] + ratio)
    if effects.size[0] > 1:
        slot = effects.slot[f]
        for i in range(m):
            work.eta[i] += effects.effect[np.uint64(slot[i])]
    return free


@part
def _solve_in_turn(noise, m, p, work, effects):
    """Solve for the effects of each factor that has any; return k of all, and E."""
    free, effect, variance = 0.0, effects.effect, effects.variance
    for f in range(effects.size[0]):
        if variance[f] > 0.0:
            of_factor = _solve_with_factor(f, m, p, noise / variance[f], work, effects)
            squares, first, end = 0.0, effects.begin[f], effects.begin[f + 1]
            for s in range(first, end):
                squares += effect[s] * effect[s]
            variance[f] = squares / of_factor
            free += of_factor * (1.0 - 1.0 / (end - first))
    explained = 0.0
    for j in range(p):
        explained += effects.c[j] * work.theta[j]
    for s in range(1, effects.size[1] + 1):
        explained += effect[s] * effects.moment[s]
    return free, explained


@kernel
def estimate_effects(p, m, total, work, levels):
    """Regress the target in `work` on the first p terms in work.Z, numbers, and the factors loaded.

    On m rows, whose weights have the sum `total`.  Writes β to work.theta, effects to
    levels.effects, and returns ρ; -1 if no factor has an effect, or none is loaded.
    """
    if levels is None:
        return -1.0
    effects = levels.effects
    F, slots = effects.size[0], effects.size[1]
    if F == 0:
        return -1.0
    squares, left = _regress_on_numbers(p, m, total, work, effects)
    _add_up_levels(p, m, work, effects)
    noise = np.inf
    for f in range(F):
        beside, effects.variance[f] = _variances(f, left, m, p, work.theta, effects)
        if effects.variance[f] > 0.0:
            noise = min(noise, beside)
    if noise == np.inf:
        return -1.0
    effects.effect[: slots + 1], work.eta[:m] = 0.0, 0.0
    free, explained, least = 0.0, 0.0, NOISELESS * squares / m
    noise = max(noise, least)
    for _ in range(ROUNDS):
        free, explained = _solve_in_turn(noise, m, p, work, effects)
        noise = max((squares - explained) / max(m - 1.0 - p, 1.0), least)
    if not explained > 0.0:
        return -1.0
    return math.sqrt(max(1.0 - free * noise / explained, 0.0))


@part
def append_effects(p, work, levels):
    """Append the effects that `estimate_effects` found to the columns of the p numbers."""
    if levels is None:
        return
    effects, at = levels.effects, work.size[0]
    for f in range(effects.size[0]):
        work.theta[p + f] = 1.0
        for s in range(effects.begin[f], effects.begin[f + 1]):
            work.column[at], work.scores[at] = effects.column[s], effects.effect[s]
            work.term[at] = p + f
            at += 1
    work.size[0] = at
