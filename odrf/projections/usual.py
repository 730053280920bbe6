"""Single, sparse and estimated directions as one sampler.

Most forests mix these, those of the default among them.  With one sampler, whose parts may have 0
candidates, all of them share one compiled kernel.
"""

from __future__ import annotations

from typing import NamedTuple

from odrf.engine.directions.samplers import DirectionSampler, begins, draws
from odrf.projections.axis import begin_axis, draw_axis
from odrf.projections.estimated.linear import draw_estimated
from odrf.projections.sparse import begin_sparse, draw_sparse

__all__ = ["UsualSampler", "usual_sampler"]


class UsualSampler(NamedTuple):
    """First single predictors, then sparse directions, then estimated ones.

    Attributes
    ----------
    number : int
        Number of all candidates; a round has candidates of one part only.
    axis : AxisSampler
    sparse : SparseSampler
    estimated : EstimatedSampler
    """

    number: int
    axis: DirectionSampler
    sparse: DirectionSampler
    estimated: DirectionSampler


def usual_sampler(
    axis: DirectionSampler, sparse: DirectionSampler, estimated: DirectionSampler
) -> UsualSampler:
    """Combine the three samplers into one."""
    return UsualSampler(axis.number + sparse.number + estimated.number, axis, sparse, estimated)


@begins(UsualSampler)
def _begin(sampler, state, proposals):
    begin_axis(sampler.axis, state, proposals)
    begin_sparse(sampler.sparse, state, proposals)


@draws(UsualSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    axis, sparse, estimated = sampler.axis, sampler.sparse, sampler.estimated
    if first < axis.number:
        return draw_axis(axis, state, rows, lo, m, n_rows, first, feature_groups, proposals, work)
    before = axis.number
    if first < before + sparse.number:
        n, following = draw_sparse(
            sparse, state, rows, lo, m, n_rows, first - before, feature_groups, proposals, work
        )
        return n, before + following
    before += sparse.number
    n, following = draw_estimated(
        estimated, state, rows, lo, m, n_rows, first - before, feature_groups, proposals, work
    )
    return n, before + following
