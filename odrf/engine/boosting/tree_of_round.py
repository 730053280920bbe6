"""Grow a tree of a boosting run on the derivatives of its loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.fewer_predictors import draw_predictors, narrowed_feature_groups, widened
from odrf.engine.boosting.losses import Derivatives
from odrf.engine.boosting.plan import Plan
from odrf.engine.boosting.runs import Run
from odrf.engine.directions.candidates import FeatureGroups, columns_of
from odrf.engine.growth.forest_growth import grow_one, pays_to_copy
from odrf.engine.rows.factors import Factors, n_kept, narrowed
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.sampling import ALL_ROWS, Sampling, draw_counts
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["grown_on"]


def grown_on(
    X: NDArray[np.float32],
    factors: Factors,
    run: Run,
    derivatives: Derivatives,
    k: int,
    feature_groups: FeatureGroups,
    plan: Plan,
    state: NDArray[np.uint64],
) -> tuple[Forest, slice | NDArray[np.int64]]:
    """Grow a tree for the k-th output; return it and the rows that it was grown on.

    X and `factors` are as `odrf.engine.growth.forest_growth.read_by_growth` returns them.  The
    response is -g/h with weights h, g and h being the derivatives of the loss.  `state` (4,) is
    its random stream, advanced.
    """
    weights = run.rows.weights * derivatives.second[k]
    predictors = draw_predictors(state, run.predictors, plan.tree_predictors)
    columns = None
    if len(predictors) < len(feature_groups.types):
        columns = columns_of(feature_groups, predictors)
        X, factors = narrowed(X, factors, columns)
        feature_groups = narrowed_feature_groups(feature_groups, predictors)
    # growth repeats this draw from the same state
    codes = None if run.rows.codes is None else run.rows.codes.timeless
    drawn = _drawn(state.copy(), weights, plan.sampling, codes)
    columns_read = plan.mixture.columns_read(feature_groups, plan.settings, len(weights))
    copied = pays_to_copy(n_kept(X, factors), columns_read)
    tree = grow_one(
        X,
        -derivatives.first[k] / derivatives.second[k],
        weights,
        feature_groups,
        plan.sampling,
        plan.settings,
        plan.mixture,
        state,
        copied,
        factors,
        codes,
    )
    return tree if columns is None else widened(tree, columns), drawn


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
