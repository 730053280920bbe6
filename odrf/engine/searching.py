"""Search a node's split among its candidates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.binning import MOST_BINS, bin_values, binned_cut, write_words
from odrf.engine.candidates import (
    LDA,
    ROUND,
    SPARSE,
    Proposals,
    draw_nonzeros,
    proposals_for,
    propose,
)
from odrf.engine.chance import random_cut
from odrf.engine.compiling import ZERO, inlined, part
from odrf.engine.cuts import exact_cut, exact_cuts, refined_cut, write_lane
from odrf.engine.directions import workspace
from odrf.engine.impurity import NEGLIGIBLE, describe, uses_moments, whole_logs
from odrf.engine.randomness import shuffle_front
from odrf.engine.rows import project
from odrf.engine.settings import AIC, NO_PENALTY, Settings

__all__ = ["SCREENED_NODE", "SORTED_TOGETHER", "Scratch", "scratch_for", "search"]

# Up to so many rows the candidates of a round are sorted together; above, one by one.
SORTED_TOGETHER = 128
# A node this many times larger than its screen is worth screening, and so many candidates
# then go on to be judged on all its rows.
SCREENED_NODE, SHORTLIST = 4, 4
# Gains of bins are rounded.
PERFECT = 1.0 - 1e-6


class Scratch(NamedTuple):
    """What a tree's searches write to; allocated once.

    Attributes
    ----------
    n_thresholds : int or None
        As `random_cut` takes it.
    values : (n,) float32
    keys : (max(n, ROUND * SORTED_TOGETHER),) uint64
    all_keys : the same, or None
        As `exact_cut` takes them: None where larger nodes are put into bins.
    bins : (n,) uint8
    moments : (n,) float64
    goes_left : (n,) bool
    words : (n,) int64
    tally : (MOST_BINS,) int64
    table : (MOST_BINS + 1, K + 1) float64
    left : (K,) float64 or None
        As `odrf.engine.cuts` takes it.
    value : (K,) float64
    logs : (≥ 1,) float64
        As `odrf.engine.impurity.whole_logs` gives them.
    work : Workspace
    proposals : Proposals
    judged_gains : (ROUND,) float64
    judged_thresholds : (ROUND,) float32
        What the candidates of a round gain and, where all cuts were tried, their thresholds.
    columns : (SHORTLIST, W) int64
    theta : (SHORTLIST, W) float32
    sizes : (SHORTLIST,) int64
    scores, gains : (SHORTLIST,) float64
    thresholds : (SHORTLIST,) float32
        The best candidates so far, likewise.
    """

    n_thresholds: int | None
    values: np.ndarray
    keys: np.ndarray
    all_keys: np.ndarray | None
    bins: np.ndarray
    moments: np.ndarray
    goes_left: np.ndarray
    words: np.ndarray
    tally: np.ndarray
    table: np.ndarray
    left: np.ndarray | None
    value: np.ndarray
    logs: np.ndarray
    work: tuple
    proposals: Proposals
    judged_gains: np.ndarray
    judged_thresholds: np.ndarray
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
    keys = np.empty(max(n, ROUND * SORTED_TOGETHER), dtype=np.uint64)
    return Scratch(
        settings.n_thresholds or None,
        np.empty(n, dtype=np.float32),
        keys,
        keys if settings.exact_rows > SORTED_TOGETHER else None,
        np.empty(n, dtype=np.uint8),
        np.empty(n),
        np.empty(n, dtype=np.bool_),
        np.empty(n, dtype=np.int64),
        np.empty(MOST_BINS, dtype=np.int64),
        np.empty((MOST_BINS + 1, K + 1)),
        None if uses_moments(K) else np.empty(K),
        np.empty(K),
        whole_logs(settings.criterion, n),
        workspace(estimated, sample, K if settings.family == LDA else 0),
        proposals_for(P, widest, settings),
        np.empty(ROUND),
        np.empty(ROUND, dtype=np.float32),
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
    return 32 if m <= 512 else 64 if m <= 2048 else MOST_BINS


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
def _list(listed, kept, room, score, proposals, c):
    """Put a candidate that beats the last on the shortlist; return its place there.

    The list is not sorted: `_floor` finds what the next must beat.
    """
    scores, columns, theta, sizes = listed
    at = kept
    if kept == room:
        at = 0
        for i in range(1, room):
            if scores[i] < scores[at]:
                at = i
    scores[at], sizes[at] = score, proposals.sizes[c]
    for j in range(proposals.sizes[c]):
        columns[at, j], theta[at, j] = proposals.columns[c, j], proposals.theta[c, j]
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
def _judge(state, rows, lo, judged, n, settings, scratch):
    """Write the gains of a round's n candidates on the rows of `judged`, which begin at `lo`."""
    # Taken apart once: every use of a member of a tuple, or of a view, counts its references.
    m = len(judged.y)
    values, bins, n_bins = scratch.values[:m], scratch.bins[:m], _n_bins(m)
    keys, table, left, min_leaf = scratch.keys, scratch.table, scratch.left, settings.min_leaf
    gains, thresholds = scratch.judged_gains, scratch.judged_thresholds
    columns, theta, sizes = (
        scratch.proposals.columns,
        scratch.proposals.theta,
        scratch.proposals.sizes,
    )
    random = settings.n_thresholds > 0
    exact = m <= settings.exact_rows and not random
    together = exact and m <= SORTED_TOGETHER
    words, tally, quantum = scratch.words, scratch.tally, 0.0
    if not (exact or random) and left is None:
        quantum = write_words(judged, words)
    for c in range(n):
        project(rows, lo, m, columns, theta, c, sizes[c], values)
        if together:
            write_lane(values, keys, c, n)
        elif random:
            gains[c], thresholds[c] = random_cut(
                state, values, left, judged, scratch.n_thresholds, min_leaf
            )
        elif exact:
            gains[c], thresholds[c] = exact_cut(values, scratch.all_keys, left, judged, min_leaf)
        elif bin_values(values, bins, n_bins):
            gains[c], _ = binned_cut(
                bins, words, quantum, tally, table, left, judged, n_bins, min_leaf
            )
        else:
            gains[c] = 0.0
    if together:
        exact_cuts(keys, n, left, judged, min_leaf, gains, thresholds)


