"""The gains of the candidate directions of a round, each with its best cut."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import ZERO, inlined, merged, part
from odrf.engine.directions.holes import FILL, is_two_sided
from odrf.engine.rows.rows import column_itself, is_plain_column, project_here
from odrf.engine.splits.binning import MOST_BINS, bin_values, binned_cut, scan_bins
from odrf.engine.splits.cuts import exact_cut, exact_cuts, write_lane
from odrf.engine.splits.four_tallies import FOUR, tally_four
from odrf.engine.splits.level_cuts import best_cut_of_levels, factor_of, random_cut_of_levels
from odrf.engine.splits.random_thresholds import random_cut
from odrf.engine.splits.sides import cut_of_both_sides, other_side_of
from odrf.engine.splits.two_values import has_two_values, tally_two_values

__all__ = ["SORTED_TOGETHER", "evaluate_candidates", "number_of_bins"]

# For nodes of up to this many rows the candidates of a round are sorted together, else one by one.
SORTED_TOGETHER = 128


@part
def number_of_bins(m):
    """Return the number of bins for m rows: enough for a good cut, few enough to scan quickly."""
    return 32 if m <= 512 else 64 if m <= 2048 else MOST_BINS


@merged
def _cut_of_levels(state, rows, lo, f, node, columns, theta, c, size, settings, left, levels):
    """Return gain and threshold of the cut of direction c, which is along factor f alone.

    `levels` is None where the function is never called, so that it compiles to nothing.
    """
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
    tally_four(bins, words, node, n_bins, tallies, tables)
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
