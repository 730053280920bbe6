"""The boosting runs whose mean is the fit, and the scores of their trees.

Each of several runs boosts on a bootstrap sample of the rows and on a random subset of the
predictors; the rows that it did not draw are out of its bag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.losses import Loss
from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.numeric import shuffle_front, stream
from odrf.engine.resamples import BOOTSTRAP, RowCodes, Sampling, draw_counts, out_of_bag_rows
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaves_of, routing_blocks


def draw_predictors(
    state: NDArray[np.uint64], among: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Draw `size` of the predictors `among`, in ascending order; all of them if that is all."""
    if size >= len(among):
        return among
    drawn = among.copy()
    shuffle_front(state, drawn, size)
    return np.sort(drawn[:size])


def narrowed_feature_groups(
    feature_groups: FeatureGroups, predictors: NDArray[np.int64]
) -> FeatureGroups:
    """Return the feature groups of the columns of these predictors alone, in their order."""
    first = np.concatenate([[0], np.cumsum(np.diff(feature_groups.first)[predictors])])
    holes = feature_groups.holes
    return FeatureGroups(
        first, feature_groups.types[predictors], None if holes is None else holes[predictors]
    )


def widened(tree: Forest, columns: NDArray[np.int64]) -> Forest:
    """Return a tree that was grown on these columns, with column numbers of the whole design."""
    return replace(tree, index=columns[tree.index].astype(np.int32))


# The boosting runs whose mean is the fit: one on all rows, or several on bootstrap samples.

Array = NDArray[np.float64]


class Sample(NamedTuple):
    """Rows with predictors, responses, case weights and offsets.

    `X` (p, n): scaled predictors.  `y` (n,): response, or class codes.  `weights` (n,): case
    weights.  `offset` (n,): known part of each row's score, added to it.  `codes`: groups of rows
    that are resampled as one.
    """

    X: Matrix
    y: Array
    weights: Array
    offset: Array
    codes: RowCodes | None = None


class RunRows(NamedTuple):
    """The rows and predictors that a run draws.

    `counts` (n,): how often it draws each row.  `predictors` (q,): predictors on which its trees
    are grown, in ascending order.  `unseen` (n,): which rows are out of its bag; None if these are
    all that it does not draw.
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

    `rows`: all rows, weights multiplied by how often the run drew them: 0 for out-of-bag rows.
    `predictors` (q,): predictors on which its trees are grown.  `start` (K,): scores before the
    first round, without offsets.  `scores` (K, n): scores of the rows, updated by each round.
    `held` (K, m): scores of the rows held out, updated by each round.
    """

    rows: Sample
    predictors: NDArray[np.int64]
    start: Array
    scores: Array
    held: Array


def run_rows(
    seed: int, n_runs: int, weights: Array, P: int, size: int, codes: RowCodes | None = None
) -> list[RunRows]:
    """Draw a bootstrap sample, by `codes`, and `size` of P predictors for each run; all for one."""
    everything = np.arange(P)
    if n_runs == 1:
        return [RunRows(np.ones(len(weights), dtype=np.int64), everything)]
    drawn = []
    for m in range(n_runs):
        state = stream(seed, 0, 1 + m)
        drawing = weights, Sampling(BOOTSTRAP, 1.0), codes
        unseen = None if codes is None else out_of_bag_rows(state.copy(), *drawing)
        counts = draw_counts(state, *drawing)
        drawn.append(RunRows(counts, draw_predictors(state, everything, size), unseen))
    return drawn


def started(rows: Sample, held: Sample | None, drawn: RunRows, loss: Loss, K: int) -> Run:
    """Return a run before its first round; its K scores are the best constants for its rows."""
    weights = rows.weights * drawn.counts
    start = loss.start(rows.y, weights, K, rows.offset)
    offset = np.empty(0) if held is None else held.offset
    return Run(
        rows._replace(weights=weights), drawn.predictors, start, start[:, None] + rows.offset,
        start[:, None] + offset,
    )  # fmt: skip


def mean_of_other_runs(scores: Sequence[Array], missed: NDArray[np.bool_]) -> Array:
    """Return the mean scores (K, n) of the runs, of `scores`, that `missed` (M, n) the row."""
    total, times = np.zeros_like(scores[0]), missed.sum(axis=0)
    for of_run, is_missed in zip(scores, missed, strict=True):
        total += np.where(is_missed, of_run, 0.0)
    return np.divide(total, times, out=np.full_like(total, np.nan), where=times > 0)


