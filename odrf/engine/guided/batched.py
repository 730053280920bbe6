"""Evaluate all candidate planes of a step together, by one matrix product over all regions.

The product is rounded as the linear algebra library rounds it.  So where two planes are equally
good but for rounding, another one may be chosen than by `odrf.engine.guided.planes`.  Rows are
always divided by the same projection as in prediction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.guided.guided_kernel import ACTIVE, TARGET, GuidedGrowth, propose, settle
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.engine.guided.planes import CandidatePlanes, TreeColumns
from odrf.engine.guided.regions import Regions, impurity_after

__all__ = ["grow_in_batches"]


@kernel
def _gather(regions, growth, block):
    """Write the columns of all active regions, side by side, to `block`; return how many rows."""
    active = growth.active[: growth.reached[ACTIVE]]
    m = 0
    for region in active:
        m += regions.end[region] - regions.begin[region]
    at = 0
    for j in range(len(regions.X)):
        for region in active:
            column = regions.X[j, regions.begin[region] : regions.end[region]]
            for i in range(np.uint64(len(column))):
                block[at + i] = column[i]
            at += len(column)
    return m


@kernel
def _evaluate(regions, growth, along, candidates):
    """Do as `evaluate_planes`, from the projections `along` (T, m) of all active regions."""
    candidates.total[:], candidates.cuts_target[:] = 0.0, False
    at, target = 0, growth.active[growth.reached[TARGET]]
    for region in growth.active[: growth.reached[ACTIVE]]:
        size = regions.end[region] - regions.begin[region]
        for k in range(len(along)):
            n_beyond, after = impurity_after(
                regions, region, along[k, at : at + size], candidates.threshold[k],
                candidates.beyond, candidates.here,
            )  # fmt: skip
            candidates.total[k] += after
            if region == target:
                candidates.cuts_target[k] = 0 < n_beyond < size
        at += size


def grow_in_batches(
    regions: Regions,
    growth: GuidedGrowth,
    columns: TreeColumns,
    settings: GuidedSettings,
    state: NDArray[np.uint64],
    candidates: CandidatePlanes,
    budget: int,
) -> None:
    """Grow a tree as `odrf.engine.guided.guided_kernel.grow`, evaluating planes together."""
    T, C = candidates.theta.shape
    while growth.reached[ACTIVE] > 0 and budget > 0:
        propose(regions, growth, columns, settings, state, candidates)
        m = _gather(regions, growth, candidates.block)
        budget -= m
        block, along = candidates.block[: C * m], candidates.product[: T * m].reshape(T, m)
        np.matmul(candidates.theta, block.reshape(C, m), out=along)
        _evaluate(regions, growth, along, candidates)
        settle(regions, growth, candidates, settings.min_split)
