"""What the planes of guided trees do: how many regions each divides, what impurity each leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.guided.guided_forest import GuidedForest

__all__ = ["impurity_left", "leaf_codes", "regions_divided"]


def regions_divided(guided: GuidedForest) -> NDArray[np.int64]:
    """Return how many regions each plane (W,) divides."""
    return np.bincount(guided.plane[guided.plane >= 0], minlength=len(guided.threshold))


def impurity_left(guided: GuidedForest) -> NDArray[np.float64]:
    """Return what share of the root's impurity is left after 0, 1, … planes, (B, most + 1).

    A tree that has no more planes keeps what it has left.
    """
    forest, most = guided.unshared, int(guided.n_planes.max())
    tree = np.repeat(np.arange(guided.n_trees), np.diff(guided.root))
    at = tree * (most + 1) + guided.rank
    removed = np.bincount(
        at, weights=forest.weight * forest.gain, minlength=guided.n_trees * (most + 1)
    ).reshape(guided.n_trees, most + 1)
    first = guided.root[:-1]
    whole = (guided.weight[first] * guided.impurity[first])[:, None]
    share = np.divide(removed, whole, out=np.zeros_like(removed), where=whole > 0)
    return 1.0 - np.cumsum(share, axis=1)


def leaf_codes(guided: GuidedForest, b: int) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Return, for each leaf of tree b by its number in the tree, its bits and their planes.

    A bit is 1 beyond a plane; planes are counted from 1 in the order of growth, and those that do
    not cut a region give it no bit.
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
    whole = np.flatnonzero(guided.left[lo:hi] < 0)
    return {int(leaf): (bits[leaf], planes[leaf]) for leaf in whole}
