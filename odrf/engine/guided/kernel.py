"""Grow one guided tree: Algorithm 1 of Gupta et al., step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.guided.planes import best_plane, draw_planes, evaluate_planes, may_cut
from odrf.engine.guided.regions import begin_root, beyond_plane, divide_region, project_region

# Entries of `reached`: numbers of regions, of planes and of active regions, and the place among
# these of the target, the region for which the planes of this step are drawn.
REGIONS, PLANES, ACTIVE, TARGET = 0, 1, 2, 3


class GuidedGrowth(NamedTuple):
    """How far a tree has grown.

    `theta` (n, C).  `threshold` (n,): its planes.  `active` (n + 1,): the regions that are still to
    be divided.  `following` (n + 1,): scratch for the active regions after this step.  `reached`
    (4,): entries `REGIONS`, `PLANES`, `ACTIVE` and `TARGET`.
    """

    theta: np.ndarray
    threshold: np.ndarray
    active: np.ndarray
    following: np.ndarray
    reached: np.ndarray


def growth_for(C: int, n: int) -> GuidedGrowth:
    """Allocate the arrays for growing a tree on C columns and n rows."""
    return GuidedGrowth(
        np.empty((n, C), dtype=np.float32), np.empty(n, dtype=np.float32),
        np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )  # fmt: skip


@kernel
def begin(regions, growth, min_split):
    """Make all rows the first region."""
    growth.reached[REGIONS], growth.reached[PLANES] = 1, 0
    growth.reached[ACTIVE] = int(begin_root(regions, min_split))
    growth.active[0] = 0


@kernel
def propose(regions, growth, columns, settings, state, candidates):
    """Draw the candidate planes of a step for the most impure region, equation (9)."""
    active, most = growth.active, 0
    for i in range(1, growth.reached[ACTIVE]):
        if regions.impurity[active[i]] > regions.impurity[active[most]]:
            most = i
    growth.reached[TARGET] = most
    draw_planes(state, regions, active[most], columns, settings.from_region, candidates)


@part
def _cuts(regions, region, k, candidates):
    """Whether plane k cuts a region; if so, the region's projections are in candidates.values."""
    theta, threshold = candidates.theta[k], candidates.threshold[k]
    if not may_cut(
        theta, threshold, candidates.tolerance[k], regions.low[region], regions.high[region]
    ):
        return False
    lo, hi, values = regions.begin[region], regions.end[region], candidates.values
    project_region(regions.X, lo, hi, theta, values)
    n_beyond, _ = beyond_plane(values[: hi - lo], threshold, regions.weights[lo:hi])
    return 0 < n_beyond < hi - lo


@part
def _divide_all(regions, growth, k, candidates, min_split):
    """Divide every active region that the k-th plane cuts."""
    reached, following, kept = growth.reached, growth.following, 0
    for region in growth.active[: reached[ACTIVE]]:
        if not _cuts(regions, region, k, candidates):
            following[kept] = region
            kept += 1
            continue
        first = reached[REGIONS]
        left, right = divide_region(
            regions, region, reached[PLANES], candidates, candidates.threshold[k], first, min_split
        )
        following[kept] = first
        kept += left
        following[kept] = first + 1
        kept += right
        reached[REGIONS] += 2
    reached[ACTIVE] = kept
    for i in range(kept):
        growth.active[i] = following[i]


@kernel
def settle(regions, growth, candidates, min_split):
    """Divide regions by the best plane of a step, (15); if it cuts none, the target is a leaf."""
    reached, k = growth.reached, best_plane(candidates)
    before = reached[REGIONS]
    if k >= 0:
        _divide_all(regions, growth, k, candidates, min_split)
    if reached[REGIONS] == before:
        for i in range(reached[TARGET] + 1, reached[ACTIVE]):
            growth.active[i - 1] = growth.active[i]
        reached[ACTIVE] -= 1
        return
    plane = reached[PLANES]
    for j in range(growth.theta.shape[1]):
        growth.theta[plane, j] = candidates.theta[k, j]
    growth.threshold[plane] = candidates.threshold[k]
    reached[PLANES] += 1


@kernel
def grow(regions, growth, columns, settings, state, candidates, budget):
    """Grow a tree from where it is, until it is complete or the budget is used up.

    It is complete when all impure regions are too small or have equal rows.

    `regions`: the tree's rows; receives the regions.
    `growth`: receives the planes.
    `columns`: what is known of the tree's columns.
    `settings`: options of growth.
    `state` (4,): the tree's random stream, advanced.
    `candidates`: scratch.
    `budget`: how much is done in one call: each step counts as the rows of the active regions.
    """
    while growth.reached[ACTIVE] > 0 and budget > 0:
        propose(regions, growth, columns, settings, state, candidates)
        active = growth.active[: growth.reached[ACTIVE]]
        for region in active:
            budget -= regions.end[region] - regions.begin[region]
        evaluate_planes(regions, active, active[growth.reached[TARGET]], candidates)
        settle(regions, growth, candidates, settings.min_split)
