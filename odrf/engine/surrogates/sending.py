"""Send the rows of a node that have an empty cell in what its split needs."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import NO, YES, ZERO, part
from odrf.engine.rows.rows import project
from odrf.engine.surrogates.complete_rows import complete_rows, without_marks
from odrf.engine.surrogates.surrogate_choice import choose_surrogates

__all__ = ["send_by_surrogates", "send_with_new_surrogates"]

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

    Parameters
    ----------
    rows : Rows
    lo, m : int
    columns : (1, ≥ size) int64
        The columns of the split.
    size : int
    surrogates : SurrogateSplits
    node : int
        The number of the split there.
    projected : (≥ m,) float32
        The projections of the rows.
    work : SurrogateScratch
        work.n_sent receives how many rows, counting repetitions, take each surrogate, and
        work.n_incomplete how many rows have no value for the split.
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
    """Choose the surrogates of a new split and send the rows that need them; return its size.

    The split is in columns[0] and theta[0], `projected` (≥ m,) are the projections, `work` is a
    `SurrogateScratch`.
    """
    size = without_marks(columns, theta, ZERO, size, work.marks)
    choose_surrogates(rows, lo, m, columns, size, cut, projected, work)
    send_by_surrogates(rows, lo, m, columns, size, work.chosen, ZERO, projected, work)
    for s in range(work.chosen.first[1]):
        work.chosen.n_split[s] = work.n_sent[s]
    return size
