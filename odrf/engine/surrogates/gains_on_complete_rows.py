"""Score candidate splits on the rows that have values for them, as rpart does."""

from __future__ import annotations

from odrf.engine.compiling import NO, part
from odrf.engine.directions.holes import clear_sides
from odrf.engine.rows.rows import project
from odrf.engine.splits.cuts import exact_cut
from odrf.engine.splits.impurity import describe, uses_moments
from odrf.engine.splits.random_thresholds import random_cut
from odrf.engine.surrogates.complete_rows import complete_rows, without_marks

__all__ = ["remove_marks", "score_on_complete_rows"]


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
    begin at `lo`.  `shared` is a `SharedScratch` of `odrf.engine.surrogates.calls`, `work` a
    `SurrogateScratch`.
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
