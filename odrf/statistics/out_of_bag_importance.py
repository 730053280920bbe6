"""Importance of predictors judged by out-of-bag rows, which have not chosen the splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from odrf.engine.chunks import LeafScale, sums_in_units
from odrf.engine.factors import Matrix
from odrf.engine.resamples import Draws
from odrf.engine.trees.forest import Forest
from odrf.statistics.held_out_importance import (
    added_covariances,
    covariances_of_sums,
    leaves_by_tree,
)
from odrf.statistics.importance import shared_out

__all__ = ["importance_of_sums", "out_of_bag_importance"]


def out_of_bag_importance(
    forest: Forest,
    X: Matrix,
    y: NDArray[np.float64],
    first: NDArray[np.int64],
    draws: Draws,
    advance: Callable[[], object] = lambda: None,
) -> NDArray[np.float64]:
    """Return the out-of-bag impurity decrease of each predictor (P,).

    The impurity decrease of a split is the covariance of the response with the change of the
    prediction that the split makes, over the rows that the tree drew.  Here it is taken over the
    rows that the tree did not draw (Li, Wang, Basu, Kumbier and Yu 2019).  These rows have not
    chosen the split: if a split is unrelated to the response, its importance is 0 on average,
    whatever the number of values or levels of its predictors.  It may be negative.

    Parameters
    ----------
    forest : Forest
        Trees, pruned or not.
    X : (p, n) float32
    y : (n,) float64
        Training rows.
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    draws : Draws
        What repeats which rows each tree drew.
    advance : callable
        Called for each tree.

    Returns
    -------
    (P,) float64
        Mean over the trees that left rows out; in units of the squared response, or of the Gini
        index.  The sum over the predictors is the mean out-of-bag covariance of response and
        prediction.

    References
    ----------
    X. Li, Y. Wang, S. Basu, K. Kumbier and B. Yu (2019). A debiased MDI feature importance measure
    for random forests. NeurIPS.
    """
    unseen, weights = draws.all_unseen() & (draws.weights > 0), draws.weights
    K = forest.value.shape[1]
    target = y[:, None] if K == 1 else np.eye(K)[y.astype(np.int64)]
    centred = weights[:, None] * (target - np.average(target, axis=0, weights=weights))
    n_used = int(unseen.any(axis=1).sum())

    def judged() -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        for b, leaf in leaves_by_tree(forest, X, draws.n_jobs):
            rows = np.flatnonzero(unseen[b])
            advance()  # before the last tree is handed out: nobody asks for another one
            yield leaf[rows], centred[rows] / weights[rows].sum()

    return shared_out(forest, added_covariances(forest, judged()), first) / max(n_used, 1)


def importance_of_sums(
    forest: Forest,
    sums: NDArray[np.int64],
    scale: LeafScale,
    mean: NDArray[np.float64],
    first: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the `out_of_bag_importance` (P,) of sums over the rows of each leaf.

    Parameters
    ----------
    forest : Forest
    sums : (m, K + 1) int64
        Of the out-of-bag rows of each leaf, the sums of weights times responses (for classes of the
        weights of each class), and of the weights, as `odrf.engine.chunks` has them.
    scale : LeafScale
        What the sums stand for.
    mean : (K,) float64
        The weighted mean response of all rows, or the class shares.
    first : (P + 1,) int64
        As in `out_of_bag_importance`.
    """
    total, n_used = np.zeros(len(first) - 1), 0
    # one tree after the other: what is computed of all nodes would take more memory than the trees
    for b in range(forest.n_trees):
        of_tree = sums_in_units(sums[forest.root[b] : forest.root[b + 1]], scale)
        weight = of_tree[:, -1].sum()
        if weight > 0:
            tree = forest.tree(b)
            centred = (of_tree[:, :-1] - of_tree[:, -1:] * (mean - scale.centre)) / weight
            total += shared_out(tree, covariances_of_sums(tree, centred), first)
            n_used += 1
    return total / max(n_used, 1)
