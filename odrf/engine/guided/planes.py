"""The planes of a guided tree: their law, which regions they can cut, and what they would do.

Equations are those of Gupta et al., *Guided random forest and its application to data
approximation*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.guided.regions import impurity_after, project_region
from odrf.engine.randomness import uniform

__all__ = ["Trials", "best_plane", "draw_planes", "judge_planes", "may_cut", "trials_for"]

# Rounding of a projection in float32, as a share of Σ|θ_j| and per column.
ROUNDING = 2.0**-22


class Trials(NamedTuple):
    """The planes of a step, and scratch to judge them.

    Attributes
    ----------
    theta : (T, C) float32
        Unit vectors: θᵀx on the tree's columns.
    threshold : (T,) float32
    reach : (T,) float64
        How far θᵀx, rounded, can be off.
    total : (T,) float64
        Impurity of all regions after each.
    works : (T,) bool
        Whether it cuts the region that it was drawn for.
    values : (n,) float32
    waiting : (n,) float32
    numbers : (n,) float64
    beyond, here : (K,) float64
    mean : (C,) float64
    block, product : float32, flat
        What the matrix product of `odrf.engine.guided.batched` multiplies and writes.
    """

    theta: np.ndarray
    threshold: np.ndarray
    reach: np.ndarray
    total: np.ndarray
    works: np.ndarray
    values: np.ndarray
    waiting: np.ndarray
    numbers: np.ndarray
    beyond: np.ndarray
    here: np.ndarray
    mean: np.ndarray
    block: np.ndarray
    product: np.ndarray


def trials_for(T: int, C: int, n: int, K: int, batched: bool) -> Trials:
    """Allocate the scratch for T planes on C columns and n rows of K classes."""
    together = n if batched else 0
    return Trials(
        np.empty((T, C), dtype=np.float32),
        np.empty(T, dtype=np.float32),
        np.empty(T),
        np.empty(T),
        np.empty(T, dtype=np.bool_),
        np.empty(n, dtype=np.float32),
        np.empty(n, dtype=np.float32),
        np.empty(n),
        np.empty(K),
        np.empty(K),
        np.empty(C),
        np.empty(C * together, dtype=np.float32),
        np.empty(T * together, dtype=np.float32),
    )


@kernel
def draw_planes(state, regions, region, centre, spread, from_region, trials):
    """Draw the planes of a step for a region: equations (3) to (7).

    w_j is uniform between the region's least and largest value of column j in units of spread
    (C,), measured from centre (C,) or, with from_region, from the mean of the region's rows; the
    plane goes through that mean.
    """
    C, mean = len(centre), trials.mean
    lo, hi = regions.begin[region], regions.end[region]
    for j in range(C):
        total = 0.0
        for i in range(lo, hi):
            total += regions.X[j, i]
        mean[j] = total / (hi - lo)
    for k in range(len(trials.theta)):
        theta, length = trials.theta[k], 0.0
        for j in range(C):
            low, high = regions.low[region, j], regions.high[region, j]
            origin = mean[j] if from_region else centre[j]
            w = (low + uniform(state) * (high - low) - origin) / (spread[j] * spread[j])
            theta[j] = w
            length += w * w
        length = math.sqrt(length)
        if length == 0.0:
            length = 1.0
        bias, size = 0.0, 0.0
        for j in range(C):
            theta[j] = theta[j] / length
            bias += theta[j] * mean[j]
            size += abs(theta[j])
        trials.threshold[k] = bias
        trials.reach[k] = ROUNDING * C * size


@part
def may_cut(theta, threshold, reach, low, high):
    """Whether a plane goes through the box low … high, or so close that rounding decides."""
    least, most = 0.0, 0.0
    for j in range(len(theta)):
        at_low, at_high = float(theta[j]) * low[j], float(theta[j]) * high[j]
        least += min(at_low, at_high)
        most += max(at_low, at_high)
    return least <= threshold + reach and most >= threshold - reach


@kernel
def judge_planes(regions, active, target, trials):
    """Write to trials.total what each plane leaves of the impurity of the active regions.

    A region whose box it does not reach is not looked at.
    """
    values = trials.values
    trials.total[:], trials.works[:] = 0.0, False
    for region in active:
        lo, hi = regions.begin[region], regions.end[region]
        low, high = regions.low[region], regions.high[region]
        for k in range(len(trials.theta)):
            theta, threshold = trials.theta[k], trials.threshold[k]
            after = regions.impurity[region]
            if may_cut(theta, threshold, trials.reach[k], low, high):
                project_region(regions.X, lo, hi, theta, values)
                n_beyond, after = impurity_after(
                    regions, region, values, threshold, trials.beyond, trials.here
                )
                if region == target:
                    trials.works[k] = 0 < n_beyond < hi - lo
            trials.total[k] += after


@kernel
def best_plane(trials):
    """Return which plane leaves the least impurity, of those that work; -1 if none does."""
    best = -1
    for k in range(len(trials.total)):
        if trials.works[k] and (best < 0 or trials.total[k] < trials.total[best]):
            best = k
    return best
