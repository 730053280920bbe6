"""Sensitivity of rows of guided trees, and their planes.

Section 8 of Gupta et al. ([G]), *Guided random forest and its application to data approximation*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.guided.forest import GuidedForest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def planes_until(guided: GuidedForest) -> Integers:
    """Return v(Ω) of each region (m,): the number of planes of its tree when it was made.

    It is the rank of the plane that divided its parent; 0 for the root region.
    """
    v = np.zeros(len(guided.left), dtype=np.int64)
    divided = np.flatnonzero(guided.left >= 0)
    left, rank = guided.left[divided], guided.rank[divided]
    v[left] = v[left + 1] = rank
    return v


def mean_sensitivity(
    leaves: Integers, v: Integers, codes: Integers, n_classes: int, order: Integers
) -> Floats:
    """Return the sensitivity ŝ of each row (n,): equations (30) to (32) of [G].

    Within a leaf, of `leaves` (n, B), rows are ranked in the sequence of `order` (n,), and θ = v /
    rank, with `v` (m,) of each region from `planes_until`.  Then s = ln(1 + θ/Θ), with Θ the sum of
    θ over the rows of the class, and ŝ is the mean of s over the trees.  In a tree without planes s
    is 0. `codes` (n,) are classes 0 … K - 1; all 0 for a regression, with K = 1.
    """
    n, B = leaves.shape
    total = np.zeros(n)
    # tree by tree, so that arrays of float64 have n elements, not n · B
    for b in range(B):
        theta = v[leaves[:, b]] / _ranks(leaves[:, b], order)
        of_class = np.bincount(codes, weights=theta, minlength=n_classes)[codes]
        total += np.log1p(np.divide(theta, of_class, out=np.zeros(n), where=of_class > 0))
    return total / B


def as_probability(sensitivity: Floats) -> Floats:
    """Return the probabilities p (n,), the sensitivities divided by their sum: equation (33).

    If all sensitivities are 0, all rows have the same probability.
    """
    total = sensitivity.sum()
    if total == 0:
        return np.full(len(sensitivity), 1 / len(sensitivity))
    return sensitivity / total


def drawing_order(probability: Floats, rng: np.random.Generator) -> Integers:
    """Return all rows in the order in which they are drawn, one by one, without replacement.

    Each draw is in proportion to the probabilities of the remaining rows.  The order of independent
    exponential times with these probabilities as rates has this distribution (Efraimidis and
    Spirakis 2006).  The first k rows are a sample of size k, so that samples are nested.
    """
    with np.errstate(divide="ignore"):
        time = rng.exponential(size=len(probability)) / probability
    return np.argsort(time, kind="stable")


def _ranks(leaf: Integers, order: Integers) -> Integers:
    """Return the rank, from 1, of each row (n,) in its leaf, in the sequence of `order`."""
    by_leaf = order[np.argsort(leaf[order], kind="stable")]
    first = np.flatnonzero(np.diff(leaf[by_leaf], prepend=-1))
    size = np.diff(first, append=len(leaf))
    ranks = np.empty(len(leaf), dtype=np.int64)
    ranks[by_leaf] = np.arange(len(leaf)) - np.repeat(first, size) + 1
    return ranks


# The planes of guided trees: how many regions each divides, and the impurity that remains.
def regions_divided(guided: GuidedForest) -> Integers:
    """Return how many regions each plane (W,) divides."""
    return np.bincount(guided.plane[guided.plane >= 0], minlength=len(guided.threshold))


def remaining_impurity(guided: GuidedForest) -> Floats:
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
