"""Choose the surrogates of a split, those that agree best with it, and send rows by them.

A surrogate is for rows in which a predictor of the split is empty.  So it must not need all
predictors of the split: that of a single predictor never has it again, while those of an oblique
split may be on one of its predictors, which helps where another one is empty.

A split on several predictors also gets an oblique surrogate: the least-squares direction of the
side, over the predictors of the best surrogates that are not among those of the split.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import NO, ONE, YES, ZERO, kernel, part
from odrf.engine.directions.estimation import covariances, least_squares, moments
from odrf.engine.directions.missing import clear_sides
from odrf.engine.numeric import POSITION, VALUE_SHIFT, key_of, sort_by_digits, value_of
from odrf.engine.rows import level_at, project
from odrf.engine.splits.cuts import exact_cut
from odrf.engine.splits.impurity import describe, uses_moments
from odrf.engine.splits.surrogates import MOST_SURROGATES, complete_rows, without_marks
from odrf.engine.splits.thresholds import midpoint, random_cut

# The cut, or the set of levels, that sends most rows to the side where the primary split does.
# As in rpart: a surrogate must be better than sending all rows to the larger side, and at least two
# rows go either way of a cut (Breiman, Friedman, Olshen and Stone 1984, section 5.3).

LEFT, RIGHT = np.int8(1), np.int8(-1)
# Fewest rows either way of a cut, so that none follows a single row.
FEWEST = 2


@kernel
def agreeing_cut(values, side, known, weights, sorting):
    """Return (agreement, threshold, flipped) of the cut that agrees most with the `side` of rows.

    `values` (m,), `weights` (m,).  `side` (m,): `LEFT` or `RIGHT`; 0 for rows that do not count.
    Cuts are tried between their values too.  `known` (m,): which rows have a value.  `sorting`:
    scratch for m keys.  Returns `agreement`: the weight of the rows that are sent to their side; 0
    if no cut sends more of them there than sending all of them to one side.  `flipped`: whether
    values up to the threshold go right.
    """
    keys = sorting.keys
    n, above, left_above, right_above = 0, 0, 0.0, 0.0
    for i in range(len(values)):
        if known[i]:
            keys[n] = key_of(values[i], i)
            n += 1
            above += side[i] != 0
            left_above += weights[i] if side[i] == LEFT else 0.0
            right_above += weights[i] if side[i] == RIGHT else 0.0
    sort_by_digits(sorting, n)
    best, at, flipped = max(left_above, right_above), -1, False
    below, left_below, right_below = 0, 0.0, 0.0
    for i in range(n - 1):
        row = keys[i] & POSITION
        weight = weights[row]
        below += side[row] != 0
        if side[row] == LEFT:
            left_above -= weight
            left_below += weight
        elif side[row] == RIGHT:
            right_above -= weight
            right_below += weight
        is_cut = keys[i + 1] >> VALUE_SHIFT > keys[i] >> VALUE_SHIFT
        if not is_cut or below < FEWEST or above - below < FEWEST:
            continue
        if right_below + left_above > best:
            best, at, flipped = right_below + left_above, i, True
        elif left_below + right_above > best:
            best, at, flipped = left_below + right_above, i, False
    if at < 0:
        return 0.0, np.float32(0.0), False
    return best, midpoint(value_of(keys[at]), value_of(keys[at + 1])), flipped


@kernel
def agreeing_levels(levels, side, weights, left, right, n_rows, sent):
    """Write each level's best side to `sent` (L + 1,), 0 if no row counts; return the agreement."""
    for k in range(len(sent)):
        left[k], right[k], n_rows[k], sent[k] = 0.0, 0.0, 0, 0
    for i in range(len(levels)):
        k = levels[i]
        if side[i] == LEFT:
            left[k] += weights[i]
        elif side[i] == RIGHT:
            right[k] += weights[i]
        n_rows[k] += side[i] != 0
    all_left, all_right = 0.0, 0.0
    for k in range(1, len(sent)):
        all_left += left[k]
        all_right += right[k]
    agreement = 0.0
    for k in range(1, len(sent)):
        if n_rows[k] == 0:
            continue
        if left[k] > right[k] or (left[k] == right[k] and all_left > all_right):
            agreement += left[k]
            sent[k] = LEFT
        else:
            agreement += right[k]
            sent[k] = RIGHT
    return agreement


# Choose the surrogates of a split: on each other predictor, and an oblique one.

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
    """Write the sides of rows, 0 where a cell is empty; return the weights left and right."""
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

    `columns`: the columns of the split.  `cut`: its threshold.  `projected`: the projections of the
    rows, of any value where a cell is empty.

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


# Score candidate splits on the rows that have values for them, as rpart does.


@part
def remove_marks(proposals, n, marks):
    """Remove the terms that only rows with empty cells have from n proposals."""
    clear_sides(proposals.two_sided)
    for c in range(n):
        proposals.sizes[c] = without_marks(
            proposals.columns, proposals.theta, c, proposals.sizes[c], marks
        )


