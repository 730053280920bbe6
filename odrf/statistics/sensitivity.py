"""Sensitivity of rows of guided trees, and their planes (Gupta et al. [G], section 8)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.guided.forest import GuidedForest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def planes_until(guided: GuidedForest) -> Integers:
    """Return v(Ω) of each region (m,): how many planes its tree had when it was made."""
    v = np.zeros(len(guided.left), dtype=np.int64)
    divided = np.flatnonzero(guided.left >= 0)
    left, rank = guided.left[divided], guided.rank[divided]
    v[left] = v[left + 1] = rank
    return v


def mean_sensitivity(
    leaves: Integers, v: Integers, codes: Integers, n_classes: int, order: Integers
) -> Floats:
    """Return the sensitivity ŝ of each row (n,): equations (30) to (32) of [G].

    Within a leaf of `leaves` (n, B) rows are ranked in the sequence of `order`, and θ = v / rank,
    `v` (m,) of `planes_until`. ŝ is the mean over trees of ln(1 + θ/Θ), Θ the sum of θ over the
    class.
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
    """Return the sensitivities (n,) divided by their sum, equal if all are 0: equation (33)."""
    total = sensitivity.sum()
    if total == 0:
        return np.full(len(sensitivity), 1 / len(sensitivity))
    return sensitivity / total


def drawing_order(probability: Floats, rng: np.random.Generator) -> Integers:
    """Return all rows in the order in which they are drawn without replacement.

    Each draw is in proportion to the remaining probabilities, as is the order of exponential times
    with these rates (Efraimidis and Spirakis 2006). So samples are nested.
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
    """Return the share of its root's impurity after 0, 1, … w planes of each tree, (B, w + 1)."""
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
    """Return the bits of each leaf of tree b, 0 on the left of a plane, and their planes from 1."""
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
