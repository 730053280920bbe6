"""From the arrays of an updatable tree to a forest of one tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import Forest

__all__ = ["forest_of"]


def forest_of(arrays: dict[str, NDArray[Any]], ordered: bool) -> tuple[Forest, NDArray[np.int32]]:
    """Return a forest of one tree of the nodes that rows can reach, and their `n_at_split`.

    Nodes and splits keep their order.

    Parameters
    ----------
    arrays : dict of str to array
        Those of `odrf.engine.updatable.updatable_arrays.UpdatableArrays`, without room.
    ordered : bool
        Whether the classes are ordered.
    """
    left, order = arrays["left"].astype(np.int64), arrays["order"]
    kept = np.flatnonzero(_reached(left))
    number = np.full(len(left), -1)
    number[kept] = np.arange(len(kept))
    below = left[kept]
    sizes = arrays["size"][kept].astype(np.int64)
    start = np.concatenate([[0], np.cumsum(sizes)])
    terms = np.repeat(arrays["first"][kept] - start[:-1], sizes) + np.arange(start[-1])
    splits = np.flatnonzero(below >= 0)
    rank = np.zeros(len(kept), dtype=np.int32)
    rank[splits[np.argsort(order[kept][splits])]] = 1 + np.arange(len(splits))
    tree = Forest(
        root=np.array([0, len(kept)]),
        left=np.where(below < 0, -1, number[below]),
        start=start,
        index=arrays["column"][terms],
        coef=arrays["coef"][terms],
        order=rank,
        ordered=np.bool_(ordered),
        threshold=arrays["threshold"][kept],
        value=arrays["value"][kept],
        count=arrays["n_rows"][kept],
        weight=arrays["weight"][kept],
        impurity=arrays["impurity"][kept],
        gain=arrays["gain"][kept],
    )
    return tree, arrays["n_at_split"][kept]


def _reached(left: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes (m,) rows can reach; the depths say it, level by level."""
    reached: NDArray[np.bool_] = np.zeros(len(left), dtype=np.bool_)
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        reached[level] = True
        below = left[level]
        below = below[below >= 0]
        level = np.concatenate([below, below + 1])
    return reached
