"""Cross-validation of pruning: trees regrown without a part of the rows, judged on that part."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import fold_of_rows
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.forest_growth import grow_forest
from odrf.engine.parallel import in_order
from odrf.engine.randomness import streams
from odrf.engine.rows.sampling import Sampling
from odrf.engine.settings import Settings
from odrf.engine.trees.forest_arrays import Forest
from odrf.pruning.held_out import HeldOut, held_out

__all__ = ["Growth", "cross_validated", "folds_grown", "geometric_means"]


class Growth(NamedTuple):
    """What a tree is grown from, and how."""

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    feature_groups: FeatureGroups
    sampling: Sampling
    settings: Settings
    mixture: SamplerMixture


class Fold(NamedTuple):
    """A tree grown without some rows, and the mask (n,) of those rows."""

    tree: Forest
    rows: NDArray[np.bool_]


def folds_grown(
    growth: Growth, k: int, seed: int, n_jobs: int, advance: Callable[[], object]
) -> list[Fold]:
    """Grow a tree without each of k folds; the same for any number of threads."""
    fold = fold_of_rows(growth.y, growth.settings.n_classes, k, seed)
    own = streams(seed, 0, k)

    def grow(i: int) -> Fold:
        out = fold == i
        weights = np.where(out, 0.0, growth.weights)
        grown = grow_forest(*growth._replace(weights=weights), own[i : i + 1], 1, lambda: None)
        return Fold(grown, out)

    folds = []
    for grown in in_order(grow, range(k), n_jobs):
        folds.append(grown)
        advance()
    return folds


def cross_validated(
    growth: Growth,
    folds: list[Fold],
    prices: Callable[[Forest], NDArray[np.float64]],
    alpha: NDArray[np.float64],
) -> HeldOut:
    """Judge pruning at each of the `alpha` (k,), rising, on every row by its own fold's tree."""
    X, y, weights = growth.X, growth.y, growth.weights
    return reduce(
        add,
        (
            held_out(tree, prices(tree), alpha, X[:, out], y[out], weights[out])
            for tree, out in folds
        ),
    )


def geometric_means(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what stands for each range of α in the folds: the geometric mean of its ends.

    The trees of the folds have critical values of their own; the middle of the range in which the
    whole tree's subtree is the choice is the fairest price to prune them at, as in rpart.  The
    last range has no end, and infinity stands for it.
    """
    return np.append(np.sqrt(alpha[:-1] * alpha[1:]), np.inf)
