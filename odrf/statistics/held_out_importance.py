"""Importance of predictors judged by held-out rows, which have not chosen the splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, rows_of_predictors, stored, with_rows
from odrf.engine.running import in_order, one_thread
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaves_of, routing_blocks
from odrf.statistics.importance import shared_out

__all__ = [
    "FEWEST_ROWS",
    "JudgedTrees",
    "added_covariances",
    "covariances_of_sums",
    "held_out_importance",
    "leaves_by_tree",
    "permuted_importance",
]

# Rows times trees whose leaves are found together.
LEAVES_AT_ONCE = 2**22
# Nodes times outputs of the trees whose sums are held together.
SUMS_AT_ONCE = 2**24
# Fewer rows have no covariance.
FEWEST_ROWS = 2


class JudgedTrees(NamedTuple):
    """Trees, and the rows that judge them.

    Attributes
    ----------
    forest : Forest
        Trees, pruned or not.
    rows : (n,) bool
        Rows that grew none of these trees.
    """

    forest: Forest
    rows: NDArray[np.bool_]


def held_out_importance(
    parts: Iterable[JudgedTrees],
    X: Matrix,
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: NDArray[np.int64],
    summed: bool,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the held-out importance of each predictor (P,).

    The importance of a split is the covariance of the response with the change of the prediction
    that the split makes, over rows that did not grow the tree; see
    `odrf.statistics.out_of_bag_importance`.  It is divided among the predictors of the split in
    proportion to the ranges of their coefficients, see `shared_out`.  The response is centred at
    its mean over the rows that judge.  So the importance of every predictor is 0 on average if the
    rows that judge have their responses in random order.

    Parameters
    ----------
    parts : iterable of JudgedTrees
        Trees grown on some of the rows, with other rows.
    X : (p, n) float32
    target : (n, K) float64
        Responses, or for classes K indicators.
    weights : (n,) float64
        Case weights; rows of weight 0 judge nothing.
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    summed : bool
        Whether a prediction is the sum of trees, each for one of the K outputs in turn, and only
        the leaves have values.  Otherwise it is the mean of trees with K values in each node.
    n_jobs : int
        Threads.

    Returns
    -------
    (P,) float64
        Mean over the parts with at least 2 rows; 0 without any.
    """
    total, n_used = np.zeros(len(first) - 1), 0
    for forest, judging in parts:
        rows = np.flatnonzero(judging & (weights > 0))
        if len(rows) < FEWEST_ROWS:
            continue
        centred = _centred(target[rows], weights[rows])
        forest, K = _with_inner_values(forest) if summed else forest, target.shape[1]
        judged = (
            (leaf, centred[:, [b % K]] if summed else centred)
            for b, leaf in leaves_by_tree(forest, with_rows(X, rows), n_jobs)
        )
        of_part = shared_out(forest, added_covariances(forest, judged), first)
        total += of_part if summed else of_part / forest.n_trees
        n_used += 1
    return total / max(n_used, 1)


