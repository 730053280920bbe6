"""Scores of boosted trees: sums of the values of the leaves that a row reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.runs import mean_of_other_runs
from odrf.engine.compiling import kernel
from odrf.engine.memory import require_memory
from odrf.engine.parallel import in_order
from odrf.engine.rows.coded import Matrix
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaves_of, routing_blocks

__all__ = ["added_up", "added_up_by_round", "added_up_by_run", "out_of_bag_by_round"]


@kernel
def _add(leaves, value, first, last, out):
    """Add to out (K, m) the values (m,) of the leaves (B, m) of the trees from `first` to `last`.

    Tree b belongs to output b modulo K; trees are added in their order.
    """
    K = np.uint64(len(out))
    for b in range(np.uint64(first), np.uint64(last)):
        k = b % K
        for i in range(np.uint64(leaves.shape[1])):
            out[k, i] += value[np.uint64(leaves[b, i]), 0]


def added_up(
    forest: Forest,
    X: Matrix,
    starts: NDArray[np.float64],
    n_jobs: int,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the mean over the runs of the scores (K, n) of each row of X (p, n).

    Parameters
    ----------
    forest : Forest
        Trees round by round, within a round run by run, within a run one for each of the K outputs;
        values (m, 1).
    X : (p, n) float32
    starts : (M, K) float64
        Scores of each run before the first round.
    n_jobs : int
        Threads; the sums are the same for any number.
    advance : callable
        Told the rows that are done.
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
    forest: Forest,
    stages: Sequence[NDArray[np.float64]],
    X: Matrix,
    starts: NDArray[np.float64],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the scores (R, K, n) after each of the R rounds.

    Parameters
    ----------
    forest, X, starts, n_jobs
        As in `added_up`.
    stages : sequence of arrays
        If leaves are refitted in each round, the values of the nodes of all trees so far; else
        empty.
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
    forest: Forest,
    stages: Sequence[NDArray[np.float64]],
    X: Matrix,
    starts: NDArray[np.float64],
    missed: NDArray[np.bool_],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the out-of-bag scores (R, K, n) after each of the R rounds; NaN for rows without.

    The arguments are those of `added_up_by_round`, and `missed` (M, n) tells which rows each run
    did not draw.
    """
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
