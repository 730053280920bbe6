"""Grow a guided tree whose candidate planes are evaluated on a device (Gupta et al., section 4.2).

The rows are sent to the device once for each tree.  In each step the device projects the rows of
all active regions on all candidate planes by one product, and adds up the rows of each class and
region beyond each plane.  The host draws the planes, computes impurities from these sums, and
divides the regions by the projection that prediction has.  So where two planes are equally good but
for the rounding of the product, another one may be chosen than by `odrf.engine.guided.planes`;
apart from that the trees are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.guided.beyond_planes import Device, rows_on, sums_beyond
from odrf.engine.guided.guided_kernel import ACTIVE, TARGET, GuidedGrowth, propose, settle
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.engine.guided.planes import CandidatePlanes, TreeColumns
from odrf.engine.guided.regions import Regions, impurity_of_classes, impurity_of_numbers

__all__ = ["DeviceGrowth"]


@kernel
def _segments(regions, growth, chosen, first):
    """Write the numbers of the active regions' rows, and where those of a class begin and end.

    Returns how many segments there are: a region has one for each class of its rows.
    """
    m, n_segments = 0, 0
    first[0] = 0
    for region in growth.active[: growth.reached[ACTIVE]]:
        for i in range(regions.begin[region], regions.end[region]):
            chosen[m + i - regions.begin[region]] = regions.number[i]
        for c in range(regions.rows.shape[1]):
            if regions.rows[region, c] > 0:
                m += regions.rows[region, c]
                n_segments += 1
                first[n_segments] = m
    return n_segments


@kernel
def _evaluate_sums(regions, growth, sums, unit, weighted, candidates):
    """Do as `evaluate_planes`, from the sums (Q, T, S) over the rows beyond each plane."""
    candidates.total[:], candidates.cuts_target[:] = 0.0, False
    at, target, beyond = 0, growth.active[growth.reached[TARGET]], candidates.beyond
    heavy, K = int(weighted), len(beyond)
    for region in growth.active[: growth.reached[ACTIVE]]:
        size, follows = regions.end[region] - regions.begin[region], at
        for k in range(len(candidates.theta)):
            follows, n_beyond, weight = at, 0, 0.0
            for c in range(K):
                beyond[c] = 0.0
                if regions.rows[region, c] > 0:
                    n_beyond += sums[0, k, follows]
                    beyond[c] = float(sums[heavy, k, follows]) * unit[heavy]
                    weight += beyond[c]
                    follows += 1
            after = regions.impurity[region]
            if 0 < n_beyond < size:
                if region == target:
                    candidates.cuts_target[k] = True
                if K > 1:
                    after = impurity_of_classes(regions, region, weight, beyond, candidates.here)
                else:
                    moment = float(sums[heavy + 1, k, at]) * unit[heavy + 1]
                    after = impurity_of_numbers(regions, region, weight, moment)
            candidates.total[k] += after
        at = follows


class DeviceGrowth:
    """Grows one tree as `odrf.engine.guided.guided_kernel.grow`, with planes on a device."""

    def __init__(self, device: Device, regions: Regions) -> None:
        n, K = len(regions.number), regions.rows.shape[1]
        self.rows = rows_on(device, regions.X, regions.weights, regions.moments if K == 1 else None)
        self.weighted = len(self.rows.unit) > 1 + (K == 1)
        self.chosen = np.empty(n, dtype=np.int32)
        self.first = np.empty(n + 1, dtype=np.int64)

    def __call__(
        self,
        regions: Regions,
        growth: GuidedGrowth,
        columns: TreeColumns,
        settings: GuidedSettings,
        state: NDArray[np.uint64],
        candidates: CandidatePlanes,
        budget: int,
    ) -> None:
        """Grow the tree until it is complete or the budget is used up."""
        while growth.reached[ACTIVE] > 0 and budget > 0:
            propose(regions, growth, columns, settings, state, candidates)
            S = _segments(regions, growth, self.chosen, self.first)
            first = self.first[: S + 1]
            chosen = self.chosen[: first[-1]]
            budget -= len(chosen)
            sums = sums_beyond(self.rows, candidates.theta, candidates.threshold, chosen, first)
            _evaluate_sums(regions, growth, sums, self.rows.unit, self.weighted, candidates)
            settle(regions, growth, candidates, settings.min_split)
