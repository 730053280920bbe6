"""Trees that are grown on a random subset of the predictors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.randomness import shuffle_front
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["draw_predictors", "narrowed_feature_groups", "widened"]


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
    first = np.concatenate([[0], np.cumsum(feature_groups.widths[predictors])])
    holes = feature_groups.holes
    return FeatureGroups(
        first, feature_groups.types[predictors], None if holes is None else holes[predictors]
    )


def widened(tree: Forest, columns: NDArray[np.int64]) -> Forest:
    """Return a tree that was grown on these columns, with column numbers of the whole design."""
    return replace(tree, index=columns[tree.index].astype(np.int32))
