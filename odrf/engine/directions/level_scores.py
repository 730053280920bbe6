"""Scores for the levels of a factor of many levels, and how far they can be trusted.

The levels are scored by their mean target, shrunk towards the mean of the node: an empirical Bayes
estimate, which ignores a factor whose levels differ by no more than chance.  Two things would
still favour a factor without meaning over a numeric predictor, as the same rows would score the
levels and judge the split:

* A direction would be estimated on scores that contain each row's own target.  So each row gets the
  score of its level without this row (leave one out).
* The gain of a split would contain the noise by which its levels are ordered.  So candidates are
  compared by ρ²·Δ, with ρ the share of the direction's covariance with the target that is left
  without this noise, see `reliability`.

If the target itself was chosen by the levels, as in `odrf.engine.directions.class_shares`, the sum
of squares between levels is a largest eigenvalue.  With ν degrees of freedom between levels, and q
other directions in which the target could have been chosen, one of S + ν noise variances without
this choice becomes one of (S + ν)·(S + q)/S, so that S is known from it.  It is 0 below (√ν + √q)²,
the edge of what noise alone gives (Baik and Silverstein 2006).

The levels of a factor of few levels are not shrunk: their order is no freer than the cut point of a
numeric predictor.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.candidates import FEW_LEVELS
from odrf.engine.rows.rows import level_of

__all__ = ["reliability", "score_levels"]

# A node's own variance counts as so many degrees of freedom when that within levels is estimated:
# in small nodes most levels have one row.
PRIOR = 4.0
# The best cut of a numeric predictor without meaning gains about as much as so many degrees of
# freedom.  So much is allowed to a factor too.
FREE = FEW_LEVELS - 1.0
# Levels are sorted by looking through all of them if these are at most so many times as many.
SWEPT = 8
# Below this share, of the sum of squares or of the largest score, evidence or a score is rounding.
ROUNDING = 1e-9


@part
def _add_up(rows, lo, m, f, share, work):
    """Add up weights and moments of each level; return Σ a, Σ a·(t - t̄)², the number of levels.

    The levels that are present are written to work.levels.present, in any order.
    """
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
