"""The planes of guided trees: how many regions each divides, and the impurity that remains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.guided.forest import GuidedForest

__all__ = ["leaf_codes", "regions_divided", "remaining_impurity"]


def regions_divided(guided: GuidedForest) -> NDArray[np.int64]:
    """Return how many regions each plane (W,) divides."""
    return np.bincount(guided.plane[guided.plane >= 0], minlength=len(guided.threshold))


def remaining_impurity(guided: GuidedForest) -> NDArray[np.float64]:
    """Return the impurity of each tree after 0, 1, … planes, as shares of its root's, (B, w + 1).

    w is the largest number of planes of a tree; a tree with fewer keeps its last value.
    """
    forest, most = guided.unshared, int(guided.n_planes.max())
    tree = np.repeat(np.arange(guided.n_trees), np.diff(guided.root))
    cell = tree * (most + 1) + guided.rank
    removed = np.bincount(
        cell, weights=forest.weight * forest.gain, minlength=guided.n_trees * (most + 1)
    ).reshape(guided.n_trees, most + 1)
    root = guided.root[:-1]
    whole = (guided.weight[root] * guided.impurity[root])[:, None]
    share = np.divide(removed, whole, out=np.zeros_like(removed), where=whole > 0)
    return 1.0 - np.cumsum(share, axis=1)


def leaf_codes(guided: GuidedForest, b: int) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Return the code of each leaf of tree b, by its number in the tree: its bits and their planes.

    A bit is 0 on the left of a plane and 1 on its right.  Planes are numbered from 1 in the order
    of growth; a plane that does not divide a region adds no bit to its code.
    """
    lo, hi = int(guided.root[b]), int(guided.root[b + 1])
    left, rank = guided.left[lo:hi] - lo, guided.rank[lo:hi]
    bits: list[str] = [""] * (hi - lo)
    planes: list[tuple[int, ...]] = [()] * (hi - lo)
    for region in range(hi - lo):
        if left[region] < 0:
            continue
        for side in range(2):
            child = left[region] + side
            bits[child] = f"{bits[region]}{side}"
            planes[child] = (*planes[region], int(rank[region]))
    leaves = np.flatnonzero(guided.left[lo:hi] < 0)
    return {int(leaf): (bits[leaf], planes[leaf]) for leaf in leaves}
