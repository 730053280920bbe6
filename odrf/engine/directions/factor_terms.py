"""The levels of a factor as one term of a direction."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.directions.estimation import UNRELATED, normalise
from odrf.engine.directions.level_scores import score_levels
from odrf.engine.rows.rows import level_of

__all__ = ["load_few_levels", "load_many_levels"]


@part
def load_few_levels(rows, lo, m, first, width, place, at, work, levels):
    """Load a factor of few levels, whose first column is `first`, as one term.

    The scores are the mean targets of the levels minus that of the rows, scaled to length 1.  They
    are written to work.scores from `at` on.  Those of the rows are not: the term is the only one.
    """
    if levels is None:
        return
    f, scores, largest = -1 - rows.place[first], work.scores[at:], 0.0
    weight, moment, codes, begin = levels.weight, levels.moment, rows.codes[f], np.uint64(lo)
    for k in range(width + 1):
        weight[k], moment[k] = 0.0, 0.0
    for i in range(np.uint64(m)):
        level = np.uint64(level_of(codes, rows, begin + i))
        weight[level] += work.weights[i]
        moment[level] += work.moment[i]
    for k in range(width):
        scores[k] = moment[k + 1] / weight[k + 1] if weight[k + 1] > 0.0 else 0.0
        largest = max(largest, abs(scores[k]))
    if not (largest > UNRELATED and normalise(scores, width)):
        for k in range(width):
            scores[k] = 0.0
    for k in range(width):
        work.column[at + k], work.term[at + k] = first + k, place
    work.covariance[place] = np.nan


@part
def load_many_levels(rows, lo, m, used, first, share, place, at, work, levels):
    """Load a factor of many levels as one term; return how many columns it has.

    It has none, and there is no term, if its levels differ by no more than chance.
    """
    if levels is None:
        return 0
    f = -1 - rows.place[first]
    if levels.dismissed[f] == m:
        return 0
    keeps = len(levels.kept) > 0
    if keeps and levels.kept[f, 0] == m and levels.kept[f, 1] == used:
        return _load_kept(f, used, place, at, work, levels)
    present = score_levels(rows, lo, m, used, f, share, place, at, work)
    if present == 0:
        levels.dismissed[f] = m
    for k in range(present):
        work.column[at + k], work.term[at + k] = first + levels.present[k] - 1, place
    if keeps and present > 0:
        _keep(f, m, used, present, place, at, work, levels)
    return present


@part
def _keep(f, m, used, present, place, at, work, levels):
    """Keep the scores of a factor for the next direction that has it."""
    levels.kept[f, 0], levels.kept[f, 1], levels.kept[f, 2] = m, used, present
    for k in range(present):
        levels.kept_columns[f, k] = work.column[at + k]
        levels.kept_scores[f, k] = work.scores[at + k]
    for i in range(used):
        levels.kept_rows[f, i] = work.Z[place, i]
    levels.kept_covariance[f, 0] = work.covariance[place]
    levels.kept_covariance[f, 1] = work.excess[place]


@part
def _load_kept(f, used, place, at, work, levels):
    """Load a factor whose scores are kept, as `load_many_levels` does."""
    present = levels.kept[f, 2]
    for k in range(present):
        work.column[at + k] = levels.kept_columns[f, k]
        work.scores[at + k] = levels.kept_scores[f, k]
        work.term[at + k] = place
    for i in range(used):
        work.Z[place, i] = levels.kept_rows[f, i]
    work.covariance[place] = levels.kept_covariance[f, 0]
    work.excess[place] = levels.kept_covariance[f, 1]
    return present
