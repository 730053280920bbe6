"""Single, sparse and estimated directions as one law.

The forests that mix these are many, the default's kinds of trees among them: with one law, if need
be of none of each, all of them share one compiled kernel.
"""

from __future__ import annotations

from typing import NamedTuple

from odrf.engine.directions.samplers import Law, begins, draws
from odrf.projections.axis import begin_axis, draw_axis
from odrf.projections.estimated.linear import draw_estimated
from odrf.projections.sparse import begin_sparse, draw_sparse

__all__ = ["UsualLaw", "usual_law"]


class UsualLaw(NamedTuple):
    """First single predictors, then sparse directions, then estimated ones.

    Attributes
    ----------
    number : int
        Of all of them; a round has those of one sort.
    axis : AxisLaw
    sparse : SparseLaw
    estimated : EstimatedLaw
    """

    number: int
    axis: Law
    sparse: Law
    estimated: Law


def usual_law(axis: Law, sparse: Law, estimated: Law) -> UsualLaw:
    """Return the laws as one."""
    return UsualLaw(axis.number + sparse.number + estimated.number, axis, sparse, estimated)


@begins(UsualLaw)
def _begin(law, state, proposals):
    begin_axis(law.axis, state, proposals)
    begin_sparse(law.sparse, state, proposals)


@draws(UsualLaw)
def _draw(law, state, rows, lo, m, n_rows, first, blocks, proposals, work):
    axis, sparse, estimated = law.axis, law.sparse, law.estimated
    if first < axis.number:
        return draw_axis(axis, state, rows, lo, m, n_rows, first, blocks, proposals, work)
    before = axis.number
    if first < before + sparse.number:
        n, following = draw_sparse(
            sparse, state, rows, lo, m, n_rows, first - before, blocks, proposals, work
        )
        return n, before + following
    before += sparse.number
    n, following = draw_estimated(
        estimated, state, rows, lo, m, n_rows, first - before, blocks, proposals, work
    )
    return n, before + following
