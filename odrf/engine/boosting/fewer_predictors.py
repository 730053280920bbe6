"""Trees that see some of the predictors only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.randomness import shuffle_front
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["draw_predictors", "narrowed_blocks", "widened"]


def draw_predictors(
    state: NDArray[np.uint64], among: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Draw so many of the predictors `among`, in rising order; of all of them, draw nothing."""
    if size >= len(among):
        return among
    drawn = among.copy()
    shuffle_front(state, drawn, size)
    return np.sort(drawn[:size])


def narrowed_blocks(feature_groups: FeatureGroups, predictors: NDArray[np.int64]) -> FeatureGroups:
    """Return which of the columns of these predictors, set side by side, make up each."""
    widths = np.diff(feature_groups.first)[predictors]
    return FeatureGroups(np.concatenate([[0], np.cumsum(widths)]), feature_groups.types[predictors])


def widened(tree: Forest, columns: NDArray[np.int64]) -> Forest:
    """Return a tree grown on some of the columns as one of all of them."""
    return replace(tree, index=columns[tree.index].astype(np.int32))
