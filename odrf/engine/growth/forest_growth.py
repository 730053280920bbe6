"""Grow the trees of a forest in several threads, each tree from its random stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.rotated_columns import (
    rotated_back,
    rotated_feature_groups,
    rotated_rows,
)
from odrf.engine.directions.samplers import DirectionSampler, SamplerMixture, placed
from odrf.engine.growth.best_first_kernel import grow_best_first
from odrf.engine.growth.branches import GrowingBranch, GrownBranch, grow_branches, grows_in_branches
from odrf.engine.growth.grown_tree import as_tree
from odrf.engine.growth.growth_scratch import FIRST_ROOM, ScratchPool
from odrf.engine.growth.honesty import fill
from odrf.engine.growth.node_values import describe_again, write_leaves
from odrf.engine.growth.room import with_room
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.growth.surrogate_growth import grow_with_surrogates
from odrf.engine.growth.tree_kernel import NEXT, NODES, TERMS, TreeBuffers, grow_tree
from odrf.engine.memory import is_available
from odrf.engine.parallel import end_if_stopped
from odrf.engine.rows.coded import Matrix, indicated, stored
from odrf.engine.rows.factors import NO_FACTORS, Factors, factors_of, n_kept
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.rows import Rows, gather_rows, rows_at
from odrf.engine.rows.sampling import Sampling, draw_halves, rows_drawn_once
from odrf.engine.settings import Settings
from odrf.engine.splits.criteria import CRITERIA
from odrf.engine.splits.searching import Scratch
from odrf.engine.surrogates.calls import NEVER_CALLED
from odrf.engine.surrogates.scratch import surrogate_scratch
from odrf.engine.surrogates.surrogate_splits import marks_of
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest_arrays import PLAIN, Forest, Joining
from odrf.engine.workers.handing_out_trees import trees_in_order

__all__ = [
    "BUDGET",
    "PER_ROW",
    "TreeGrower",
    "grow_forest",
    "grow_on",
    "grow_one",
    "growth_kernel",
    "pays_to_copy",
    "read_by_growth",
]

# Rough relative costs of one number: read in sequence from a copy, fetched by its row number, and
# moved when a split divides the rows.  They only choose between two ways to grow the same tree.
STREAMED, FETCHED, MOVED = 0.2, 1.2, 1.2
# Growth looks about every tenth of a second whether it is to stop: after so many numbers, a row
# counting as its terms and `PER_ROW` more.
BUDGET, PER_ROW = 10_000_000, 5
# Room for the nodes of one split: a kernel then returns after it.
ONE_SPLIT = 3


def grow_forest(
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: Settings,
    mixture: SamplerMixture,
    streams: NDArray[np.uint64],
    n_jobs: int,
    advance: Callable[[], object],
    codes: RowCodes | None = None,
    joining: Joining = PLAIN,
    ranks: EventRanks | None = None,
) -> Forest:
    """Grow one tree for each of the `streams` (B, 4) and join them in that order.

    Parameters
    ----------
    X : Matrix (p, n)
        Predictors, one column of the design per row of the array, scaled to [0, 1].
    y : (n,) float64
        Response, or class codes 0 … K - 1.
    weights : (n,) float64
        Case weights.
    feature_groups : FeatureGroups
        Which columns make up each predictor.
    sampling : Sampling
        How each tree's rows are drawn.
    settings : Settings
        Options of growth.
    mixture : SamplerMixture
        Where candidate directions come from.
    streams : (B, 4) uint64
        Initial state of each tree's random stream; not modified.
    n_jobs : int
        Threads.
    advance : callable
        Called after each tree, in the order of the trees.
    codes : RowCodes, optional
        Which rows are drawn together.
    joining : Joining, optional
        How the trees are joined; by default as they are.
    ranks : EventRanks, optional
        If the response is a time to an event: each node is then split by its log-rank scores, and y
        has those of all rows.
    """
    grow = TreeGrower(
        X, y, weights, feature_groups, sampling, settings, mixture, len(streams), n_jobs, codes,
        ranks,
    )  # fmt: skip

    def grown() -> Iterator[Forest]:
        for tree in trees_in_order([grow], [(0, stream) for stream in streams], n_jobs, X.size):
            yield tree
            advance()

    with compiled_at_ease(growth_kernel(settings)):
        return joining.join(grown(), len(streams))


class TreeGrower:
    """Grows the tree of a stream (4,), which it does not modify.  It can be pickled.

    `n_trees` will be grown, in as many of the `n_jobs` threads as there are trees; if trees are
    fewer, each has several.  In another process each tree has one thread.  The other arguments are
    those of `grow_forest`.
    """

    def __init__(
        self,
        X: Matrix,
        y: NDArray[np.float64],
        weights: NDArray[np.float64],
        feature_groups: FeatureGroups,
        sampling: Sampling,
        settings: Settings,
        mixture: SamplerMixture,
        n_trees: int,
        n_jobs: int,
        codes: RowCodes | None = None,
        ranks: EventRanks | None = None,
    ) -> None:
        if ranks is not None:
            settings = settings._replace(
                n_times=ranks.n_times,
                truncated=len(ranks.entry) > 0,
                subdistribution=len(ranks.staying) > 0,
            )
        self._arguments = X, y, weights, feature_groups, sampling, settings, mixture
        self._codes, self._ranks = codes, ranks
        abreast = max(1, min(n_jobs, n_trees))
        self._array, self._factors = read_by_growth(X, feature_groups, mixture)
        columns_read = mixture.columns_read(feature_groups, settings, len(y))
        share = rows_drawn_once(sampling, len(y)) / len(y)
        self._copied = pays_to_copy(
            n_kept(self._array, self._factors), columns_read
        ) and is_available(abreast * self._array.nbytes * share)
        self._splitting = splitting_response(y, weights, settings.split_scale)
        self._pool = ScratchPool(feature_groups, settings, mixture)
        self._n_jobs = n_jobs // abreast

    def __call__(self, stream: NDArray[np.uint64]) -> Forest:
        """Return the tree."""
        _, y, weights, feature_groups, sampling, settings, mixture = self._arguments
        return grow_one(
            self._array, y, weights, feature_groups, sampling, settings, mixture, stream.copy(),
            self._copied, self._factors, self._codes, self._splitting, self._pool,
            n_jobs=self._n_jobs, ranks=self._ranks,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeGrower, (*self._arguments, 1, 1, self._codes, self._ranks)


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
    n, K = max(len(y), int(counts.sum())), settings.n_classes
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
    feature_groups, scratch, buffers = pool.feature_groups, found.scratch, found.buffers
    most = max(1, 2 * min(settings.max_leaves, len(rows.at)) - 1)
    surrogates, work = None, None
    if grows_in_branches(len(rows.at), settings):
        grow = _branch_grower(rows, pool, n, scratch.logs)
        buffers, reached = grow_branches(grow, len(rows.at), state, n_jobs)
    else:
        buffers.begin[0], buffers.end[0], buffers.depth[0] = 0, len(rows.at), 0
        reached = np.array([0, 1, 1, 0])
        growing = (
            rows, feature_groups, settings, state, buffers, scratch, found.samplers, reached,
            most + 2,
        )  # fmt: skip
        if settings.surrogates:
            work = surrogate_scratch(size, marks_of(feature_groups), K)
            buffers, surrogates = grow_with_surrogates(*growing, work)
        else:
            buffers = grow_on(*growing)
        found = found._replace(buffers=buffers)
    if leaf is not None:
        write_leaves(rows.at, buffers.left, buffers.begin, buffers.end, reached[NODES], leaf)
    if sampling.honest:
        filling_rows = _filling_rows(X, y, weights, filling, matrix, factors)
        fill(
            filling_rows, buffers, reached[NODES], settings.criterion, scratch.columns,
            scratch.theta, scratch.values, scratch.goes_left, scratch.moments, scratch.logs,
            surrogates, work,
        )  # fmt: skip
    elif splitting is not None:
        described = rows._replace(y=y[rows.at])
        describe_again(
            described, buffers, reached[NODES], settings.criterion, scratch.moments, scratch.logs
        )
    tree = as_tree(buffers, reached, CRITERIA[settings.criterion].ordered, surrogates)
    pool.give_back(found)
    return tree if matrix is None else rotated_back(tree, matrix)


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


def grow_on(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: Settings,
    state: NDArray[np.uint64],
    buffers: TreeBuffers,
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
    most: int,
) -> TreeBuffers:
    """Grow a tree to its end, from where it has `reached`; return its buffers.

    They are enlarged as needed, up to room for `most` nodes.  The other arguments are those of
    `grow_tree`.
    """
    step = _stepper(rows, feature_groups, settings, state, scratch, samplers, reached)
    widest = scratch.columns.shape[1]
    step(buffers)
    while reached[NEXT] < reached[NODES]:
        end_if_stopped()
        buffers = with_room(buffers, reached, widest, most)
        step(buffers)
    return buffers


def _stepper(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: Settings,
    state: NDArray[np.uint64],
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
) -> Callable[[TreeBuffers], None]:
    """Return what grows a tree further, until its buffers are full or some time has passed."""
    in_place = placed(samplers, state, rows, feature_groups, scratch.proposals, scratch.work)
    budget = BUDGET // (PER_ROW + len(scratch.proposals.units))
    grow = growth_kernel(settings)

    def step(buffers: TreeBuffers) -> None:
        calls = in_place.calls, NEVER_CALLED
        grow(rows, feature_groups, settings, state, buffers, scratch, *calls, reached, budget)

    return step


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
        growing = rows, pool.feature_groups, pool.settings, branch.state
        if not branch.is_divided:
            buffers = grow_on(*growing, buffers, scratch, samplers, reached, 2 * m + 1)
            return GrownBranch(branch.number, buffers, int(reached[NODES]))
        _stepper(*growing, scratch, samplers, reached)(buffers)
        buffers.start[1] = reached[TERMS]
        return GrownBranch(branch.number, buffers, 1)

    return grow


def growth_kernel(settings: Settings) -> Callable[..., None]:
    """Return the kernel that grows trees in the order of these settings."""
    return grow_best_first if settings.best_first else grow_tree


def pays_to_copy(p: int, columns_read: float) -> bool:
    """Whether a tree should copy the p columns and move their rows at every split.

    Columns of a copy are read in sequence.  It pays if the candidates of a node read enough
    columns, `columns_read` on average, compared with the p columns that have to be moved.
    """
    return columns_read * (FETCHED - STREAMED) > p * MOVED
