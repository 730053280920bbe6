"""Search a node's split among its candidates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.candidates import (
    INDICATORS,
    LEAST_SQUARES,
    LEVEL_MEANS,
    PLAIN,
    SPARSE,
    Candidate,
    columns_of_predictor,
    columns_of_subset,
    estimate,
    sparse_direction,
)
from odrf.engine.compiling import inlined, part
from odrf.engine.cuts import MOST_BINS, bin_values, binned_cut, exact_cut, refined_cut
from odrf.engine.directions import workspace
from odrf.engine.impurity import NEGLIGIBLE, describe, uses_moments
from odrf.engine.randomness import shuffle_front
from odrf.engine.rows import project
from odrf.engine.settings import AIC, NO_PENALTY, Settings

__all__ = ["SCREENED_NODE", "Scratch", "scratch_for", "search"]

# A node this many times larger than its screen is worth screening, and so many candidates
# then go on to be judged on all its rows.
SCREENED_NODE, SHORTLIST = 4, 4
PERFECT = 1.0 - 1e-9


class Scratch(NamedTuple):
    """What a tree's searches write to; allocated once.

    Attributes
    ----------
    values : (n,) float32
    keys : (n,) uint64
    bins : (n,) uint8
    moments : (n,) float64
    table : (MOST_BINS, max(K + 1, 3)) float64
    left : (K,) float64 or None
        As `odrf.engine.cuts` takes it.
    value : (K,) float64
    order : (P,) int64
        A permutation of the predictors, or of the columns for sparse directions.
    singles : (P,) int64
    work : Workspace
    candidate : Candidate
    columns : (SHORTLIST, W) int64
    theta : (SHORTLIST, W) float32
    sizes : (SHORTLIST,) int64
    scores, gains : (SHORTLIST,) float64
    thresholds : (SHORTLIST,) float32
        The best candidates so far: directions, numbers of columns, scores, gains and, where all
        cuts were tried, thresholds.
    """

    values: np.ndarray
    keys: np.ndarray
    bins: np.ndarray
    moments: np.ndarray
    table: np.ndarray
    left: np.ndarray | None
    value: np.ndarray
    order: np.ndarray
    singles: np.ndarray
    work: tuple
    candidate: Candidate
    columns: np.ndarray
    theta: np.ndarray
    sizes: np.ndarray
    scores: np.ndarray
    gains: np.ndarray
    thresholds: np.ndarray


def scratch_for(n: int, P: int, widest: int, settings: Settings) -> Scratch:
    """Allocate scratch for n rows, P items to permute and directions on up to `widest` columns."""
    K = settings.n_classes
    estimated = 1 if settings.family == SPARSE else widest
    sample = min(n, max(settings.direction_rows, 10 * estimated))
    return Scratch(
        np.empty(n, dtype=np.float32),
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.uint8),
        np.empty(n),
        np.empty((MOST_BINS, max(K + 1, 3))),
        None if uses_moments(settings.criterion, K) else np.empty(K),
        np.empty(K),
        np.arange(P),
        np.empty(P, dtype=np.int64),
        workspace(estimated, sample),
        Candidate(np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.float32)),
        np.empty((SHORTLIST, widest), dtype=np.int64),
        np.empty((SHORTLIST, widest), dtype=np.float32),
        np.zeros(SHORTLIST, dtype=np.int64),
        np.zeros(SHORTLIST),
        np.zeros(SHORTLIST),
        np.zeros(SHORTLIST, dtype=np.float32),
    )


@part
def _n_bins(m):
    """Bins for m rows: enough to place a cut, few enough to cost less than filling them."""
    return 32 if m <= 128 else 64 if m <= 2048 else MOST_BINS


@part
def _penalised(gain, impurity, n_rows, n_coefficients, penalty):
    """Rank a split by the penalised fall of N·log(impurity).

    It costs c for each coefficient and for the threshold, c = 2 (AIC) or log N (BIC), and is
    worth N·log(I / (I - Δ)), the deviance of a normal response; what is left must be positive.
    """
    cost = 2.0 if penalty == AIC else math.log(n_rows)
    left = max(1.0 - gain / impurity, NEGLIGIBLE)
    return -n_rows * math.log(left) - cost * (n_coefficients + 1)


@part
def _list(scores, columns, theta, kept, room, score, size, candidate):
    """Put a candidate that beats the last on the shortlist; return its place there.

    The list is not sorted: `_floor` finds what the next must beat.
    """
    at = kept
    if kept == room:
        at = 0
        for i in range(1, room):
            if scores[i] < scores[at]:
                at = i
    scores[at] = score
    for j in range(size):
        columns[at, j], theta[at, j] = candidate.columns[j], candidate.theta[j]
    return at


@part
def _floor(scores, kept, room):
    """Return the score that a candidate must beat to be listed."""
    lowest = 0.0
    if kept == room:
        lowest = scores[0]
        for i in range(1, room):
            lowest = min(lowest, scores[i])
    return lowest


@inlined
def _shortlist(state, rows, lo, m, node, judged, blocks, room, settings, scratch):
    """Fill the shortlist from all candidates, by their gains on the rows of `judged`.

    `judged` is the node or its first rows.  Singles come in random order, so that no predictor
    wins ties by its place.  A perfect split ends the search: nothing can beat it.
    """
    # Taken apart once: every use of a member of a tuple, or of a view, counts its references.
    keys, table, left, singles = scratch.keys, scratch.table, scratch.left, scratch.singles
    columns, theta, order = scratch.candidate.columns, scratch.candidate.theta, scratch.order
    values, bins = scratch.values[: len(judged.y)], scratch.bins[: len(judged.y)]
    work, candidate, first, types = scratch.work, scratch.candidate, blocks.first, blocks.types
    n_singles, min_leaf, exact = settings.n_singles, settings.min_leaf, settings.exact_rows
    scores, gains, sizes = scratch.scores, scratch.gains, scratch.sizes
    thresholds, n_bins, n_judged = scratch.thresholds, _n_bins(len(judged.y)), len(judged.y)
    perfect = PERFECT * judged.impurity
    stops = room == 1 and settings.penalty == NO_PENALTY
    shuffle_front(state, order, n_singles)
    for c in range(n_singles):
        singles[c] = order[c]
    kept, floor = 0, 0.0
    for c in range(n_singles + settings.n_projections):
        if c < n_singles and types[singles[c]] == PLAIN:
            columns[0], theta[0], size = first[singles[c]], 1.0, 1
        elif settings.family == SPARSE:
            size = sparse_direction(state, order, settings.density, columns, theta)
        else:
            if c < n_singles:
                j = singles[c]
                estimator = LEVEL_MEANS if types[j] == INDICATORS else LEAST_SQUARES
                size = columns_of_predictor(blocks, j, columns)
            else:
                q, estimator = settings.subset_size, settings.family
                size = columns_of_subset(state, node.n_rows, blocks, order, q, columns)
                if size == 1 and n_singles == len(order):
                    continue
            theta[0] = 1.0
            if size > 1:
                size = estimate(state, rows, lo, m, candidate, size, estimator, settings, work)
        if size == 0:
            continue
        project(rows, lo, n_judged, columns, theta, size, values)
        gain, threshold = 0.0, np.float32(0.0)
        if n_judged <= exact:
            gain, threshold = exact_cut(values, keys, left, judged, min_leaf)
        elif bin_values(values, bins, n_bins):
            gain, _ = binned_cut(bins, table, left, judged, n_bins, min_leaf)
        if gain <= NEGLIGIBLE * judged.impurity:
            continue
        gain = min(gain, judged.impurity)
        score = gain
        if settings.penalty != NO_PENALTY:
            score = _penalised(gain, judged.impurity, judged.n_rows, size, settings.penalty)
        if score > floor:
            at = _list(scores, scratch.columns, scratch.theta, kept, room, score, size, candidate)
            gains[at], sizes[at], thresholds[at] = gain, size, threshold
            kept = max(kept, at + 1)
            floor = _floor(scores, kept, room)
            if stops and gain >= perfect:
                break
    return kept


@inlined
def _refine(rows, lo, node, columns, theta, size, settings, scratch):
    """Return (gain, threshold) of the cut to make along a listed θ that was judged by bins."""
    m = len(node.y)
    values, bins, n_bins = scratch.values[:m], scratch.bins[:m], _n_bins(m)
    project(rows, lo, m, columns, theta, size, values)
    if not bin_values(values, bins, n_bins):
        return 0.0, np.float32(0.0)
    _, at = binned_cut(bins, scratch.table, scratch.left, node, n_bins, settings.min_leaf)
    if at < 0:
        return 0.0, np.float32(0.0)
    return refined_cut(values, bins, at, scratch.keys, scratch.left, node, settings.min_leaf)


@inlined
def search(state, rows, lo, node, blocks, settings, scratch):
    """Return (gain, threshold, i) of a node's best split; its direction is the shortlist's i-th.

    A node far larger than `settings.screen_rows` is screened: all candidates are compared on
    that many of its rows, the best few then on all of them; on all at once when those rows show
    no gain, as with a rare class.  The gain is 0 when nothing is gained.
    """
    m = len(node.y)
    judged, room = node, 1
    enough = m >= SCREENED_NODE * settings.screen_rows
    if enough and settings.screen_rows >= SCREENED_NODE * settings.min_leaf:
        judged = describe(
            rows, lo, settings.screen_rows, scratch.value, scratch.moments, node.criterion
        )
        room = SHORTLIST
    kept = 0
    while kept == 0:
        kept = _shortlist(state, rows, lo, m, node, judged, blocks, room, settings, scratch)
        if room == 1:
            break
        if kept == 0:
            judged = describe(rows, lo, m, node.value, scratch.moments, node.criterion)
            room = 1
    if kept == 0:
        return 0.0, np.float32(0.0), -1
    if m <= settings.exact_rows and room == 1:
        return scratch.gains[0], scratch.thresholds[0], 0
    if room > 1:
        node = describe(rows, lo, m, node.value, scratch.moments, node.criterion)
    best_score, best_gain, threshold, best = 0.0, 0.0, np.float32(0.0), -1
    for i in range(kept):
        size = scratch.sizes[i]
        columns, theta = scratch.columns[i], scratch.theta[i]
        gain, cut = _refine(rows, lo, node, columns, theta, size, settings, scratch)
        gain = min(gain, node.impurity)
        score = gain
        if settings.penalty != NO_PENALTY and gain > 0.0:
            score = _penalised(gain, node.impurity, node.n_rows, size, settings.penalty)
        if gain > NEGLIGIBLE * node.impurity and score > best_score:
            best_score, best_gain, threshold, best = score, gain, cut, i
    return best_gain, threshold, best
