"""The boosting runs whose mean is the fit: one on all rows, or several on bootstrap samples.

Each of several runs boosts on a bootstrap sample of the rows and on a random subset of the
predictors; the rows that it did not draw are out of its bag.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.fewer_predictors import draw_predictors
from odrf.engine.boosting.losses import Loss
from odrf.engine.randomness import stream
from odrf.engine.rows.coded import Matrix
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.sampling import BOOTSTRAP, Sampling, draw_counts, unseen_rows

__all__ = ["Run", "RunRows", "Sample", "mean_of_other_runs", "run_rows", "started"]

Array = NDArray[np.float64]


class Sample(NamedTuple):
    """Rows with predictors, responses, case weights and offsets.

    Attributes
    ----------
    X : Matrix (p, n)
        Scaled predictors.
    y : (n,) float64
        Response, or class codes.
    weights : (n,) float64
        Case weights.
    offset : (n,) float64
        Known part of each row's score, added to it.
    codes : RowCodes or None
        Which rows are drawn together.
    """

    X: Matrix
    y: Array
    weights: Array
    offset: Array
    codes: RowCodes | None = None


class RunRows(NamedTuple):
    """The rows and predictors that a run draws.

    Attributes
    ----------
    counts : (n,) int64
        How often it draws each row.
    predictors : (q,) int64
        Predictors on which its trees are grown, in ascending order.
    unseen : (n,) bool or None
        Which rows are out of its bag; None if these are all that it does not draw.
    """

    counts: NDArray[np.int64]
    predictors: NDArray[np.int64]
    unseen: NDArray[np.bool_] | None = None

    @property
    def missed(self) -> NDArray[np.bool_]:
        """Which rows (n,) are out of the run's bag."""
        return self.counts == 0 if self.unseen is None else self.unseen


class Run(NamedTuple):
    """A boosting run.

    Attributes
    ----------
    rows : Sample
        All rows, weights multiplied by how often the run drew them: 0 for out-of-bag rows.
    predictors : (q,) int64
        Predictors on which its trees are grown.
    start : (K,) float64
        Scores before the first round, without offsets.
    scores : (K, n) float64
        Scores of the rows, updated by each round.
    held : (K, m) float64
        Scores of the rows held out, updated by each round.
    """

    rows: Sample
    predictors: NDArray[np.int64]
    start: Array
    scores: Array
    held: Array


def run_rows(
    seed: int, n_runs: int, weights: Array, P: int, size: int, codes: RowCodes | None = None
) -> list[RunRows]:
    """Draw for each run a bootstrap sample of the rows, and `size` of the P predictors.

    A single run has every row once, and all predictors.  Rows are drawn together by their `codes`.
    """
    everything = np.arange(P)
    if n_runs == 1:
        return [RunRows(np.ones(len(weights), dtype=np.int64), everything)]
    drawn = []
    for m in range(n_runs):
        state = stream(seed, 0, 1 + m)
        drawing = weights, Sampling(BOOTSTRAP, 1.0), codes
        unseen = None if codes is None else unseen_rows(state.copy(), *drawing)
        counts = draw_counts(state, *drawing)
        drawn.append(RunRows(counts, draw_predictors(state, everything, size), unseen))
    return drawn


def started(rows: Sample, held: Sample | None, drawn: RunRows, loss: Loss, K: int) -> Run:
    """Return a run before its first round; its K scores are the best constants for its rows."""
    weights = rows.weights * drawn.counts
    start = loss.start(rows.y, weights, K, rows.offset)
    offset = np.empty(0) if held is None else held.offset
    return Run(
        rows._replace(weights=weights),
        drawn.predictors,
        start,
        start[:, None] + rows.offset,
        start[:, None] + offset,
    )


def mean_of_other_runs(scores: Sequence[Array], missed: NDArray[np.bool_]) -> Array:
    """Return the out-of-bag scores (K, n): the mean over the runs that did not draw the row.

    They are NaN for rows that all runs drew.

    Parameters
    ----------
    scores : sequence of (K, n) float64
        Scores by each of M runs.
    missed : (M, n) bool
        Which rows each run did not draw.
    """
    total, times = np.zeros_like(scores[0]), missed.sum(axis=0)
    for of_run, is_missed in zip(scores, missed, strict=True):
        total += np.where(is_missed, of_run, 0.0)
    return np.divide(total, times, out=np.full_like(total, np.nan), where=times > 0)
