"""Search the best split of a node among its candidate directions and their cut points."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, inlined, merged, part
from odrf.engine.directions.candidates import (
    FEW_LEVELS,
    ROUND,
    FeatureGroups,
    Proposals,
    has_levels,
    proposals_for,
)
from odrf.engine.directions.factors import MIXED_ROWS
from odrf.engine.directions.missing import FILL, clear_sides, fill_directions, is_two_sided, settled
from odrf.engine.directions.samplers import (
    SamplerMixture,
    Workspace,
    begin_samplers,
    draw_round,
    forget_levels,
    workspace,
)
from odrf.engine.kernel_params import AIC, NO_LIMIT, NO_PENALTY, KernelParams
from odrf.engine.numeric import DigitScratch, digit_scratch
from odrf.engine.rows import column_itself, is_plain_column, project, project_here
from odrf.engine.splits.cuts import (
    bin_best,
    cut_of_both_sides,
    exact_cut,
    exact_cuts,
    other_side_of,
    refined_cut,
    write_lane,
)
from odrf.engine.splits.factor_splits import (
    LevelSums,
    best_cut_of_levels,
    factor_of,
    level_sums_for,
    random_cut_of_levels,
)
from odrf.engine.splits.histograms import (
    FOUR,
    MOST_BINS,
    TwoValues,
    bin_values,
    binned_cut,
    has_two_values,
    scan_bins,
    tally_four_columns,
    tally_two_values,
    two_values,
    write_words,
)
from odrf.engine.splits.impurity import (
    CRITERIA,
    NEGLIGIBLE,
    PresentClasses,
    among_present,
    present_classes_for,
    uses_moments,
    whole_logs,
)
from odrf.engine.splits.surrogate_scratch import leave_out_marks, score_round
from odrf.engine.splits.thresholds import random_cut

# For nodes of up to this many rows the candidates of a round are sorted together, else one by one.
SORTED_TOGETHER = 128


@part
def number_of_bins(m):
    """Return the number of bins for m rows: enough for a good cut, few enough to scan quickly."""
    return 32 if m <= 512 else 64 if m <= 2048 else MOST_BINS


@merged
def _cut_of_levels(state, rows, lo, f, node, columns, theta, c, size, settings, left, levels):
    """Return gain and threshold of direction c, along factor f alone; nothing without `levels`."""
    if levels is None:
        return 0.0, np.float32(0.0)
    if settings.n_thresholds > 0:
        return random_cut_of_levels(
            state, rows, lo, f, node, columns, theta, c, size, left, settings.n_thresholds,
            levels, settings.min_leaf,
        )  # fmt: skip
    return best_cut_of_levels(
        rows, lo, f, node, columns, theta, c, size, left, levels, settings.min_leaf
    )


@part
def _cut_waiting(
    waiting, n, bins, words, quantum, tally, table, tallies, tables, left, node, n_bins, min_leaf,
    gains,
):  # fmt: skip
    """Write the gains of n ≤ `FOUR` candidates; `bins` holds their bins, one after the other.

    `waiting` (≥ n,) has their numbers.  Moments are added up of four together; of three too, as
    if the first were there twice: two alone take less time.
    """
    m = len(node.y)
    if left is not None or n < FOUR - 1:
        for w in range(n):
            gains[waiting[w]], _ = binned_cut(
                bins[w * m : (w + 1) * m], words, quantum, tally, table, left, node, n_bins,
                min_leaf,
            )  # fmt: skip
        return
    if n < FOUR:
        for i in range(m):
            bins[n * m + i] = bins[i]
    tally_four_columns(bins, words, node, n_bins, tallies, tables)
    for w in range(n):
        gains[waiting[w]], _ = scan_bins(
            quantum, tallies[w], tables[w], left, node, n_bins, min_leaf
        )


@part
def _cut_between_two(
    rows, lo, two, n, words, quantum, tallies, tables, left, node, min_leaf, gains
):
    """Write the gains of 1 ≤ n ≤ `FOUR` candidates that are columns of two values."""
    if left is not None:
        return
    for w in range(n, FOUR):
        two.columns[w] = two.columns[0]
    tally_two_values(rows, lo, two, words, node, tallies, tables)
    for w in range(n):
        gains[two.candidates[w]], _ = scan_bins(
            quantum, tallies[w], tables[w], left, node, 2, min_leaf
        )


@part
def _cut_columns_of_two_values(
    rows, lo, n, proposals, two, words, quantum, tallies, tables, left, node, min_leaf, gains
):
    """Write the gains of those of n candidates that are columns of two values, and note which."""
    columns, theta, sizes, waiting = proposals.columns, proposals.theta, proposals.sizes, ZERO
    for c in range(n):
        column = columns[c, 0]
        two.is_cut[c] = is_plain_column(rows, theta, c, sizes[c]) and has_two_values(rows, column)
        if two.is_cut[c]:
            two.candidates[waiting], two.columns[waiting] = c, column
            waiting += 1
        if waiting == FOUR or (c == n - 1 and waiting > 0):
            _cut_between_two(
                rows, lo, two, waiting, words, quantum, tallies, tables, left, node, min_leaf, gains
            )
            waiting = ZERO


@inlined
def _cut_together(lanes, node, left, n, min_leaf, scratch):
    """Write gains and thresholds of those of n candidates whose values are in the lanes of keys."""
    keys, proposals = scratch.keys, scratch.proposals
    gains, thresholds, theta = scratch.gains, scratch.thresholds, proposals.theta
    lane_gains, lane_thresholds = scratch.lane_gains, scratch.lane_thresholds
    exact_cuts(keys, lanes, left, node, min_leaf, lane_gains, lane_thresholds)
    lane = ZERO
    for c in range(n):
        if proposals.factor[c] >= 0:
            continue
        gains[c], thresholds[c] = lane_gains[lane], lane_thresholds[lane]
        if is_two_sided(proposals.two_sided, c):
            gain, threshold = other_side_of(
                keys, lane, lanes, left, node, min_leaf, proposals.two_sided
            )
            if gain > gains[c]:
                gains[c], thresholds[c], theta[c, 1] = gain, threshold, -FILL
        lane += 1


@inlined
def evaluate_candidates(state, rows, lo, node, left, n, binned, quantum, settings, scratch):
    """Write the gains of a round's n candidates; `node` and `left` are those of `among_present`.

    Their thresholds are written too, unless they are `binned`: but those along one factor always.
    In small nodes the values of all candidates are sorted together, each in a lane of its own.
    """
    m = len(node.y)
    bins, n_bins = scratch.bins, number_of_bins(m)
    keys, table, min_leaf = scratch.keys, scratch.table, settings.min_leaf
    words, tally, proposals = scratch.words, scratch.tally, scratch.proposals
    gains, thresholds, two = scratch.gains, scratch.thresholds, scratch.two
    columns, theta, sizes = proposals.columns, proposals.theta, proposals.sizes
    random = settings.n_thresholds > 0
    # the kernel of tables with factors or empty cells is large: more code would slow it down
    plain = scratch.levels is None and not random
    together = not (random or binned) and m <= SORTED_TOGETHER
    most_waiting = FOUR if scratch.left is None else 1
    by_value = plain and binned and scratch.left is None and len(rows.high) > 0
    if by_value:
        _cut_columns_of_two_values(
            rows, lo, n, proposals, two, words, quantum, scratch.tallies, scratch.tables, left,
            node, min_leaf, gains,
        )  # fmt: skip
    lanes, lane, n_waiting = ZERO, ZERO, ZERO
    for c in range(n):
        proposals.factor[c] = factor_of(rows.place, columns, c, sizes[c], scratch.levels)
        lanes += proposals.factor[c] < 0
    for c in range(n):
        if proposals.factor[c] >= 0:
            gains[c], thresholds[c] = _cut_of_levels(
                state, rows, lo, proposals.factor[c], node, columns, theta, c, sizes[c], settings,
                left, scratch.levels,
            )  # fmt: skip
            continue
        if by_value and two.is_cut[c]:
            continue
        values, own_bins = scratch.values[:m], bins[n_waiting * m : (n_waiting + 1) * m]
        if plain and is_plain_column(rows, theta, c, sizes[c]):
            values = column_itself(rows, lo, m, columns[c, 0])
        else:
            project_here(rows, lo, m, columns, theta, c, sizes[c], values)
        if together:
            write_lane(values, keys, lane, lanes)
            lane += 1
        elif is_two_sided(proposals.two_sided, c):
            gains[c], thresholds[c], theta[c, 1] = cut_of_both_sides(
                state, values, own_bins, n_bins, node, left, quantum, binned, settings, scratch,
                proposals.two_sided,
            )  # fmt: skip
        elif random:
            gains[c], thresholds[c] = random_cut(
                state, values, left, table, node, settings.n_thresholds, min_leaf
            )
        elif not binned:
            gains[c], thresholds[c] = exact_cut(values, scratch.sorting, left, node, min_leaf)
        elif not bin_values(values, own_bins, n_bins):
            gains[c] = 0.0
        elif not plain:
            gains[c], _ = binned_cut(
                own_bins, words, quantum, tally, table, left, node, n_bins, min_leaf
            )
        else:
            scratch.waiting[n_waiting] = c
            n_waiting += 1
            if n_waiting == most_waiting:
                _cut_waiting(
                    scratch.waiting, n_waiting, bins, words, quantum, tally, table,
                    scratch.tallies, scratch.tables, left, node, n_bins, min_leaf, gains,
                )  # fmt: skip
                n_waiting = ZERO
    if plain and n_waiting > 0:
        _cut_waiting(
            scratch.waiting, n_waiting, bins, words, quantum, tally, table, scratch.tallies,
            scratch.tables, left, node, n_bins, min_leaf, gains,
        )  # fmt: skip
    if together and lanes > 0:
        _cut_together(lanes, node, left, n, min_leaf, scratch)


# Search the best split of a node among its candidate directions and their cut points.

# A gain of this share of the impurity is perfect; gains from bins are rounded.
PERFECT = 1.0 - 1e-6


class Scratch(NamedTuple):
    """Scratch for the searches of a tree; allocated once.

    `moments` (n,), `goes_left` (n,), `words` (n,), `tally` (2 * MOST_BINS,), `tallies` (FOUR, 2 *
      MOST_BINS), `table` (MOST_BINS + 1, K + 1), `gains` (ROUND,), `lane_gains` (ROUND,), `columns`
      (W, FEW_LEVELS).
    `values` (n,): projections.
    `keys` (n, ROUND * SORTED_TOGETHER): sorting keys.
    `sorting`: the same keys, for `exact_cut`; None if `FeatureGroups.holes` is.
    `bins` (FOUR * n,): those of a projection, or of four.
    `tables` (FOUR, MOST_BINS, 2): as in `odrf.engine.splits.histograms`.
    `waiting` (FOUR,): the candidates whose bins are added up next.
    `left` (K,): as in `odrf.engine.splits.thresholds`.
    `present`: none if `left` is.
    `levels`: none if no predictor has empty cells or is a factor: such tables need no code for
      cuts along a factor.
    `logs`: as returned by `odrf.engine.splits.impurity.whole_logs`.
    `thresholds` (ROUND,): gains of the candidates of a round and, unless bins were used, their
      thresholds.
    `lane_thresholds` (ROUND,): the same of the candidates that are sorted together.
    `theta` (W, FEW_LEVELS): the best direction so far, with room for all levels of a factor.
    """

    values: np.ndarray
    keys: np.ndarray
    sorting: DigitScratch | None
    bins: np.ndarray
    moments: np.ndarray
    goes_left: np.ndarray
    words: np.ndarray
    tally: np.ndarray
    tallies: np.ndarray
    tables: np.ndarray
    waiting: np.ndarray
    two: TwoValues
    table: np.ndarray
    left: np.ndarray | None
    present: PresentClasses | None
    levels: LevelSums | None
    logs: np.ndarray
    work: Workspace
    proposals: Proposals
    gains: np.ndarray
    thresholds: np.ndarray
    lane_gains: np.ndarray
    lane_thresholds: np.ndarray
    columns: np.ndarray
    theta: np.ndarray


def as_searched(feature_groups: FeatureGroups, settings: KernelParams) -> FeatureGroups:
    """Return the feature groups of the kind of table that the search treats this one as.

    Only the kernel of tables with factors or empty cells cuts large nodes exactly: plain trees
    would grow 9 % slower if theirs did.  So for exact cuts a plain table counts as one of these.
    """
    if feature_groups.holes is not None or settings.exact_rows <= SORTED_TOGETHER:
        return feature_groups
    return feature_groups._replace(holes=np.zeros(len(feature_groups.types), dtype=np.bool_))


def scratch_for(
    n: int, tree_rows: int, feature_groups: FeatureGroups, settings: KernelParams,
    mixture: SamplerMixture,
) -> Scratch:  # fmt: skip
    """Allocate scratch for a tree of n distinct rows, with directions from the `mixture`.

    `feature_groups` are those that `as_searched` returns.
    `tree_rows` is its number of rows counting repetitions, which limits the size of random subsets.
    """
    K, holes, factors = settings.n_classes, 0, int(has_levels(feature_groups).sum())
    if feature_groups.holes is not None:
        # one compiled kernel does for all tables that have empty cells or factors
        holes, factors = int(feature_groups.holes.sum()), max(factors, 1)
    widest, estimated = mixture.widest(feature_groups, settings, tree_rows)
    widest += holes
    ordered = CRITERIA[settings.criterion].ordered
    proposals = proposals_for(feature_groups, K, widest, ordered, settings.indicator_levels)
    terms = min(estimated, len(proposals.units) + holes)
    many = has_levels(feature_groups, FEW_LEVELS)
    most_levels = int(np.diff(feature_groups.first)[many].max(initial=0))
    used = min(n, max(settings.direction_rows, 10 * terms))
    scored = min(n, max(used, 10 * most_levels))
    room = max(widest, FEW_LEVELS)
    keys = np.empty(max(n, ROUND * SORTED_TOGETHER), dtype=np.uint64)
    words = np.empty(n, dtype=np.int64)
    # where all keys are sorted there are no bins, whose words would be in the same place
    sorting = None if feature_groups.holes is None else digit_scratch(keys, words.view(np.uint64))
    return Scratch(
        np.empty(n, dtype=np.float32),
        keys,
        sorting,
        np.empty(FOUR * n, dtype=np.uint8),
        np.empty(n),
        np.empty(n, dtype=np.bool_),
        words,
        np.empty(2 * MOST_BINS, dtype=np.int64),
        np.empty((FOUR, 2 * MOST_BINS), dtype=np.int64),
        np.empty((FOUR, MOST_BINS, 2)),
        np.empty(FOUR, dtype=np.int64),
        two_values(),
        np.empty((MOST_BINS + 1, K + 1)),
        None if uses_moments(K) else np.empty(K),
        None if uses_moments(K) else present_classes_for(n, K),
        level_sums_for(feature_groups, K) if factors > 0 else None,
        whole_logs(settings.criterion, n),
        workspace(
            terms,
            min(scored, max(used, MIXED_ROWS)),
            max(estimated, most_levels),  # splits mark levels, whatever proposed them
            n if factors > 0 and settings.exact_rows == NO_LIMIT else scored,
            factors,
            most_levels if K <= 2 else 0,
        ),
        proposals,
        np.empty(ROUND),
        np.empty(ROUND, dtype=np.float32),
        np.empty(ROUND),
        np.empty(ROUND, dtype=np.float32),
        np.empty((1, room), dtype=np.int64),
        np.empty((1, room), dtype=np.float32),
    )


@part
def penalised(gain, impurity, n_rows, n_coefficients, penalty):
    """Return the score of a split: the decrease of the deviance less the penalty.

    N·log(I / (I - Δ)) is the decrease of the deviance of a normal response, N being the rows of the
    node counting repetitions.  The penalty charges c for each coefficient of the direction and c
    for the threshold, with c = 2 (AIC) or log N (BIC).  A split is made only if its score is
    positive.
    """
    cost = 2.0 if penalty == AIC else math.log(n_rows)
    remaining = max(1.0 - gain / impurity, NEGLIGIBLE)
    return -n_rows * math.log(remaining) - cost * (n_coefficients + 1)


@part
def _keep(proposals, c, columns, theta):
    """Copy the c-th proposed direction to the first of columns and theta; return its size."""
    size = proposals.sizes[c]
    for j in range(size):
        columns[0, j], theta[0, j] = proposals.columns[c, j], proposals.theta[c, j]
    return size


@inlined
def _refine(rows, lo, node, size, quantum, settings, scratch):
    """Return (gain, threshold) of the best cut along the best direction, found so far by bins."""
    m = len(node.y)
    values, bins, n_bins = scratch.values[:m], scratch.bins[:m], number_of_bins(m)
    project(rows, lo, m, scratch.columns, scratch.theta, ZERO, size, values)
    bin_best(values, bins, n_bins, size, scratch.theta, scratch.proposals.two_sided)
    _, at = binned_cut(
        bins, scratch.words, quantum, scratch.tally, scratch.table, scratch.left,
        node, n_bins, settings.min_leaf,
    )  # fmt: skip
    return refined_cut(values, bins, at, scratch.keys, scratch.left, node, settings.min_leaf)


@inlined
def _score(gain, c, node, settings, proposals):
    """Return what the c-th candidate is compared by: 0 or less if it makes no split."""
    score = gain * proposals.reliability[c] ** 2
    if score <= NEGLIGIBLE * node.impurity:
        score = 0.0
    elif settings.penalty != NO_PENALTY:
        score = penalised(score, node.impurity, node.n_rows, proposals.sizes[c], settings.penalty)
    return score


@inlined
def search(state, rows, lo, node, settings, scratch, calls, surrogates):
    """Return (gain, threshold, size) of a node's best split; the gain is 0 if there is none.

    The direction, of `size` columns, is written to scratch.columns[0] and scratch.theta[0].
    Candidates are compared by their gains, less what the scores of levels owe to chance, and
    evaluated in rounds.  Without a penalty, a split into pure nodes ends the search
    after its round, as none can be better.
    """
    proposals = scratch.proposals
    binned = settings.n_thresholds == 0 and len(node.y) > settings.exact_rows
    quantum = 0.0
    if binned and scratch.left is None:
        quantum = write_words(node, scratch.words)
    evaluated, left = node, scratch.left
    if settings.n_thresholds > 1:
        evaluated, left = among_present(node, scratch.left, scratch.present)
    forget_levels(scratch.work.levels)
    n_candidates = begin_samplers(calls)
    best, decrease, threshold, size, first = 0.0, 0.0, np.float32(0.0), ZERO, ZERO
    refined = False
    while first < n_candidates:
        proposals.reliability[:] = 1.0
        clear_sides(proposals.two_sided)
        n, first = draw_round(calls, lo, len(node.y), node.n_rows, first)
        fill_directions(state, rows, lo, len(node.y), n, proposals, proposals.empty)
        if settings.surrogates:
            leave_out_marks(surrogates, n)
        evaluate_candidates(state, rows, lo, evaluated, left, n, binned, quantum, settings, scratch)
        if settings.surrogates:
            score_round(surrogates, lo, len(node.y), node.weight, n)
        for c in range(n):
            gain = min(scratch.gains[c], node.impurity)
            score = _score(gain, c, node, settings, proposals)
            if score > best:
                best, decrease, threshold = score, gain, scratch.thresholds[c]
                size = _keep(proposals, c, scratch.columns, scratch.theta)
                refined = binned and proposals.factor[c] < 0
                refined = refined and not (settings.surrogates and surrogates.is_scored[c])
        if settings.penalty == NO_PENALTY and best >= PERFECT * node.impurity:
            break
    if refined:
        decrease, threshold = _refine(rows, lo, node, size, quantum, settings, scratch)
        decrease = min(decrease, node.impurity)
    if decrease <= NEGLIGIBLE * node.impurity:
        decrease = 0.0
    if size > 0 and not settings.surrogates:
        threshold, size = settled(
            rows, lo, len(node.y), scratch.columns, scratch.theta, threshold, size, proposals.empty
        )
    return decrease, threshold, size