@inlined
def _shortlist(state, rows, lo, node, judged, blocks, room, settings, scratch):
    """Fill the shortlist from all candidates, by their gains on the rows of `judged`.

    `judged` is the node or its first rows.  Singles come in random order, so that no predictor
    wins ties by its place.  A perfect split ends the search after its round: nothing can beat it.
    """
    proposals, work = scratch.proposals, scratch.work
    listed = (scratch.scores, scratch.columns, scratch.theta, scratch.sizes)
    n_singles, stops = settings.n_singles, room == 1 and settings.penalty == NO_PENALTY
    shuffle_front(state, proposals.order, n_singles)
    for c in range(n_singles):
        proposals.singles[c] = proposals.order[c]
    draw_nonzeros(state, len(proposals.order), settings.density, proposals.nonzeros)
    kept, floor, first = ZERO, 0.0, ZERO
    while first < n_singles + settings.n_projections:
        border = n_singles if first < n_singles else n_singles + settings.n_projections
        last = min(first + ROUND, border)
        n = propose(
            state, rows, lo, len(node.y), node.n_rows, first, last,
            blocks, settings, proposals, work,
        )  # fmt: skip
        _judge(state, rows, lo, judged, n, settings, scratch)
        first = last
        for c in range(n):
            gain = scratch.judged_gains[c]
            if gain <= NEGLIGIBLE * judged.impurity:
                continue
            gain = min(gain, judged.impurity)
            score, size = gain, proposals.sizes[c]
            if settings.penalty != NO_PENALTY:
                score = _penalised(gain, judged.impurity, judged.n_rows, size, settings.penalty)
            if score > floor:
                at = _list(listed, kept, room, score, proposals, c)
                scratch.gains[at], scratch.thresholds[at] = gain, scratch.judged_thresholds[c]
                kept = max(kept, at + 1)
                floor = _floor(scratch.scores, kept, room)
        if stops and floor >= PERFECT * judged.impurity:
            break
    return kept


@inlined
def _refine(rows, lo, node, i, quantum, settings, scratch):
    """Return (gain, threshold) of the cut to make along the i-th listed θ, judged by bins."""
    m = len(node.y)
    values, bins, n_bins = scratch.values[:m], scratch.bins[:m], _n_bins(m)
    project(rows, lo, m, scratch.columns, scratch.theta, i, scratch.sizes[i], values)
    if not bin_values(values, bins, n_bins):
        return 0.0, np.float32(0.0)
    _, at = binned_cut(
        bins, scratch.words, quantum, scratch.tally, scratch.table, scratch.left,
        node, n_bins, settings.min_leaf,
    )  # fmt: skip
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
    enough = m >= SCREENED_NODE * settings.screen_rows and settings.n_thresholds == 0
    if enough and settings.screen_rows >= SCREENED_NODE * settings.min_leaf:
        judged = describe(
            rows,
            lo,
            settings.screen_rows,
            scratch.value,
            scratch.moments,
            node.logs,
            node.criterion,
        )
        room = SHORTLIST
    kept = 0
    while kept == 0:
        kept = _shortlist(state, rows, lo, node, judged, blocks, room, settings, scratch)
        if room == 1:
            break
        if kept == 0:
            judged = describe(rows, lo, m, node.value, scratch.moments, node.logs, node.criterion)
            room = 1
    if kept == 0:
        return 0.0, np.float32(0.0), -1
    if room == 1 and (m <= settings.exact_rows or settings.n_thresholds > 0):
        return scratch.gains[0], scratch.thresholds[0], 0
    if room > 1:
        node = describe(rows, lo, m, node.value, scratch.moments, node.logs, node.criterion)
    quantum = write_words(node, scratch.words) if scratch.left is None else 0.0
    best_score, best_gain, threshold, best = 0.0, 0.0, np.float32(0.0), -1
    for i in range(kept):
        gain, cut = _refine(rows, lo, node, i, quantum, settings, scratch)
        gain = min(gain, node.impurity)
        score = gain
        if settings.penalty != NO_PENALTY and gain > 0.0:
            score = _penalised(gain, node.impurity, node.n_rows, scratch.sizes[i], settings.penalty)
        if gain > NEGLIGIBLE * node.impurity and score > best_score:
            best_score, best_gain, threshold, best = score, gain, cut, i
    return best_gain, threshold, best
