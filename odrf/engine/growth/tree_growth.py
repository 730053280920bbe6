"""Grow one tree from its random stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.rotated_columns import (
    rotated_back,
    rotated_feature_groups,
    rotated_rows,
)
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.branches import GrowingBranch, GrownBranch, grow_branches, grows_in_branches
from odrf.engine.growth.growing_on import as_tree, grow_on, stepper
from odrf.engine.growth.growth_scratch import FIRST_ROOM, GrowthScratch, ScratchPool
from odrf.engine.growth.honesty import fill
from odrf.engine.growth.node_values import describe_again, write_leaves
from odrf.engine.growth.surrogate_growth import grow_with_surrogates
from odrf.engine.growth.tree_kernel import NODES, TERMS, TreeBuffers
from odrf.engine.rows.coded import Matrix, indicated, stored
from odrf.engine.rows.factors import NO_FACTORS, Factors, factors_of
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.rows import Rows, gather_rows, rows_at
from odrf.engine.rows.sampling import Sampling, draw_halves
from odrf.engine.settings import Settings
from odrf.engine.splits.criteria import CRITERIA
from odrf.engine.surrogates.scratch import SurrogateScratch, surrogate_scratch
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits, marks_of
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["grow_one", "read_by_growth"]

# Room for the nodes of one split: a kernel then returns after it.
ONE_SPLIT = 3


def read_by_growth(
    X: Matrix, feature_groups: FeatureGroups, mixture: SamplerMixture
) -> tuple[NDArray[np.float32], Factors]:
    """Return the array that trees grow on, and the codes of factors.

    A mixture that rotates all columns needs an indicator for each level.
    """
    if mixture.rotates:
        return indicated(X), NO_FACTORS
    return stored(X), factors_of(X, feature_groups)


def grow_one(
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: Settings,
    mixture: SamplerMixture,
    state: NDArray[np.uint64],
    copied: bool,
    factors: Factors | None = None,
    codes: RowCodes | None = None,
    splitting: NDArray[np.float64] | None = None,
    pool: ScratchPool | None = None,
    leaf: NDArray[np.int32] | None = None,
    n_jobs: int = 1,
    ranks: EventRanks | None = None,
    case_weights: NDArray[np.float64] | None = None,
) -> Forest:
    """Grow one tree; its random stream `state` (4,) is advanced.

    If `copied`, the tree keeps a copy of X whose rows move with the nodes; the tree is the same.
    If `factors` are given, they and X are as `read_by_growth` returns them.  If `splitting` (n,) is
    given, it chooses the splits in place of y.  Scratch comes from the `pool`, which is for these
    feature groups, settings and mixture.  The number of the leaf of each row that splits were
    chosen on is written to `leaf` (n,).  A large tree grows in `n_jobs` threads.  The other
    arguments are those of `grow_forest`; if `ranks` are given, the settings know their number.
    """
    X, factors = (
        read_by_growth(X, feature_groups, mixture) if factors is None else (stored(X), factors)
    )
    counts, filling = draw_halves(state, weights, sampling, codes)
    # rows added later are drawn independently: there may be more draws than rows
    n = max(len(y), int(counts.sum()))
    chosen_by = y if splitting is None else splitting
    rows = gather_rows(state, X, chosen_by, weights, counts, copied, factors)._replace(ranks=ranks)
    matrix = mixture.rotation(state, rows, settings)
    if matrix is not None:
        rows = rotated_rows(rows, matrix)
        pool = ScratchPool(rotated_feature_groups(len(matrix)), settings, mixture)
    elif pool is None:
        pool = ScratchPool(feature_groups, settings, mixture)
    size = max(len(rows.at), int(np.count_nonzero(filling)))
    found = pool.take(size, n)
    grown = _grow(rows, pool, found, size, state, n_jobs, case_weights)
    buffers, reached, scratch = grown.buffers, grown.reached, found.scratch
    if leaf is not None:
        write_leaves(rows.at, buffers.left, buffers.begin, buffers.end, reached[NODES], leaf)
    if sampling.honest:
        filling_rows = _filling_rows(X, y, weights, filling, matrix, factors)
        fill(
            filling_rows, buffers, reached[NODES], settings.criterion, scratch.columns,
            scratch.theta, scratch.values, scratch.goes_left, scratch.moments, scratch.logs,
            grown.surrogates, grown.work,
        )  # fmt: skip
    elif splitting is not None:
        described = rows._replace(y=y[rows.at])
        describe_again(
            described, buffers, reached[NODES], settings.criterion, scratch.moments, scratch.logs
        )
    tree = as_tree(buffers, reached, CRITERIA[settings.criterion].ordered, grown.surrogates)
    pool.give_back(grown.used)
    return tree if matrix is None else rotated_back(tree, matrix)


class _GrownTree(NamedTuple):
    """A tree that has grown, before it is described anew.

    Attributes
    ----------
    used : GrowthScratch
        What the tree was grown with, and the pool takes back.
    buffers : TreeBuffers
    reached : (4,) int64
        How far they are filled, see `grow_tree`.
    surrogates : SurrogateSplits or None
    work : SurrogateScratch or None
        With which rows are sent by surrogates.
    """

    used: GrowthScratch
    buffers: TreeBuffers
    reached: NDArray[np.int64]
    surrogates: SurrogateSplits | None = None
    work: SurrogateScratch | None = None


def _grow(
    rows: Rows,
    pool: ScratchPool,
    found: GrowthScratch,
    size: int,
    state: NDArray[np.uint64],
    n_jobs: int,
    case_weights: NDArray[np.float64] | None,
) -> _GrownTree:
    """Grow a tree on these rows with the scratch of a pool, for up to `size` distinct rows."""
    m, settings = len(rows.at), pool.settings
    if grows_in_branches(m, settings):
        grow = _branch_grower(rows, pool, found.n, found.scratch.logs)
        return _GrownTree(found, *grow_branches(grow, m, state, n_jobs))
    buffers, reached = found.buffers, np.array([0, 1, 1, 0])
    buffers.begin[0], buffers.end[0], buffers.depth[0] = 0, m, 0
    most = max(1, 2 * min(settings.max_leaves, m) - 1)
    growing = (
        rows, pool.feature_groups, settings, state, buffers, found.scratch, found.samplers, reached,
        most + 2,
    )  # fmt: skip
    surrogates, work = None, None
    if settings.surrogates:
        work = surrogate_scratch(
            size, marks_of(pool.feature_groups), settings.n_classes, case_weights
        )
        buffers, surrogates = grow_with_surrogates(*growing, work)
    else:
        buffers = grow_on(*growing)
    return _GrownTree(found._replace(buffers=buffers), buffers, reached, surrogates, work)


def _filling_rows(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    filling: NDArray[np.int64],
    matrix: NDArray[np.float32] | None,
    factors: Factors,
) -> Rows:
    """Return the rows that fill an honest tree, rotated by the matrix, if there is one."""
    drawn = np.flatnonzero(filling)
    rows = rows_at(drawn, X, y, weights, filling, matrix is not None, factors)
    if matrix is None:
        return rows
    # `fill` moves row numbers, not the rotated columns
    places = np.arange(len(drawn), dtype=np.int32)
    return rotated_rows(rows, matrix)._replace(at=places, copied=False)


def _branch_grower(
    rows: Rows, pool: ScratchPool, n: int, logs: NDArray[np.float64]
) -> Callable[[GrowingBranch], GrownBranch]:
    """Return what grows a branch of a tree on its rows, n counting repetitions."""

    def grow(branch: GrowingBranch) -> GrownBranch:
        m = branch.end - branch.begin
        room = ONE_SPLIT if branch.is_divided else min(2 * m + 1, FIRST_ROOM)
        scratch, samplers, buffers, *_ = pool.of_branch(m, n, logs, room)
        buffers.begin[0], buffers.end[0], buffers.depth[0] = branch.begin, branch.end, branch.depth
        reached = np.array([0, 1, 1, 0])
        # branches that grow at the same time project at the same time
        own = rows._replace(coefficients=np.zeros_like(rows.coefficients))
        growing = own, pool.feature_groups, pool.settings, branch.state
        if not branch.is_divided:
            buffers = grow_on(*growing, buffers, scratch, samplers, reached, 2 * m + 1)
            return GrownBranch(branch.number, buffers, int(reached[NODES]))
        stepper(*growing, scratch, samplers, reached)(buffers)
        buffers.start[1] = reached[TERMS]
        return GrownBranch(branch.number, buffers, 1)

    return grow
