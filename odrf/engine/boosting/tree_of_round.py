"""Grow a tree of a boosting run on the derivatives of its loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.fewer_predictors import widened
from odrf.engine.boosting.losses import Derivatives
from odrf.engine.boosting.plan import Plan
from odrf.engine.boosting.runs import Run
from odrf.engine.boosting.shared_columns import SharedColumns
from odrf.engine.growth.tree_growth import grow_one
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.sampling import ALL_ROWS, Sampling, draw_counts
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["TreeOfRound", "grown_on"]


class TreeOfRound(NamedTuple):
    """A tree, and the rows that it was grown on.

    Attributes
    ----------
    tree : Forest
    drawn : slice or row numbers
    leaf : (n,) int32 or None
        The number of each row's leaf if all rows were drawn.
    """

    tree: Forest
    drawn: slice | NDArray[np.int64]
    leaf: NDArray[np.int32] | None


def grown_on(
    shared: SharedColumns,
    run: Run,
    derivatives: Derivatives,
    k: int,
    plan: Plan,
    state: NDArray[np.uint64],
    n_jobs: int,
) -> TreeOfRound:
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
    return TreeOfRound(tree, drawn, leaf)


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
