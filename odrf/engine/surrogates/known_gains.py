"""Score candidate splits on the rows that have values for them, as rpart does."""

from __future__ import annotations

from odrf.engine.compiling import part
from odrf.engine.directions.holes import clear_sides
from odrf.engine.rows.rows import project
from odrf.engine.splits.cuts import exact_cut
from odrf.engine.splits.impurity import describe
from odrf.engine.splits.random_thresholds import random_cut
from odrf.engine.surrogates.known_rows import known_rows, without_marks

__all__ = ["is_scored_on_some", "remove_marks", "score_on_known_rows"]


@part
def remove_marks(proposals, n, work):
    """Remove the terms that only rows with empty cells have from n proposals.

    `work` is a `SurrogateScratch`; if it is None, nothing happens.
    """
    if work is None:
        return
    clear_sides(proposals.two_sided)
    for c in range(n):
        proposals.sizes[c] = without_marks(
            proposals.columns, proposals.theta, c, proposals.sizes[c], work.marks
        )


@part
def is_scored_on_some(c, work):
    """Whether candidate c was scored on a part of the node's rows; False if `work` is None."""
    if work is None:
        return False
    return work.is_scored[c]


@part
def _take_known(node, m, work):
    """Gather the responses of the rows in work.known; return their number."""
    n, kept = 0, work.known_node
    for i in range(m):
        if work.known[i]:
            kept.y[n], kept.weights[n], kept.counts[n] = node.y[i], node.weights[i], node.counts[i]
            work.known_values[n] = work.values[i]
            n += 1
    return n


@part
def score_on_known_rows(state, rows, lo, node, n, settings, scratch, work):
    """Overwrite gains and thresholds of the n candidates that some rows have no value for.

    Their gain is that among the other rows, per unit of weight in the whole node.  `work` is a
    `SurrogateScratch`; if it is None, nothing happens.
    """
    if work is None:
        return
    proposals, left, m = scratch.proposals, scratch.left, len(node.y)
    for c in range(n):
        size = proposals.sizes[c]
        number = known_rows(rows, lo, m, work.marks, proposals.columns[c], size, False, work)
        work.is_scored[c] = number < m
        if number == m:
            continue
        scratch.gains[c] = 0.0
        if number < 2:
            continue
        project(rows, lo, m, proposals.columns, proposals.theta, c, size, work.values)
        _take_known(node, m, work)
        known = describe(
            work.known_node, 0, number, work.mean, work.moments, scratch.logs, settings.criterion
        )
        values = work.known_values[:number]
        if settings.n_thresholds > 0:
            gain, threshold = random_cut(
                state, values, left, known, settings.n_thresholds, settings.min_leaf
            )
        else:
            gain, threshold = exact_cut(values, work.keys, left, known, settings.min_leaf)
        scratch.gains[c] = gain * (known.weight / node.weight)
        scratch.thresholds[c] = threshold