# Scores of boosted trees: sums of the values of the leaves that a row reaches.


@kernel
def _add(leaves, value, first, last, out):
    """Add to out (K, m) the values (m,) of the leaves (B, m) of trees first … last - 1."""
    K = np.uint64(len(out))
    for b in range(np.uint64(first), np.uint64(last)):
        k = b % K
        for i in range(np.uint64(leaves.shape[1])):
            out[k, i] += value[np.uint64(leaves[b, i]), 0]


def added_up(
    forest: Forest, X: Matrix, starts: NDArray[np.float64], n_jobs: int,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the mean over the runs of the scores (K, n) of each row of X (p, n).

    `X` (p, n).  `forest`: trees round by round, within a round run by run, within a run one for
    each of the K outputs; values (m, 1).  `starts` (M, K): scores of each run before the first
    round.  `n_jobs`: threads; the sums are the same for any number.  `advance`: told the rows that
    are done.
    """
    start = starts.sum(axis=0)
    out = np.empty((len(start), X.shape[1]))
    for block, leaves in _sent(forest, X, n_jobs):
        scores = np.repeat(start[:, None], leaves.shape[1], axis=1)
        _add(leaves, forest.value, 0, forest.n_trees, scores)
        out[:, block] = scores / len(starts)
        advance(leaves.shape[1])
    return out


def added_up_by_round(
    forest: Forest, stages: Sequence[NDArray[np.float64]], X: Matrix, starts: NDArray[np.float64],
    n_jobs: int,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the scores (R, K, n) after each of the R rounds.

    `forest`, `X`, `starts`, `n_jobs`: as in `added_up`.  `stages`: if leaves are refitted in each
    round, the values of the nodes of all trees so far; else empty.
    """
    start, of_round = starts.sum(axis=0), starts.size
    out = _held(forest.n_trees // of_round, len(start), X.shape[1], "rounds")
    for block, leaves in _sent(forest, X, n_jobs):
        first_scores = np.repeat(start[:, None], leaves.shape[1], axis=1)
        scores = first_scores.copy()
        for r in range(len(out)):
            first, value = r * of_round, forest.value
            if stages:
                first, value, scores = 0, stages[r][:, None], first_scores.copy()
            _add(leaves, value, first, (r + 1) * of_round, scores)
            out[r, :, block] = scores / len(starts)
    return out


def added_up_by_run(
    forest: Forest, X: Matrix, starts: NDArray[np.float64], n_jobs: int
) -> NDArray[np.float64]:
    """Return the scores (M, K, n) of each run; arguments as in `added_up`."""
    M, K = starts.shape
    out = _held(M, K, X.shape[1], "runs")
    for block, leaves in _sent(forest, X, n_jobs):
        added = forest.value[leaves, 0].reshape(-1, M, K, leaves.shape[1])
        out[:, :, block] = starts[:, :, None] + added.sum(axis=0)
    return out


def out_of_bag_by_round(
    forest: Forest, stages: Sequence[NDArray[np.float64]], X: Matrix, starts: NDArray[np.float64],
    missed: NDArray[np.bool_], n_jobs: int,
) -> NDArray[np.float64]:  # fmt: skip
    """Return out-of-bag scores (R, K, n) after each round, as `added_up_by_round`; NaN: none."""
    M, K = starts.shape
    out = _held(forest.n_trees // starts.size, K, X.shape[1], "rounds")
    for block, leaves in _sent(forest, X, n_jobs):
        reached = leaves.reshape(len(out), M, K, leaves.shape[1])
        added = np.zeros(reached.shape[1:])
        for r in range(len(out)):
            if stages:
                added = stages[r][reached[: r + 1]].sum(axis=0)
            else:
                added += forest.value[reached[r], 0]
            out[r, :, block] = mean_of_other_runs(
                list(starts[:, :, None] + added), missed[:, block]
            )
    return out


def _held(number: int, K: int, n: int, what: str) -> NDArray[np.float64]:
    """Return an empty array (number, K, n) if memory suffices for it."""
    require_memory(
        8.0 * number * K * n,
        f"the scores of {n} rows for {number} {what}",
        "use fewer rows",
    )
    return np.empty((number, K, n))


def _sent(forest, X, n_jobs):
    """Yield each block of rows and its leaves (B, m)."""
    packed = forest.packed_for(X)

    def send(block):
        return block, leaves_of(packed, X, block)

    yield from in_order(send, routing_blocks(forest, X, n_jobs), n_jobs)
