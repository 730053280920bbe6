"""Grow trees from targets, a draw of rows and a start: the builder over the two kernels.

A tree grows in arrays by steps (`Growth`); a large one in branches; `TreeBuilder` draws its rows
and describes it.  Trees of small tables and T trees of one call have arrays in common, see
`odrf.engine.growth.tree_batches`; which way trees grow is chosen by
`odrf.engine.growth.forest_builder.strategy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import of_these_types
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler, SamplerMixture, placed
from odrf.engine.directions.subsets import rotated_back, rotated_feature_groups, rotated_rows
from odrf.engine.factors import NO_FACTORS, Factors, Matrix, factors_of, indicated, stored
from odrf.engine.growth.branches import GrowingBranch, GrownBranch, grow_branches, grows_in_branches
from odrf.engine.growth.node_values import (
    NEXT,
    NODES,
    TERMS,
    TreeBuffers,
    buffers_for,
    describe_again,
    enlarged,
    fill,
    recompute_gains,
    write_leaves,
)
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.kernel_params import KernelParams
from odrf.engine.memory import MOST_PLACES, require_memory
from odrf.engine.resamples import RowCodes, Sampling, draw_halves
from odrf.engine.rows import Rows, gather_rows, rows_at
from odrf.engine.running import end_if_stopped
from odrf.engine.splits.impurity import CRITERIA, whole_logs
from odrf.engine.splits.splitter import Scratch, as_searched, scratch_for
from odrf.engine.splits.surrogate_scratch import (
    NEVER_CALLED,
    SharedScratch,
    SurrogateScratch,
    placed_surrogates,
    surrogate_scratch,
)
from odrf.engine.splits.surrogates import SurrogateSplits, marks_of, no_surrogates
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest import Forest

# Scratch of growing trees, used again by one tree after the other: for small tables it takes longer
# to make than a tree to grow.

# Nodes and terms that a tree has room for at first; the room is doubled as the tree grows.
FIRST_ROOM = 1024


class GrowthScratch(NamedTuple):
    """Scratch arrays, samplers and buffers with which a tree is grown.

    `buffers`: they may be replaced by longer ones.  `n`: the most rows of a tree, counting
    repetitions.  `permutations`: `order`, `mixed` and `units` of the proposals, which samplers go
    on shuffling from node to node, as they are before a tree is grown.
    """

    scratch: Scratch
    samplers: tuple[DirectionSampler, ...]
    buffers: TreeBuffers
    n: int
    permutations: tuple[NDArray[np.int64], ...]


class ScratchPool:
    """Makes scratch for trees on the same predictors, and keeps what no tree uses.

    Several threads may take scratch at the same time. What a tree that failed has taken is not
    returned, and never used again.
    """

    def __init__(
        self, feature_groups: FeatureGroups, settings: KernelParams, mixture: SamplerMixture
    ) -> None:
        self.feature_groups = as_searched(feature_groups, settings)
        self.settings, self.mixture = settings, mixture
        self._idle: list[GrowthScratch] = []

    def take(self, size: int, n: int) -> GrowthScratch:
        """Return scratch for a tree of `size` distinct rows, and n counting repetitions.

        The tree is the same whether the scratch is new or not.
        """
        try:
            used = self._idle.pop()
        except IndexError:
            used = None
        if used is None or used.n != n:
            # the next tree may have more distinct rows, but not more than n
            used = self.new(n, n, min(2 * n + 1, FIRST_ROOM))
        else:
            renew(used)
            # the sampler that all mixtures share draws anew at each node; others may go on
            if len(used.samplers) > 1:
                samplers = self.mixture.samplers(self.feature_groups, self.settings, n)
                used = used._replace(samplers=samplers)
        if not CRITERIA[self.settings.criterion].uses_logs:
            return used
        # kernels compute logarithms of larger numbers not to the last bit in the same way
        logs = whole_logs(self.settings.criterion, size)
        return used._replace(scratch=used.scratch._replace(logs=logs))

    def give_back(self, used: GrowthScratch) -> None:
        """Take back the scratch of a tree that is complete; nothing refers to its arrays now."""
        self._idle.append(used)

    def new(self, m: int, n: int, room: int) -> GrowthScratch:
        """Return new scratch for m distinct rows of a tree that has n counting repetitions.

        `room`: nodes that the buffers have room for.
        """
        scratch = scratch_for(m, n, self.feature_groups, self.settings, self.mixture)
        buffers = buffers_for(room, scratch.columns.shape[1] + FIRST_ROOM, self.settings.n_classes)
        samplers = self.mixture.samplers(self.feature_groups, self.settings, n)
        proposals = scratch.proposals
        permutations = proposals.order.copy(), proposals.mixed.copy(), proposals.units.copy()
        return GrowthScratch(scratch, samplers, buffers, n, permutations)


def renew(used: GrowthScratch) -> None:
    """Undo what a tree has done to the scratch, but for samplers that go on with a draw."""
    proposals = used.scratch.proposals
    proposals.order[:], proposals.mixed[:], proposals.units[:] = used.permutations


# A tree that grows in arrays, step by step.

# Growth looks about every tenth of a second whether it is to stop: after so many numbers, a row
# counting as its terms and `PER_ROW` more.
BUDGET, PER_ROW = 10_000_000, 5
# Small enough that one step grows one node.
ONE_NODE = 1
# Room for the nodes of one split: a kernel then returns after it.
ONE_SPLIT = 3


def with_room(
    buffers: TreeBuffers, reached: NDArray[np.int64], widest: int, most: int
) -> TreeBuffers:
    """Return buffers with room for two more nodes, and a direction of the `widest`.

    `most`: the most nodes of the tree. Raises `MemoryError`: memory does not suffice for a copy.
    """
    room, terms = len(buffers.left), len(buffers.column)
    if reached[NODES] + 2 <= room and reached[TERMS] + widest <= terms:
        return buffers
    require_memory(
        float(sum(array.nbytes for array in buffers)),
        f"a tree of more than {reached[NODES]} nodes",
        "use larger leaves (min_leaf=), or fewer of them (max_leaves=)",
    )
    # buffers of a tree before may be longer than this one needs
    return enlarged(buffers, max(room, min(2 * room, most)), 2 * terms)


class LeavesToGrow(NamedTuple):
    """Leaves from which a tree continues to grow.

    `sizes`, `depths` (L,): how many of the rows each leaf has, one leaf after the other; and how
    deep it is.  `n_leaves`, `root_impurity`: those of the whole tree.
    """

    sizes: NDArray[np.integer]
    depths: NDArray[np.integer]
    n_leaves: int
    root_impurity: float


class Growth:
    """A tree that grows in arrays, in which the next tree may grow afterwards.

    `pool`: options, and predictors.  `used`: its scratch.  `rows`, `state` (4,): the rows of the
    tree, which splits reorder, and its random stream, which is advanced.  `most`: the most nodes.
    `work`: scratch of surrogate splits, if the settings have these.  `arguments`: what the kernel
    that grows a tree is called with.
    """

    def __init__(
        self,
        pool: ScratchPool,
        used: GrowthScratch,
        rows: Rows,
        state: NDArray[np.uint64],
        most: int,
        work: SurrogateScratch | None = None,
    ) -> None:
        groups, settings, scratch = pool.feature_groups, pool.settings, used.scratch
        self.used, self.state, self.buffers = used, state, used.buffers
        self.reached, self.work = np.array([0, 1, 1, 0]), work
        self.surrogates: SurrogateSplits | None = None
        self._most, self._widest = most, scratch.columns.shape[1]
        self._samplers = placed(used.samplers, state, rows, groups, scratch.proposals, scratch.work)
        self.rows = rows = self._samplers.rows
        calls, budget = NEVER_CALLED, max(1, BUDGET // (PER_ROW + len(scratch.proposals.units)))
        if work is not None:
            self._placed = placed_surrogates(state, rows, settings, _shared(scratch), work)
            calls, budget = self._placed.calls, ONE_NODE
        self.arguments: tuple[Any, ...] = (
            rows, groups, settings, state, self.buffers, scratch, self._samplers.calls, calls,
            self.reached, budget,
        )  # fmt: skip
        self._kernel: Callable[..., None] = grow_tree
        self._n_calls = 0

    def begin(self, begin: int, end: int, depth: int) -> None:
        """Begin at a root of the rows ``begin:end``."""
        buffers = self.buffers
        buffers.begin[0], buffers.end[0], buffers.depth[0] = begin, end, depth
        self.reached[:] = 0, 1, 1, 0

    def begin_at(self, leaves: LeavesToGrow) -> None:
        """Begin at leaves, which are the nodes 1, 2, …; node 0 stands for the rest of the tree."""
        buffers, L, ends = self.buffers, len(leaves.sizes), np.cumsum(leaves.sizes)
        # growth reads the impurity of the root from node 0, which is not searched
        buffers.left[0], buffers.start[0], buffers.impurity[0] = -1, 0, leaves.root_impurity
        buffers.begin[1 : L + 1], buffers.end[1 : L + 1] = ends - leaves.sizes, ends
        buffers.depth[1 : L + 1] = leaves.depths
        self.reached[:] = 1, L + 1, leaves.n_leaves, 0

    def with_unit_weights(self, unit: bool) -> None:
        """Set whether the kernel may take all weights of rows as 1."""
        if unit != self.rows.unit:
            self.rows = self.rows._replace(unit=unit)
            self.arguments = (self.rows, *self.arguments[1:])

    def step(self) -> None:
        """Grow the tree further, until its buffers are full or some time has passed.

        From the second step on the types of all arrays are known: of a small tree, to ask for them
        takes as long as its growth.
        """
        self._n_calls += 1
        if self._n_calls == 2:
            self._kernel = of_these_types(self._kernel, self.arguments)
        self._kernel(*self.arguments)

    def make_room(self) -> None:
        """Enlarge the buffers if there is no room for a split."""
        self.buffers = with_room(self.buffers, self.reached, self._widest, self._most)
        self.arguments = (*self.arguments[:4], self.buffers, *self.arguments[5:])

    def to_end(self) -> None:
        """Grow the tree to its end; the buffers are enlarged as needed."""
        if self.work is not None:
            self._with_surrogates(self.work)
            return
        reached = self.reached
        self.step()
        while reached[NEXT] < reached[NODES]:
            end_if_stopped()
            self.make_room()
            self.step()

    def _with_surrogates(self, work: SurrogateScratch) -> None:
        """Grow the tree node by node; the surrogates of each are copied.

        The gain of a split that some rows have no value for is set to the decrease of impurity when
        all rows have been sent.
        """
        reached, of_nodes, incomplete = self.reached, [], []
        none, n_before = no_surrogates(1, work.marks), int(reached[NEXT])
        while reached[NEXT] < reached[NODES]:
            end_if_stopped()
            self.make_room()
            node = int(reached[NEXT])
            self.step()
            if self.buffers.left[node] < 0:
                of_nodes.append(none)
                continue
            of_nodes.append(work.chosen.of_nodes(np.zeros(1, dtype=np.int64)))
            if work.n_incomplete[0] > 0:
                incomplete.append(node)
        recompute_gains(self.buffers, np.array(incomplete, dtype=np.int64))
        self.surrogates = no_surrogates(n_before, work.marks).followed_by(of_nodes)


def _shared(scratch: Scratch) -> SharedScratch:
    """Return what surrogates share with the search for splits."""
    left = np.empty(0) if scratch.left is None else scratch.left
    return SharedScratch(
        scratch.proposals, scratch.gains, scratch.thresholds, left, scratch.table, scratch.logs,
        scratch.columns, scratch.theta, scratch.values,
    )  # fmt: skip


def most_nodes(n_first: int, m: int, settings: KernelParams) -> int:
    """Return room for all nodes of a tree of m rows that begins with `n_first`."""
    return n_first + 2 * min(settings.max_leaves, m)


def grow_whole(
    pool: ScratchPool,
    used: GrowthScratch,
    rows: Rows,
    state: NDArray[np.uint64],
    size: int,
    start: LeavesToGrow | None = None,
    case_weights: NDArray[np.float64] | None = None,
) -> Growth:
    """Grow a tree in one piece, from its root or from the leaves where it starts.

    `size`: the most rows that surrogate splits send.  `case_weights`: what rows count for them.
    """
    m, settings = len(rows.at), pool.settings
    work = None
    if settings.surrogates:
        marks = marks_of(pool.feature_groups)
        work = surrogate_scratch(size, marks, settings.n_classes, case_weights)
    most = most_nodes(1 if start is None else 1 + len(start.sizes), m, settings)
    growth = Growth(pool, used, rows, state, most, work)
    if start is None:
        growth.begin(0, m, 0)
    else:
        growth.begin_at(start)
    growth.to_end()
    return growth


def grow_in_threads(
    pool: ScratchPool, used: GrowthScratch, rows: Rows, state: NDArray[np.uint64], n_jobs: int
) -> tuple[TreeBuffers, NDArray[np.int64]]:
    """Grow a large tree in branches; return its buffers and how far they are filled."""

    def grow(branch: GrowingBranch) -> GrownBranch:
        m = branch.end - branch.begin
        room = ONE_SPLIT if branch.is_divided else min(2 * m + 1, FIRST_ROOM)
        own = pool.new(m, used.n, room)
        own = own._replace(scratch=own.scratch._replace(logs=used.scratch.logs))
        # branches that grow at the same time project at the same time
        apart = rows._replace(coefficients=np.zeros_like(rows.coefficients))
        growth = Growth(pool, own, apart, branch.state, most_nodes(1, m, pool.settings))
        growth.begin(branch.begin, branch.end, branch.depth)
        if not branch.is_divided:
            growth.to_end()
            return GrownBranch(branch.number, growth.buffers, int(growth.reached[NODES]))
        growth.step()
        growth.buffers.start[1] = growth.reached[TERMS]
        return GrownBranch(branch.number, growth.buffers, 1)

    return grow_branches(grow, len(rows.at), state, n_jobs)


# The tree in the arrays of a forest.


def as_tree(
    buffers: TreeBuffers,
    reached: NDArray[np.int64],
    ordered: bool,
    surrogates: SurrogateSplits | None = None,
    root: NDArray[np.int64] | None = None,
    lean: bool = False,
) -> Forest:
    """Return the grown tree as a forest of one; `ordered` is whether its classes are ordered.

    With `root` (B + 1,), the buffers hold B trees, with the root of tree b at ``root[b]``.  A
    `lean` tree has no weights of nodes and ranks of splits, see `Forest.lean`: they follow from
    the rest if rows have the weight 1 and the tree has grown breadth-first.
    """
    n_nodes, n_terms = reached[NODES], reached[TERMS]
    narrow = np.int32 if n_terms <= MOST_PLACES else np.int64
    arrays: dict[str, Any] = {
        "root": np.array([0, n_nodes]) if root is None else root,
        "left": buffers.left[:n_nodes].copy(),
        "threshold": buffers.threshold[:n_nodes].copy(),
        "start": buffers.start[: n_nodes + 1].astype(narrow),
        "index": buffers.column[:n_terms].copy(),
        "coef": buffers.coef[:n_terms].copy(),
        "value": buffers.value[:n_nodes].copy(),
        "count": buffers.n_rows[:n_nodes].copy(),
        "impurity": buffers.impurity[:n_nodes].copy(),
        "gain": buffers.gain[:n_nodes].copy(),
        "ordered": np.bool_(ordered),
        "surrogates": None if surrogates is None else surrogates.in_fewer_bits(),
    }
    if not lean:
        arrays["weight"] = buffers.weight[:n_nodes].copy()
        arrays["order"] = buffers.order[:n_nodes].copy()
    return Forest.of(arrays)


# Trees from their random streams, on the same predictors.


class Targets(NamedTuple):
    """What trees are grown on.

    `y`, `weights` (n,): response or class codes, and case weights.  `splitting` (n,): chooses the
    splits in place of y.  `ranks`: of times to an event; nodes are split by log-rank scores, and y
    has those of all rows.  `case_weights` (n,): what rows count for surrogates, if `weights` are
    others.
    """

    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    splitting: NDArray[np.float64] | None = None
    ranks: EventRanks | None = None
    case_weights: NDArray[np.float64] | None = None


class Resample(NamedTuple):
    """How each tree draws its rows; `codes`: groups of rows that are resampled as one."""

    sampling: Sampling
    codes: RowCodes | None = None


def read_by_growth(
    X: Matrix, feature_groups: FeatureGroups, mixture: SamplerMixture
) -> tuple[NDArray[np.float32], Factors]:
    """Return the array that trees grow on, and the codes of factors.

    A mixture that rotates all columns needs an indicator for each level.
    """
    if mixture.rotates:
        return indicated(X), NO_FACTORS
    return stored(X), factors_of(X, feature_groups)


class TreeBuilder(NamedTuple):
    """Grows trees on the same predictors with the same options.

    `X` (r, n), `factors`: as `read_by_growth` returns them.  `copied`: whether each tree has a copy
    of X whose rows move with its nodes; the tree is the same.  `pool`: options, and scratch.
    """

    X: NDArray[np.float32]
    factors: Factors
    copied: bool
    pool: ScratchPool

    def tree(
        self,
        targets: Targets,
        resample: Resample,
        state: NDArray[np.uint64],
        n_jobs: int = 1,
        leaf: NDArray[np.int32] | None = None,
    ) -> Forest:
        """Return the tree of a random stream `state` (4,), which is advanced.

        A large tree grows in `n_jobs` threads.  The number of the leaf of each row that splits were
        chosen on is written to `leaf` (n,).  If there are `ranks`, the settings know their number.
        """
        pool, (y, weights, splitting, ranks, case_weights) = self.pool, targets
        settings, honest = pool.settings, resample.sampling.honest
        counts, filling = draw_halves(state, weights, *resample)
        # rows added later are drawn independently: there may be more draws than rows
        n = max(len(y), int(counts.sum()))
        by = y if splitting is None else splitting
        rows = gather_rows(state, self.X, by, weights, counts, self.copied, self.factors)
        rows = rows._replace(ranks=ranks)
        matrix = pool.mixture.rotation(state, rows, settings)
        if matrix is not None:
            rows = rotated_rows(rows, matrix)
            pool = ScratchPool(rotated_feature_groups(len(matrix)), settings, pool.mixture)
        size = max(len(rows.at), int(np.count_nonzero(filling)))
        used, surrogates, work = pool.take(size, n), None, None
        scratch = used.scratch
        if grows_in_branches(len(rows.at), settings):
            buffers, reached = grow_in_threads(pool, used, rows, state, n_jobs)
        else:
            grown = grow_whole(pool, used, rows, state, size, None, case_weights)
            buffers, reached = grown.buffers, grown.reached
            surrogates, work = grown.surrogates, grown.work
            used = used._replace(buffers=buffers)
        if leaf is not None:
            write_leaves(rows.at, buffers.left, buffers.begin, buffers.end, reached[NODES], leaf)
        if honest:
            fill(
                self._filling_rows(y, weights, filling, matrix), buffers, reached[NODES],
                settings.criterion, scratch.columns, scratch.theta, scratch.values,
                scratch.goes_left, scratch.moments, scratch.logs, surrogates, work,
            )  # fmt: skip
        elif splitting is not None:
            described = rows._replace(y=y[rows.at], ranks=None)
            describe_again(
                described, buffers, reached[NODES], settings.criterion, scratch.moments,
                scratch.logs,
            )  # fmt: skip
        tree = as_tree(buffers, reached, CRITERIA[settings.criterion].ordered, surrogates)
        pool.give_back(used)
        return tree if matrix is None else rotated_back(tree, matrix)

    def _filling_rows(
        self,
        y: NDArray[np.float64],
        weights: NDArray[np.float64],
        filling: NDArray[np.int64],
        matrix: NDArray[np.float32] | None,
    ) -> Rows:
        """Return the rows that fill an honest tree, rotated by the matrix, if there is one."""
        drawn = np.flatnonzero(filling)
        rows = rows_at(drawn, self.X, y, weights, filling, matrix is not None, self.factors)
        if matrix is None:
            return rows
        # `fill` moves row numbers, not the rotated columns
        places = np.arange(len(drawn), dtype=np.int32)
        return rotated_rows(rows, matrix)._replace(at=places, copied=False)
