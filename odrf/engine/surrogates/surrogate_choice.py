"""Choose the surrogates of a split: on each other predictor, and an oblique one.

A surrogate is for rows in which a predictor of the split is empty.  So it must not need all
predictors of the split: that of a single predictor never has it again, while those of an oblique
split may be on one of its predictors, which helps where another one is empty.

A split on several predictors also gets an oblique surrogate: the least-squares direction of the
side, over the predictors of the best surrogates that are not among those of the split.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import NO, ONE, YES, ZERO, part
from odrf.engine.directions.estimation import covariances, least_squares, moments
from odrf.engine.rows.rows import level_at, project
from odrf.engine.surrogates.agreement import LEFT, RIGHT, agreeing_cut, agreeing_levels
from odrf.engine.surrogates.complete_rows import complete_rows
from odrf.engine.surrogates.surrogate_splits import MOST_SURROGATES

__all__ = ["choose_surrogates"]

# Surrogates that add less to the larger side are no better; what rpart takes for rounding.
LEAST_ADJ = 1e-10


@part
def _write_weights(rows, lo, m, work):
    """Write to work.weights what the rows count: agreement is of rows, not of their exposure."""
    for i in range(m):
        if len(work.case_weights) > 0:
            work.weights[i] = work.case_weights[rows.at[lo + i]] * rows.counts[lo + i]
        else:
            work.weights[i] = rows.weights[lo + i]


@part
def _write_sides(rows, lo, m, columns, size, cut, projected, work):
    """Write to work.side where the split sends rows, 0 if it needs an empty cell.

    Returns the weights that go left and right.
    """
    complete_rows(rows, lo, m, work.marks, columns[0], size, NO, work)
    left, right = 0.0, 0.0
    for i in range(m):
        work.side[i] = 0
        if work.complete[i]:
            if projected[i] <= cut:
                work.side[i] = LEFT
                left += work.weights[i]
            else:
                work.side[i] = RIGHT
                right += work.weights[i]
    return left, right


@part
def _count_used(marks, columns, size, used):
    """Mark the predictors of a direction in `used`; return their number."""
    n = 0
    for t in range(size):
        j = marks.predictor[columns[0, t]]
        n += not used[j]
        used[j] = True
    return n


@part
def _offer(work, n, agreement, left, right, size, threshold, flipped):
    """Take the candidate in work.columns among the best n, if it is; return their number."""
    ranked, total, majority = work.ranked, left + right, max(left, right)
    if not agreement > 0.0 or majority >= total:
        return n
    agree, larger = agreement / total, majority / total
    adj = (agree - larger) / (1.0 - larger)
    if adj <= LEAST_ADJ or (n == MOST_SURROGATES and agree <= ranked.agree[ranked.place[n - 1]]):
        return n
    place = n if n < MOST_SURROGATES else ranked.place[n - 1]
    n = min(n + 1, MOST_SURROGATES)
    s = n - 1
    while s > 0 and agree > ranked.agree[ranked.place[s - 1]]:
        ranked.place[s] = ranked.place[s - 1]
        s -= 1
    ranked.place[s], ranked.sizes[place] = place, size
    ranked.agree[place], ranked.adj[place] = agree, adj
    ranked.threshold[place], ranked.flipped[place] = threshold, flipped
    for t in range(size):
        ranked.columns[place, t] = work.columns[0, t]
        ranked.theta[place, t] = work.theta[0, t]
    return n


@part
def _write_levels(rows, lo, m, first, last, mark, work):
    """Write the levels of a factor, 1, 2, … in the order of its columns; 0 for an empty cell."""
    levels = work.levels
    if len(rows.place) > 0 and rows.place[first] < 0:
        f = -1 - rows.place[first]
        for i in range(m):
            levels[i] = level_at(rows, f, lo + i)
            if levels[i] == mark - first + 1:
                levels[i] = 0
        return
    for i in range(m):
        levels[i] = 0
    for column in range(first, last):
        if column == mark:
            continue
        work.columns[0, 0], work.theta[0, 0] = column, 1.0
        project(rows, lo, m, work.columns, work.theta, ZERO, ONE, work.values)
        for i in range(m):
            if work.values[i] > 0.5:
                levels[i] = column - first + 1


@part
def _offer_factor(rows, lo, m, j, weights, left, right, n, work):
    marks = work.marks
    first, last = marks.first[j], marks.first[j + 1]
    _write_levels(rows, lo, m, first, last, marks.mark[j], work)
    L, size = last - first + 1, ZERO
    agreement = agreeing_levels(
        work.levels[:m], work.side[:m], weights, work.left[:L], work.right[:L], work.n_rows[:L],
        work.sent[:L],
    )  # fmt: skip
    for k in range(1, L):
        size += work.sent[k] != 0
    coefficient, t = np.float32(1.0 / math.sqrt(max(size, ONE))), 0
    for k in range(1, L):
        if work.sent[k] != 0:
            work.columns[0, t] = first + k - 1
            work.theta[0, t] = -coefficient if work.sent[k] == LEFT else coefficient
            t += 1
    return _offer(work, n, agreement, left, right, size, np.float32(0.0), NO)


@part
def _offer_number(rows, lo, m, j, weights, left, right, n, work):
    marks, values = work.marks, work.values
    best, threshold, flipped, chosen = 0.0, np.float32(0.0), NO, marks.first[j]
    work.columns[0, 0], work.theta[0, 0] = chosen, 1.0
    complete_rows(rows, lo, m, marks, work.columns[0], ONE, YES, work)
    for column in range(marks.first[j], marks.first[j + 1]):
        if column == marks.mark[j]:
            continue
        work.columns[0, 0] = column
        project(rows, lo, m, work.columns, work.theta, ZERO, ONE, values)
        agreement, cut, turned = agreeing_cut(
            values[:m], work.side[:m], work.complete[:m], weights, work.sorting
        )
        if agreement > best:
            best, threshold, flipped, chosen = agreement, cut, turned, column
    work.columns[0, 0] = chosen
    return _offer(work, n, best, left, right, ONE, threshold, flipped)


@part
def _combined(rows, lo, m, n, work):
    """Write a direction over the best n surrogates on other predictors; return its size, or 0."""
    ranked, estimation, d, size, number = work.ranked, work.work, ZERO, ZERO, ZERO
    for s in range(n):
        place = ranked.place[s]
        if work.used[work.marks.predictor[ranked.columns[place, 0]]]:
            continue
        project(rows, lo, m, ranked.columns, ranked.theta, place, ranked.sizes[place], work.values)
        for i in range(m):
            estimation.Z[d, i] = work.values[i]
        for t in range(ranked.sizes[place]):
            work.columns[0, size] = ranked.columns[place, t]
            work.theta[0, size] = ranked.theta[place, t]
            size += 1
        d += 1
    if d < 2:
        return ZERO
    complete_rows(rows, lo, m, work.marks, work.columns[0], size, NO, work)
    for i in range(m):
        if work.complete[i] and work.side[i] != 0:
            estimation.target[number] = 1.0 if work.side[i] == RIGHT else 0.0
            estimation.weights[number] = work.weights[i]
            for j in range(d):
                estimation.Z[j, number] = estimation.Z[j, i]
            number += 1
    if number <= d:
        return ZERO
    target, weights, theta = estimation.target, estimation.weights, estimation.theta
    for j in range(d):
        origin = estimation.Z[j, 0]
        for i in range(number):
            estimation.Z[j, i] -= origin
    total, _ = moments(target, weights, number, estimation.moment)
    if not covariances(
        estimation.Z, d, number, weights, estimation.moment, total, estimation, theta
    ):
        return ZERO
    least_squares(d, estimation, theta)
    t, d, squares = 0, ZERO, 0.0
    for s in range(n):
        place = ranked.place[s]
        if work.used[work.marks.predictor[ranked.columns[place, 0]]]:
            continue
        for _ in range(ranked.sizes[place]):
            squares += (theta[d] * work.theta[0, t]) ** 2
            work.theta[0, t] *= np.float32(theta[d])
            t += 1
        d += 1
    if not squares > 0.0:
        return ZERO
    for t in range(size):
        work.theta[0, t] /= np.float32(math.sqrt(squares))
    return size


@part
def _offer_combined(rows, lo, m, weights, left, right, n, work):
    size = _combined(rows, lo, m, n, work)
    if size == 0:
        return n
    project(rows, lo, m, work.columns, work.theta, ZERO, size, work.values)
    agreement, threshold, flipped = agreeing_cut(
        work.values[:m], work.side[:m], work.complete[:m], weights, work.sorting
    )
    return _offer(work, n, agreement, left, right, size, threshold, flipped)


@part
def _write_chosen(n, majority_left, work):
    ranked, chosen, z = work.ranked, work.chosen, 0
    chosen.first[1], chosen.majority_left[0] = n, majority_left
    for s in range(n):
        place = ranked.place[s]
        chosen.threshold[s], chosen.flipped[s] = ranked.threshold[place], ranked.flipped[place]
        chosen.agree[s], chosen.adj[s] = ranked.agree[place], ranked.adj[place]
        chosen.n_split[s] = 0
        for t in range(ranked.sizes[place]):
            chosen.column[z], chosen.coef[z] = ranked.columns[place, t], ranked.theta[place, t]
            z += 1
        chosen.start[s + 1] = z


@part
def choose_surrogates(rows, lo, m, columns, size, cut, projected, work):
    """Write the surrogates of a split of the m rows from `lo` on to work.chosen.

    Parameters
    ----------
    rows : Rows
    lo, m : int
    columns : (1, ≥ size) int64
        The columns of the split.
    size : int
    cut : float32
        Its threshold.
    projected : (≥ m,) float32
        The projections of the rows, of any value where a cell is empty.
    work : SurrogateScratch

    Notes
    -----
    Of surrogates that agree equally, that of the first predictor comes first, and single predictors
    before a direction.
    """
    _write_weights(rows, lo, m, work)
    left, right = _write_sides(rows, lo, m, columns, size, cut, projected, work)
    weights, n = work.weights[:m], ZERO
    n_used = _count_used(work.marks, columns, size, work.used)
    for j in range(len(work.marks.mark)):
        if n_used == 1 and work.used[j]:
            continue
        if work.marks.factor[j]:
            n = _offer_factor(rows, lo, m, j, weights, left, right, n, work)
        else:
            n = _offer_number(rows, lo, m, j, weights, left, right, n, work)
    if n_used > 1:
        n = _offer_combined(rows, lo, m, weights, left, right, n, work)
    for t in range(size):
        work.used[work.marks.predictor[columns[0, t]]] = False
    _write_chosen(n, left >= right, work)
