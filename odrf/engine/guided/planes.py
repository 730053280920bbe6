"""The candidate planes of a guided tree: how they are drawn and evaluated.

Equations are those of Gupta et al., *Guided random forest and its application to data
approximation*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.guided.regions import impurity_after, project_region
from odrf.engine.numeric import uniform

# Bound on the rounding error of a projection in float32, per column and relative to Σ|θ_j|.
ROUNDING = 2.0**-22


class TreeColumns(NamedTuple):
    """What the planes of a tree need to know of its C columns.

    `centre`, `scale` (C,): mean and scale of each column.  `empty` (C,): which of these columns
    tells the empty cells of the column; -1 if none does.
    """

    centre: np.ndarray
    scale: np.ndarray
    empty: np.ndarray


class CandidatePlanes(NamedTuple):
    """The candidate planes of a step, and scratch to evaluate them.

    `waiting` (n,), `numbers` (n,).
    `theta` (T, C): unit vectors: θᵀx on the tree's columns.
    `threshold` (T,): their thresholds.
    `tolerance` (T,): bound on the rounding error of θᵀx.
    `total` (T,): impurity of all active regions after each plane, equation (15).
    `cuts_target` (T,): whether the plane cuts the region for which it was drawn.
    `values` (n,): scratch for projections.
    `order` (n,): scratch for dividing rows.
    `beyond`, `here` (K,): scratch for the class weights beyond a plane and on its other side.
    `mean` (C,): scratch for the mean of a region.
    `weight` (C,): scratch for the weights of a plane before they are scaled.
    `block`, `product`: input and output of the matrix product of `odrf.engine.guided.device`.
    """

    theta: np.ndarray
    threshold: np.ndarray
    tolerance: np.ndarray
    total: np.ndarray
    cuts_target: np.ndarray
    values: np.ndarray
    waiting: np.ndarray
    numbers: np.ndarray
    order: np.ndarray
    beyond: np.ndarray
    here: np.ndarray
    mean: np.ndarray
    weight: np.ndarray
    block: np.ndarray
    product: np.ndarray


def planes_for(T: int, C: int, n: int, K: int, batched: bool) -> CandidatePlanes:
    """Allocate the arrays for T planes on C columns and n rows of K classes."""
    together = n if batched else 0
    return CandidatePlanes(
        np.empty((T, C), dtype=np.float32), np.empty(T, dtype=np.float32), np.empty(T), np.empty(T),
        np.empty(T, dtype=np.bool_), np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32),
        np.empty(n), np.empty(n, dtype=np.int32), np.empty(K), np.empty(K), np.empty(C),
        np.empty(C), np.empty(C * together, dtype=np.float32),
        np.empty(T * together, dtype=np.float32),
    )  # fmt: skip


@kernel
def draw_planes(state, regions, region, columns, from_region, candidates):
    """Draw the candidate planes of a step for a region: equations (3) to (7).

    The weight of column j is w_j = (u - origin_j) / scale_j², with u uniform between the least and
    the largest value of the column in the region.  The origin is the centre of the column or, if
    `from_region`, the mean of the region's rows.  The plane goes through the mean of the region's
    rows.

    An empty cell counts as the mean f_j of the region's known values: its column is 0 there, and
    the weight of the column that tells empty cells is w_j f_j more than drawn.
    """
    centre, scale, empty = columns
    C, mean, weight = len(centre), candidates.mean, candidates.weight
    lo, hi = regions.begin[region], regions.end[region]
    for j in range(C):
        total = 0.0
        for i in range(lo, hi):
            total += float(regions.X[j, i])
        mean[j] = total / (hi - lo)
    for k in range(len(candidates.theta)):
        for j in range(C):
            low, high = regions.low[region, j], regions.high[region, j]
            origin = mean[j] if from_region else centre[j]
            weight[j] = (low + uniform(state) * (high - low) - origin) / (scale[j] * scale[j])
        for j in range(C):
            if empty[j] >= 0 and mean[empty[j]] < 1.0:
                weight[empty[j]] += weight[j] * mean[j] / (1.0 - mean[empty[j]])
        theta, length = candidates.theta[k], 0.0
        for j in range(C):
            theta[j] = weight[j]
            length += weight[j] * weight[j]
        length = math.sqrt(length)
        if length == 0.0:
            length = 1.0
        bias, size = 0.0, 0.0
        for j in range(C):
            theta[j] = float(theta[j]) / length
            bias += theta[j] * mean[j]
            size += abs(theta[j])
        candidates.threshold[k] = bias
        candidates.tolerance[k] = ROUNDING * C * size


@part
def may_cut(theta, threshold, tolerance, low, high):
    """Whether a plane meets the box from `low` to `high`, up to the tolerance for rounding."""
    least, most = 0.0, 0.0
    for j in range(len(theta)):
        at_low, at_high = float(theta[j]) * low[j], float(theta[j]) * high[j]
        least += min(at_low, at_high)
        most += max(at_low, at_high)
    return least <= threshold + tolerance and most >= threshold - tolerance


@kernel
def evaluate_planes(regions, active, target, candidates):
    """Write the impurity after each plane to candidates.total; only regions that it meets count."""
    values = candidates.values
    candidates.total[:], candidates.cuts_target[:] = 0.0, False
    for region in active:
        lo, hi = regions.begin[region], regions.end[region]
        low, high = regions.low[region], regions.high[region]
        for k in range(len(candidates.theta)):
            theta, threshold = candidates.theta[k], candidates.threshold[k]
            after = regions.impurity[region]
            if may_cut(theta, threshold, candidates.tolerance[k], low, high):
                project_region(regions.X, lo, hi, theta, values)
                n_beyond, after = impurity_after(
                    regions, region, values, threshold, candidates.beyond, candidates.here
                )
                if region == target:
                    candidates.cuts_target[k] = 0 < n_beyond < hi - lo
            candidates.total[k] += after


@kernel
def best_plane(candidates):
    """Return the plane with the least total impurity, of those that cut the target; -1 for none."""
    best = -1
    for k in range(len(candidates.total)):
        if candidates.cuts_target[k] and (best < 0 or candidates.total[k] < candidates.total[best]):
            best = k
    return best
