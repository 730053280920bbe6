"""Curves by a prediction for every point of the grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, layout_of, stored, with_layout
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes


def with_others(X: Matrix, places: NDArray, values: NDArray, point: int) -> Matrix:
    """The matrix X (p, n) in which stored rows have the values (1 or n, T, G) of a point."""
    array = stored(X).copy()
    array[places] = values[:, :, point].T
    return with_layout(array, layout_of(X))


def predicted(forest: Forest, X: Matrix, places: NDArray, values: NDArray) -> NDArray:
    """What each tree predicts for each row at each point, (B, n, G, K)."""
    points = range(values.shape[2])
    leaves = [leaf_nodes(forest, with_others(X, places, values, point), 1) for point in points]
    return forest.value[np.stack(leaves, axis=-1)].transpose(1, 0, 2, 3)
