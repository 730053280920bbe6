"""Complexity parameters for a forest: common to all trees, or one per tree from unseen rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, with_rows
from odrf.engine.resamples import Draws
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest
from odrf.pruning.choosing import MINIMUM, chosen
from odrf.pruning.cross_fitting import chosen_elsewhere
from odrf.pruning.held_out import HeldOut, held_out

__all__ = ["common_alphas", "unseen_alphas"]

# Number of common α: the number of splits falls by about the same factor from one to the next.
STEPS = 20


def common_alphas(critical: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of α, rising from 0, that keep fewer and fewer splits; the last keeps none.

    Parameters
    ----------
    critical : (m,) float64
        Critical α of the splits of all trees; 0 where there is no split.
    """
    rising = np.sort(critical[critical > 0])
    if len(rising) == 0:
        return np.zeros(1)
    kept = np.geomspace(len(rising), 1, STEPS).round().astype(np.int64)[1:]
    return np.unique(
        np.concatenate([[0.0], rising[len(rising) - 1 - kept[kept < len(rising)]], rising[-1:]])
    )


def unseen_alphas(
    forest: Forest,
    critical: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    draws: Draws,
    fold: NDArray[np.int64],
    advance: Callable[[], object] = lambda: None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each tree (B,) the α with the smallest error on the rows that it did not draw.

    With it the α (F, B) that these rows choose if those of one fold are left out.

    Parameters
    ----------
    forest : Forest
    critical : (m,) float64
        Critical α of each split; 0 where there is no split.
    X, y
        The training rows, as in `odrf.engine.growth.forest_builder.grow_forest`.
    draws : Draws
        How the trees drew them.
    fold : (n,) int64
        The fold of each row, 0 to F - 1.
    advance : callable
        Called after each tree.
    """
    weights, F = draws.weights, int(fold.max()) + 1

    def best(b: int) -> list[float]:
        unseen = draws.unseen(b)
        if not weights[unseen].any():
            return [0.0] * (F + 1)
        tree, of_tree = forest.tree(b), critical[forest.root[b] : forest.root[b + 1]]
        alpha = np.unique(of_tree)  # leaves have 0

        def errors(rows: NDArray[np.bool_]) -> HeldOut:
            return held_out(tree, of_tree, alpha, with_rows(X, rows), y[rows], weights[rows])

        of_all = errors(unseen)
        row = chosen(of_all.mean, of_all.standard_error, MINIMUM)
        others = chosen_elsewhere([errors(unseen & (fold == f)) for f in range(F)], MINIMUM)
        return [float(alpha[k]) for k in (row, *others)]

    chosen_of_trees = []
    for alphas in in_order(best, range(forest.n_trees), draws.n_jobs):
        chosen_of_trees.append(alphas)
        advance()
    found = np.array(chosen_of_trees)
    return found[:, 0], found[:, 1:].T