@part
def _take_complete(rows, lo, m, work):
    """Gather the responses of the rows in work.complete; return their number."""
    n, kept = 0, work.complete_node
    for i in range(m):
        if work.complete[i]:
            kept.y[n], kept.weights[n] = rows.y[lo + i], rows.weights[lo + i]
            kept.counts[n] = rows.counts[lo + i]
            work.complete_values[n] = work.values[i]
            n += 1
    return n


@part
def _best_cut(state, values, left, table, node, settings, sorting):
    """Return (gain, threshold) of the best of the cuts that the settings say."""
    if settings.n_thresholds > 0:
        return random_cut(
            state, values, left, table, node, settings.n_thresholds, settings.min_leaf
        )
    return exact_cut(values, sorting, left, node, settings.min_leaf)


@part
def score_on_complete_rows(state, rows, lo, m, weight, n, settings, shared, work):
    """Overwrite gains and thresholds of the n candidates that some of m rows have no value for.

    Their gain is that among the other rows, per unit of the `weight` of the whole node, whose rows
    begin at `lo`.  `shared` and `work` are a `SharedScratch` and a `SurrogateScratch`: see
    `odrf.engine.splits.surrogate_scratch`.
    """
    proposals = shared.proposals
    for c in range(n):
        size = proposals.sizes[c]
        number = complete_rows(rows, lo, m, work.marks, proposals.columns[c], size, NO, work)
        work.is_scored[c] = number < m
        if number == m:
            continue
        shared.gains[c] = 0.0
        if number < 2:
            continue
        project(rows, lo, m, proposals.columns, proposals.theta, c, size, work.values)
        _take_complete(rows, lo, m, work)
        complete = describe(
            work.complete_node, 0, number, work.mean, work.moments, shared.logs, settings.criterion,
            settings.min_weight,
        )  # fmt: skip
        values = work.complete_values[:number]
        left, table = shared.left, shared.table
        if uses_moments(settings.n_classes):
            gain, threshold = _best_cut(
                state, values, None, table, complete, settings, work.sorting
            )
        else:
            gain, threshold = _best_cut(
                state, values, left, table, complete, settings, work.sorting
            )
        shared.gains[c] = gain * (complete.weight / weight)
        shared.thresholds[c] = threshold


# Send the rows of a node that have an empty cell in what its split needs.

FAR_LEFT, FAR_RIGHT = np.float32(-np.inf), np.float32(np.inf)


@part
def _load(surrogates, s, work):
    """Write the terms of surrogate s to work.columns and work.theta; return their number."""
    first, size = surrogates.start[s], surrogates.start[s + 1] - surrogates.start[s]
    for t in range(size):
        work.columns[0, t] = surrogates.column[first + t]
        work.theta[0, t] = surrogates.coef[first + t]
    return size


@part
def send_by_surrogates(rows, lo, m, columns, size, surrogates, node, projected, work):
    """Overwrite the projections of rows that have no value for a split by ±∞, by its surrogates.

    -∞ is left of every threshold, ∞ right.

    `columns`: the columns of the split.  `node`: the number of the split there.  `projected`: the
    projections of the rows.  `work`: work.n_sent receives how many rows, counting repetitions, take
    each surrogate, and work.n_incomplete how many rows have no value for the split.
    """
    if surrogates is None:
        return
    waiting, first, last = work.waiting, surrogates.first[node], surrogates.first[node + 1]
    left = m - complete_rows(rows, lo, m, work.marks, columns[0], size, NO, work)
    work.n_incomplete[0] = left
    for s in range(last - first):
        work.n_sent[s] = 0
    if left == 0:
        return
    for i in range(m):
        waiting[i] = not work.complete[i]
    for s in range(first, last):
        n_terms = _load(surrogates, s, work)
        complete_rows(rows, lo, m, work.marks, work.columns[0], n_terms, YES, work)
        project(rows, lo, m, work.columns, work.theta, ZERO, n_terms, work.values)
        for i in range(m):
            if waiting[i] and work.complete[i]:
                goes_left = (work.values[i] <= surrogates.threshold[s]) != surrogates.flipped[s]
                projected[i] = FAR_LEFT if goes_left else FAR_RIGHT
                waiting[i] = False
                work.n_sent[s - first] += rows.counts[lo + i]
    for i in range(m):
        if waiting[i]:
            projected[i] = FAR_LEFT if surrogates.majority_left[node] else FAR_RIGHT


@part
def send_with_new_surrogates(rows, lo, m, size, cut, columns, theta, projected, work):
    """Choose the surrogates of a split, send the rows that need them, and return its size."""
    size = without_marks(columns, theta, ZERO, size, work.marks)
    choose_surrogates(rows, lo, m, columns, size, cut, projected, work)
    send_by_surrogates(rows, lo, m, columns, size, work.chosen, ZERO, projected, work)
    for s in range(work.chosen.first[1]):
        work.chosen.n_split[s] = work.n_sent[s]
    return size
