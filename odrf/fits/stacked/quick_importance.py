"""Importances of columns from a small forest, and as such forests find them without folds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.fits.growing import grow_fit
from odrf.fits.judged_trees import judged_trees, responses_judging
from odrf.fits.stacked.fold_importance import FoldImportance
from odrf.options.request import Request
from odrf.statistics.importance import held_out_importance

__all__ = ["importance_of_folds", "quick_importance"]

# Few trees, half as many as columns within these bounds; on few rows, so that more rows judge.
FEWEST_TREES, MOST_TREES, SAMPLE_FRACTION = 50, 200, 0.3
FOLDS = 5
# With fewer rows importances would fit noise; more would change them little.
FEWEST_ROWS, MOST_ROWS = 20, 3000


def importance_of_folds(
    design: Design, data: TrainingData, request: Request, seed: int
) -> FoldImportance | None:
    """Draw folds of the rows, and find importances without each; None if there are too few rows.

    Parameters
    ----------
    design : Design
    data : TrainingData
    request : Request
        The options of a forest.
    seed : int
    """
    used = np.flatnonzero(data.weights > 0)
    if len(used) < FEWEST_ROWS:
        return None
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(used)[:MOST_ROWS]
    # rows in order are often alike: of FOLDS rows that follow each other, each is in another fold
    blocks = np.tile(np.arange(FOLDS), (-(-len(used) // FOLDS), 1))
    fold = np.zeros(len(data.y), dtype=np.int64)
    fold[used] = rng.permuted(blocks, axis=1).ravel()[: len(used)]
    importance = [
        quick_importance(design, data, request, drawn[fold[drawn] != f]) for f in range(FOLDS + 1)
    ]
    return FoldImportance(fold, importance)


def quick_importance(
    design: Design, data: TrainingData, request: Request, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the held-out importance of each column (p,) in a forest on some rows; at least 0.

    All columns of a predictor have the same.

    Parameters
    ----------
    design : Design
    data : TrainingData
    request : Request
        The options of a forest; here it has few trees, of one kind.
    rows : (m,) int64
    """
    kept = np.isin(np.arange(len(data.y)), rows)
    small = request.giving(
        n_trees=min(MOST_TREES, max(FEWEST_TREES, len(design.columns) // 2)),
        blend=False,
        resample="subsample",
        sample_fraction=SAMPLE_FRACTION,
    )
    fit = grow_fit("", design, data.keeping(kept), small)
    parts, first = judged_trees(fit), design.first
    if parts is None:
        return np.zeros(len(design.columns))
    target, weights = responses_judging(fit), fit.data.weights
    found = held_out_importance(
        parts, fit.data.X, target, weights, first, False, fit.control.n_jobs
    )
    return np.repeat(np.maximum(found, 0.0), [b - a for a, b in pairwise(first)])
