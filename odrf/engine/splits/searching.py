"""Search the best split of a node among its candidate directions and their cut points."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, inlined, part
from odrf.engine.directions.candidates import (
    FEW_LEVELS,
    ROUND,
    FeatureGroups,
    Proposals,
    has_levels,
    has_many_levels,
    proposals_for,
)
from odrf.engine.directions.holes import clear_sides, fill_directions, settled
from odrf.engine.directions.samplers import SamplerMixture, begin_samplers, draw_round
from odrf.engine.directions.workspace import Workspace, forget_levels, workspace
from odrf.engine.radix_sorting import DigitScratch, digit_scratch
from odrf.engine.rows.rows import project
from odrf.engine.settings import AIC, NO_PENALTY, Settings
from odrf.engine.splits.binning import MOST_BINS, binned_cut, write_words
from odrf.engine.splits.candidate_gains import SORTED_TOGETHER, evaluate_candidates, number_of_bins
from odrf.engine.splits.criteria import CRITERIA
from odrf.engine.splits.cuts import refined_cut
from odrf.engine.splits.four_tallies import FOUR
from odrf.engine.splits.impurity import NEGLIGIBLE, uses_moments, whole_logs
from odrf.engine.splits.level_cuts import LevelSums, level_sums_for
from odrf.engine.splits.present_classes import PresentClasses, among_present, present_classes_for
from odrf.engine.splits.sides import bin_best
from odrf.engine.splits.two_values import TwoValues, two_values
from odrf.engine.surrogates.calls import leave_out_marks, score_round
from odrf.engine.survival.node_scores import RiskSums, risk_sums_for

__all__ = ["Scratch", "as_searched", "penalised", "scratch_for", "search"]

# A gain of this share of the impurity is perfect; gains from bins are rounded.
PERFECT = 1.0 - 1e-6


class Scratch(NamedTuple):
    """Scratch for the searches of a tree; allocated once.

    Attributes
    ----------
    values : (n,) float32
        Projections.
    keys : (max(n, ROUND * SORTED_TOGETHER),) uint64
        Sorting keys.
    sorting : DigitScratch or None
        The same keys, for `exact_cut`; None if `FeatureGroups.holes` is.
    bins : (FOUR * n,) uint8
        Those of a projection, or of four.
    moments : (n,) float64
    goes_left : (n,) bool
    words : (n,) int64
    tally : (2 * MOST_BINS,) int64
    tallies : (FOUR, 2 * MOST_BINS) int64
    tables : (FOUR, MOST_BINS, 2) float64
        As in `odrf.engine.splits.four_tallies`.
    waiting : (FOUR,) int64
        The candidates whose bins are added up next.
    two : TwoValues
    table : (MOST_BINS + 1, K + 1) float64
    left : (K,) float64 or None
        As in `odrf.engine.splits.scanning`.
    present : PresentClasses or None
        None if `left` is.
    levels : LevelSums or None
        None if no predictor has empty cells or is a factor: such tables need no code for cuts along
        a factor.
    logs : (≥ 1,) float64
        As returned by `odrf.engine.splits.impurity.whole_logs`.
    work : Workspace
    proposals : Proposals
    gains : (ROUND,) float64
    thresholds : (ROUND,) float32
        Gains of the candidates of a round and, unless bins were used, their thresholds.
    lane_gains : (ROUND,) float64
    lane_thresholds : (ROUND,) float32
        The same of the candidates that are sorted together.
    columns : (1, max(W, FEW_LEVELS)) int64
    theta : (1, max(W, FEW_LEVELS)) float32
        The best direction so far, with room for all levels of a factor.
    risks : RiskSums or None
        For the scores of times to an event; None of other responses.
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
    risks: RiskSums | None = None


def as_searched(feature_groups: FeatureGroups, settings: Settings) -> FeatureGroups:
    """Return the feature groups of the kind of table that the search treats this one as.

    Only the kernel of tables with factors or empty cells cuts large nodes exactly: plain trees
    would grow 9 % slower if theirs did.  So for exact cuts a plain table counts as one of these.
    """
    if feature_groups.holes is not None or settings.exact_rows <= SORTED_TOGETHER:
        return feature_groups
    return feature_groups._replace(holes=np.zeros(len(feature_groups.types), dtype=np.bool_))


def scratch_for(
    n: int,
    tree_rows: int,
    feature_groups: FeatureGroups,
    settings: Settings,
    mixture: SamplerMixture,
) -> Scratch:
    """Allocate scratch for a tree of n distinct rows, with directions from the `mixture`.

    `feature_groups` are those that `as_searched` returns.
    `tree_rows` is its number of rows counting repetitions, which limits the size of random subsets.
    """
    K, holes = settings.n_classes, feature_groups.n_holes
    widest = mixture.widest(feature_groups, settings, tree_rows) + holes
    estimated = mixture.estimated(feature_groups, settings, tree_rows)
    ordered = CRITERIA[settings.criterion].ordered
    proposals = proposals_for(feature_groups, K, widest, ordered, settings.indicator_levels)
    terms = min(estimated, len(proposals.units) + holes)
    truncated, subdistribution = settings.truncated, settings.subdistribution
    most_levels = int(feature_groups.widths[has_many_levels(feature_groups)].max(initial=0))
    factors = int(has_levels(feature_groups).sum())
    if feature_groups.holes is not None:  # one compiled kernel does for all such tables
        factors = max(factors, 1)
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
            used,
            max(estimated, most_levels),  # splits mark levels, whatever proposed them
            scored,
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
        risk_sums_for(settings.n_times, n, truncated, subdistribution)
        if settings.n_times > 0
        else None,
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