def permuted_importance(
    parts: Iterable[JudgedTrees],
    X: Matrix,
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: NDArray[np.int64],
    seed: int,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the held-out importance of each predictor (P,) where every split uses all of them.

    Then coefficients do not tell which of them a split owes its effect to.  The importance is the
    covariance of response and prediction over the rows that judge, minus what is left of it when
    the values of the predictor are permuted among them; its columns are permuted together.  It is 0
    on average for a predictor that is unrelated to the response and the other predictors.

    Parameters
    ----------
    parts, X, target, weights, first, n_jobs
        As in `held_out_importance`; predictions are means of trees.
    seed : int
        Seed of the permutations.

    Returns
    -------
    (P,) float64
        Mean over the parts with at least 2 rows; 0 without any.
    """
    rng = np.random.default_rng(seed)
    total, n_used = np.zeros(len(first) - 1), 0
    for forest, judging in parts:
        rows = np.flatnonzero(judging & (weights > 0))
        if len(rows) < FEWEST_ROWS:
            continue
        centred, held = _centred(target[rows], weights[rows]), with_rows(X, rows)
        before = _covariances(forest, held, centred, np.arange(forest.n_trees), n_jobs)
        uses = _predictors_used(forest, first)
        array = stored(held)
        for j, (begin, end) in enumerate(zip(*rows_of_predictors(held, first), strict=True)):
            trees, values = np.flatnonzero(uses[:, j]), array[begin:end].copy()
            array[begin:end] = values[:, rng.permutation(len(rows))]
            after = _covariances(forest, held, centred, trees, n_jobs)
            array[begin:end] = values
            total[j] += (before[trees] - after[trees]).sum() / forest.n_trees
        n_used += 1
    return total / max(n_used, 1)


@one_thread()
def _centred(target: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows (m, K) minus their weighted mean, times their shares of the weight."""
    share = weights / weights.sum()
    return np.asarray(share[:, None] * (target - share @ target))


@one_thread()
def _covariances(
    forest: Forest,
    X: Matrix,
    centred: NDArray[np.float64],
    trees: NDArray[np.int64],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the covariance of the response with each of the `trees`: (B,), 0 for the others."""
    found = np.zeros(forest.n_trees)
    for b, leaf in leaves_by_tree(forest, X, n_jobs, trees):
        found[b] = np.vdot(centred, forest.value[leaf])
    return found


def _predictors_used(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which predictors the splits of each tree use: (B, P)."""
    uses = np.zeros((forest.n_trees, len(first) - 1), dtype=bool)
    for b, (begin, end) in enumerate(pairwise(forest.start[forest.root])):
        columns = np.unique(forest.index[begin:end])
        uses[b, np.searchsorted(first, columns, side="right") - 1] = True
    return uses


def leaves_by_tree(
    forest: Forest,
    X: Matrix,
    n_jobs: int,
    trees: NDArray[np.int64] | None = None,
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield the number of each tree, and the leaves (n,) of the rows of X (p, n).

    `trees` are the numbers of the trees; by default all.
    """
    step = max(1, LEAVES_AT_ONCE // X.shape[1])
    numbers = np.arange(forest.n_trees) if trees is None else trees
    for begin in range(0, len(numbers), step):
        some = numbers[begin : begin + step]
        packed = forest.packed_for(X)
        packed = packed._replace(root=packed.root[some])
        sent = partial(leaves_of, packed, X)
        leaves = np.hstack(list(in_order(sent, routing_blocks(forest, X, n_jobs), n_jobs)))
        yield from zip(some.tolist(), leaves, strict=True)


def added_covariances(
    forest: Forest, judged: Iterable[tuple[NDArray[np.int32], NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """Return for each split the sum of its rows times the change of the prediction that it makes.

    Parameters
    ----------
    forest : Forest
    judged : iterable
        For each tree in turn the leaves (r,) of the rows that judge it, and what is summed over
        them (r, K).

    Returns
    -------
    (m,) float64
        0 for leaves.
    """
    added, judged, first = np.zeros(forest.n_nodes), iter(judged), 0
    while first < forest.n_trees:
        # the sums of all trees would take as much memory as the trees
        begin = forest.root[first]
        most = begin + SUMS_AT_ONCE // forest.value.shape[1]
        last = max(first + 1, int(np.searchsorted(forest.root, most, side="right")) - 1)
        part = forest.trees(first, last)
        sums = np.zeros_like(part.value)
        for (lo, hi), (leaf, rows) in zip(pairwise(part.root), judged, strict=False):
            for k, column in enumerate(rows.T):
                sums[lo:hi, k] = np.bincount(leaf - (begin + lo), column, hi - lo)
        added[begin : begin + part.n_nodes] = covariances_of_sums(part, sums)
        first = last
    return added


def covariances_of_sums(forest: Forest, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each split (m,) the sum of its rows times the change of the prediction.

    `sums` (m, K) are those of the rows that judge each leaf, and become those of all nodes.
    """
    added = np.zeros(forest.n_nodes)
    for nodes in _splits_from_below(forest):
        for side in range(2):
            child = forest.left[nodes] + side
            change = forest.value[child] - forest.value[nodes]
            added[nodes] += (change * sums[child]).sum(axis=1)
            sums[nodes] += sums[child]
    return added


def _with_inner_values(forest: Forest) -> Forest:
    """Return the trees with the mean of the leaves below as the value of each inner node."""
    value, weight = forest.value.copy(), forest.weight
    for nodes in _splits_from_below(forest):
        left, right = forest.left[nodes], forest.left[nodes] + 1
        of_left = weight[left] / (weight[left] + weight[right])
        value[nodes, 0] = of_left * value[left, 0] + (1.0 - of_left) * value[right, 0]
    return replace(forest, value=value)


def _splits_from_below(forest: Forest) -> Iterator[NDArray[np.int64]]:
    """Yield the splits of each depth, the deepest first."""
    depth = forest.depth()
    split = np.flatnonzero((forest.left >= 0) & (depth >= 0))
    split = split[np.argsort(-depth[split], kind="stable")]
    yield from np.split(split, np.flatnonzero(np.diff(depth[split])) + 1)
