"""Grow trees of a boosting run on the derivatives of its loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.fewer_predictors import widened
from odrf.engine.boosting.losses import Derivatives
from odrf.engine.boosting.plan import Plan
from odrf.engine.boosting.runs import Run
from odrf.engine.boosting.shared_columns import SharedColumns
from odrf.engine.growth.one_call import TreeTargets
from odrf.engine.growth.tree_growth import grow_one
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.sampling import ALL_ROWS, Sampling, draw_counts
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["TreesOfRound", "grown_in_one_call", "grown_on"]


class TreesOfRound(NamedTuple):
    """Trees for outputs that follow each other, and the rows that they were grown on.

    Attributes
    ----------
    trees : Forest
        T of them.
    drawn : slice or row numbers
    leaf : (T, n) int32 or None
        The number, within its tree, of each row's leaf, if all rows were drawn.
    """

    trees: Forest
    drawn: slice | NDArray[np.int64]
    leaf: NDArray[np.int32] | None


def grown_in_one_call(
    shared: SharedColumns,
    run: Run,
    derivatives: Derivatives,
    outputs: slice,
    states: NDArray[np.uint64],
) -> TreesOfRound:
    """Grow trees for these outputs in one thread; for a run whose trees `shared` grows together.

    `states` (T, 4) are their random streams, which are not modified.  The trees are those of
    `grown_on`, without the values of their nodes.
    """
    weights = run.rows.weights
    leaf = np.empty((len(states), len(weights)), dtype=np.int32)
    targets = TreeTargets(derivatives.first[outputs], derivatives.second[outputs], weights, states)
    grower = shared.take_grower()
    trees = grower(targets, leaf)
    shared.give_back(grower)
    trees = trees if shared.columns is None else widened(trees, shared.columns)
    return TreesOfRound(trees, slice(None), leaf)


def grown_on(
    shared: SharedColumns,
    run: Run,
    derivatives: Derivatives,
    k: int,
    plan: Plan,
    state: NDArray[np.uint64],
    n_jobs: int,
) -> TreesOfRound:
    """Grow a tree for the k-th output; a large one grows in `n_jobs` threads.

    The response is -g/h with weights h, g and h being the derivatives of the loss.  `state` (4,) is
    its random stream, advanced.
    """
    weights = run.rows.weights * derivatives.second[k]
    # growth repeats this draw from the same state
    codes = None if run.rows.codes is None else run.rows.codes.timeless
    drawn = _drawn(state.copy(), weights, plan.sampling, codes)
    leaf = np.empty(len(weights), dtype=np.int32) if isinstance(drawn, slice) else None
    tree = grow_one(
        shared.X,
        -derivatives.first[k] / derivatives.second[k],
        weights,
        shared.feature_groups,
        plan.sampling,
        plan.settings,
        plan.mixture,
        state,
        shared.copied,
        shared.factors,
        codes,
        pool=shared.pool,
        leaf=leaf,
        n_jobs=n_jobs,
    )
    tree = tree if shared.columns is None else widened(tree, shared.columns)
    return TreesOfRound(tree, drawn, None if leaf is None else leaf[None, :])


def _drawn(
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    codes: RowCodes | None,
) -> slice | NDArray[np.int64]:
    """Return which rows a tree with this stream draws."""
    if sampling.resample != ALL_ROWS:
        return np.flatnonzero(draw_counts(state, weights, sampling, codes))
    return slice(None) if weights.all() else np.flatnonzero(weights)
