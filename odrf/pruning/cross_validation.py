"""Cross-validation of pruning: trees grown without a fold and evaluated on its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import FoldRows
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import streams
from odrf.engine.resamples import RowCodes, Sampling
from odrf.engine.running import in_order
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest import Forest
from odrf.pruning.held_out import HeldOut, RowLosses, held_out, losses_of

__all__ = ["Growth", "JudgedBy", "cross_validated", "folds_grown", "geometric_means"]


class JudgedBy(NamedTuple):
    """How trees are judged, if not by the responses and weights that they are grown from.

    Attributes
    ----------
    described : callable
        It takes a grown tree, the mask (n,) of the rows it was grown on and its stream (1, 4), and
        returns the tree with the values and impurities by which it is pruned and judged.
    y : (n, …) float64
        What rows are judged by.
    weights : (n,) float64
    losses : RowLosses
    """

    described: Callable[[Forest, NDArray[np.bool_], NDArray[np.uint64]], Forest]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    losses: RowLosses


class Growth(NamedTuple):
    """What a tree is grown from, how, and how it is judged."""

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    feature_groups: FeatureGroups
    sampling: Sampling
    settings: Settings
    mixture: SamplerMixture
    codes: RowCodes | None = None
    ranks: EventRanks | None = None
    judging: JudgedBy | None = None
    case_weights: NDArray[np.float64] | None = None


class Fold(NamedTuple):
    """A tree, and the mask (n,) of the rows that judge it, without which it was grown."""

    tree: Forest
    rows: NDArray[np.bool_]


def folds_grown(
    growth: Growth, folds: list[FoldRows], seed: int, n_jobs: int, advance: Callable[[], object]
) -> list[Fold]:
    """Grow a tree on the training rows of each fold; for any number of threads the same."""
    k = len(folds)
    random = streams(seed, 0, k)

    def grow(i: int) -> Fold:
        train, stream = folds[i].train, random[i : i + 1]
        tree = grow_forest(
            growth.X, growth.y, np.where(train, growth.weights, 0.0), growth.feature_groups,
            growth.sampling, growth.settings, growth.mixture, stream, 1, lambda: None,
            growth.codes, ranks=growth.ranks, case_weights=growth.case_weights,
        )  # fmt: skip
        if growth.judging is not None:
            tree = growth.judging.described(tree, train, stream)
        return Fold(tree, folds[i].test)

    grown = []
    for fold in in_order(grow, range(k), n_jobs):
        grown.append(fold)
        advance()
    return grown


def cross_validated(
    growth: Growth,
    folds: list[Fold],
    critical: Callable[[Forest], NDArray[np.float64]],
    alpha: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
) -> HeldOut:
    """Evaluate pruning at each of the `alpha` (k,), rising: each row by the tree of its fold.

    `critical` gives the critical α of the splits of a tree.  Rows of one of the `groups` (n,) count
    as one unit; those of a group that folds divide count as one in each.
    """
    by = growth.judging
    y, weights = (growth.y, growth.weights) if by is None else (by.y, by.weights)
    losses = losses_of if by is None else by.losses

    def judged(fold: Fold) -> HeldOut:
        tree, rows = fold
        units = None if groups is None else groups[rows]
        X = with_rows(growth.X, rows)
        return held_out(tree, critical(tree), alpha, X, y[rows], weights[rows], units, losses)

    return reduce(add, map(judged, folds))


def geometric_means(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the α at which trees of folds are pruned, one for each range of α.

    A subtree of the tree grown on all rows is optimal for a range of α.  The trees of the folds
    have other critical α; they are pruned at the geometric mean of the range's ends, as in rpart.
    The last range has no upper end; infinity stands for it.
    """
    return np.append(np.sqrt(alpha[:-1] * alpha[1:]), np.inf)
