"""Grow the trees of a forest, each from its own random stream, over threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.candidates import Blocks
from odrf.engine.forest import Forest, concatenate
from odrf.engine.growing import Settings, grow_tree
from odrf.engine.parallel import in_order
from odrf.engine.sampling import Sampling

__all__ = ["grow_forest"]


def grow_forest(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    blocks: Blocks,
    sampling: Sampling,
    settings: Settings,
    streams: NDArray[np.uint64],
    n_jobs: int,
    advance: Callable[[], object],
) -> Forest:
    """Grow one tree for each of the `streams` (B, 4) and join them in that order.

    `advance` is called after each tree, in the order of the trees; the other arguments are
    those of `odrf.engine.growing.grow_tree`.
    """

    def grow(stream: NDArray[np.uint64]) -> Forest:
        arrays, n_nodes, n_terms = grow_tree(
            X, y, weights, blocks, sampling, settings, stream.copy()
        )
        left, threshold, start, index, coef, *per_node = arrays
        return Forest(
            np.array([0, n_nodes]),
            left[:n_nodes].copy(),
            threshold[:n_nodes].copy(),
            start[: n_nodes + 1].copy(),
            index[:n_terms].copy(),
            coef[:n_terms].copy(),
            *(array[:n_nodes].copy() for array in per_node),
        )

    trees = []
    for tree in in_order(grow, streams, n_jobs):
        trees.append(tree)
        advance()
    return concatenate(trees)
