"""The order of a factor's levels for more than two classes: the first principal component.

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
from odrf.engine.directions.candidates import INDICATORS, FeatureGroups, has_levels
from odrf.engine.directions.eigen import Spectrum, right_singular
from odrf.engine.directions.estimation import UNRELATED, moments
from odrf.engine.rows.rows import level_at
from odrf.engine.settings import Settings
from odrf.engine.splits.criteria import ENTROPY, ORDINAL

__all__ = [
    "ClassShares",
    "class_shares_for",
    "is_ordered_by_shares",
    "principal_scores",
    "principal_target",
]

# Entries of an eigenvector are equally large if they differ by no more than this share.
EQUAL = 1.0 - 1e-9
# Scores below this share of the largest are 0 but for rounding.
ROUNDING = 1e-9
# So many classes, all present, need no iteration.
THREE = 3


class ClassShares(NamedTuple):
    """Scratch for the classes in the levels of a factor: up to K classes in L levels.

    Attributes
    ----------
    entropy : bool
        Whether the criterion is the entropy.
    table : (L + 1, K) float64
        The weight of each class in each level; then the deviations of the shares.  The last row in
        use is that of rows without a level.
    row : (L + 1,) int64
        1 + the row of each level of a factor of many levels; 0 between calls.
    levels : (L,) int64
        The level in each row of the table.
    roots : (L,) float64
        √w, with w the weight of a level.
    value : (K,) float64
        The weight of each class; then its target.
    share, unit : (K,) float64
        The share of each class, and what its deviations are multiplied by.
    spectrum : Spectrum
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


def class_shares_for(feature_groups: FeatureGroups, settings: Settings) -> ClassShares | None:
    """Allocate the scratch for the factors among these predictors.

    None if no factor is ordered by it: if there are none, nor empty cells, or fewer than three
    classes, or their order is known.  As None has a type of its own in Numba, no code is needed
    then.
    """
    if settings.n_classes <= 2 or settings.criterion == ORDINAL or feature_groups.holes is None:
        return None
    widths = feature_groups.widths[has_levels(feature_groups)]
    L, K = int(widths.max(initial=1)), settings.n_classes
    D = max(min(L, K), min(K, THREE))
    return ClassShares(
        settings.criterion == ENTROPY,
        np.empty((L + 1, K)),
        np.zeros(L + 1, dtype=np.int64),
        np.empty(L, dtype=np.int64),
        np.empty(L),
        np.empty(K),
        np.empty(K),
        np.empty(K),
        Spectrum(np.empty((D, K)), np.empty((D, K)), np.empty(D)),
    )


@part
def is_ordered_by_shares(shares, feature_groups, predictor):
    """Return whether the levels of a predictor, a factor, are ordered by their class shares."""
    if shares is None:
        return False
    return feature_groups.types[predictor] == INDICATORS


@part
def _tabulate_few(rows, lo, m, first, width, table, value):
    """Write the class weights of each of `width` levels, from 0 on, to the table.

    Those of all rows are written to `value`; returns their sum.
    """
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
    """Write the class weights of the levels that the rows have to the table; return their number.

    A row of the table for each, in the order in which they are met.
    """
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
    """Replace the table of `number` levels by √w times the deviations of their class shares.

    Only levels and classes that are present have rows and columns; returns how many there are.  The
    numbers of the levels are written to shares.levels.
    """
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
    """Write v to the first of the vectors; return how many levels and classes are present.

    Returns 0, 0 if all levels have the same class shares.
    """
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
