"""All planes of a step at once: one matrix product over the rows of all regions.

The product is all that a step does with the predictors before a plane is chosen, so it is what a
device with many lanes would take over.  Its sums are rounded as the library at hand does: where
two planes are as good to the last digits, another may win than in `odrf.engine.guided.planes`.
Rows are always divided by the projection that predicts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.guided.guided_kernel import ACTIVE, TARGET, GuidedGrowth, begin, propose, settle
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.engine.guided.planes import Trials
from odrf.engine.guided.regions import Regions, impurity_after

__all__ = ["grow_in_batches"]


@kernel
def _gather(regions, growth, block):
    """Write the columns of all active regions, side by side, to `block`; return their rows."""
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
def _judge(regions, growth, along, trials):
    """Do what `judge_planes` does, from the projections along (T, m) of all active regions."""
    trials.total[:], trials.works[:] = 0.0, False
    at, target = 0, growth.active[growth.reached[TARGET]]
    for region in growth.active[: growth.reached[ACTIVE]]:
        size = regions.end[region] - regions.begin[region]
        for k in range(len(along)):
            n_beyond, after = impurity_after(
                regions, region, along[k, at : at + size], trials.threshold[k], trials.beyond,
                trials.here,
            )  # fmt: skip
            trials.total[k] += after
            if region == target:
                trials.works[k] = 0 < n_beyond < size
        at += size


def grow_in_batches(
    regions: Regions,
    growth: GuidedGrowth,
    centre: NDArray[np.float64],
    spread: NDArray[np.float64],
    settings: GuidedSettings,
    state: NDArray[np.uint64],
    trials: Trials,
) -> None:
    """Grow a tree as `odrf.engine.guided.guided_kernel.grow` does, judging planes together."""
    T, C = trials.theta.shape
    begin(regions, growth, settings.min_split)
    while growth.reached[ACTIVE] > 0:
        propose(regions, growth, centre, spread, settings, state, trials)
        m = _gather(regions, growth, trials.block)
        block, along = trials.block[: C * m], trials.product[: T * m].reshape(T, m)
        np.matmul(trials.theta, block.reshape(C, m), out=along)
        _judge(regions, growth, along, trials)
        settle(regions, growth, trials, settings.min_split)
