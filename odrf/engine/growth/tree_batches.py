"""Trees that grow one after the other in the same arrays.

For small tables, most of the time of a boosted tree goes to the calls around its growth.  So the
arrays of a tree are made once, and are filled again for the next tree by the kernel that grows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import (
    ONE,
    ZERO,
    address_for,
    called_with,
    inlined,
    kernel,
    name_of_types,
    of_these_types,
    part,
)
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture, placed
from odrf.engine.factors import Factors
from odrf.engine.growth.branches import grows_in_branches
from odrf.engine.growth.tree_builder import (
    BUDGET,
    PER_ROW,
    as_narrow_tree,
    as_tree,
    grown_to_end,
    growth_kernel,
    stepper,
    with_room,
    write_leaves,
)
from odrf.engine.growth.tree_kernel import (
    LEAVES,
    NEXT,
    NODE,
    NODES,
    TERMS,
    GrowthScratch,
    ScratchPool,
    TreeBuffers,
    buffers_for,
    enlarged,
    renew,
)
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import shuffle_front
from odrf.engine.resamples import ALL_ROWS, SUBSAMPLE, RowCodes, Sampling, draw_subsample, n_drawn
from odrf.engine.rows import Rows, rows_at
from odrf.engine.running import end_if_stopped
from odrf.engine.splits.histograms import write_larger_values
from odrf.engine.splits.impurity import CRITERIA
from odrf.engine.splits.surrogate_scratch import NEVER_CALLED
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest import Forest

# ------------------------------------------------------------------------------------------------
# Grow several trees on the same rows in one call, each on targets and weights of its own.
# ------------------------------------------------------------------------------------------------

# Room for nodes and terms at first.
FIRST_NODES, FIRST_TERMS = 1024, 4096
# Entries of `done`: trees that are complete, their nodes and terms, and whether the next has begun.
TREES, ALL_NODES, ALL_TERMS, BEGUN = 0, 1, 2, 3


class TreeTargets(NamedTuple):
    """What T trees are grown on.

    `first`, `second` (T, n): first and second derivatives g and h: the response of a row is -g/h,
    and its weight h times its case weight.  `weights` (n,): case weights, above 0.  `states`
    (T, 4): the random stream of each tree; not modified.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    weights: NDArray[np.float64]
    states: NDArray[np.uint64]


def grows_in_batches(
    n: int, weights: NDArray[np.float64], sampling: Sampling, pool: ScratchPool
) -> bool:
    """Whether trees of these n rows can be grown by `TreeBatch`.

    All rows must be drawn, and a tree must grow in one piece, on the columns as they are, with the
    sampler that all mixtures share.
    """
    settings = pool.settings
    return (
        sampling.resample == ALL_ROWS
        and not (sampling.honest or sampling.later)
        and bool((weights > 0.0).all())
        and not grows_in_branches(n, settings)
        and not settings.surrogates
        and not pool.mixture.rotates
        and len(pool.mixture.samplers(pool.feature_groups, settings, n)) == 1
    )


@inlined
def _begin(rows, targets, tree, columns, permutations, proposals, state, buffers, reached, spare):
    """Fill the arrays of a tree for its growth, as `gather_rows` makes them."""
    n = len(rows.at)
    for i in range(4):
        state[i] = targets.states[tree, i]
    for i in range(n):
        spare[i] = i
    shuffle_front(state, spare[:n], n)
    first, second = targets.first[tree], targets.second[tree]
    for i in range(np.uint64(n)):
        row = np.uint64(spare[i])
        rows.at[i], rows.counts[i] = row, 1
        rows.y[i] = -first[row] / second[row]
        rows.weights[i] = targets.weights[row] * second[row]
    if rows.copied:
        X, codes = columns
        for j in range(len(rows.X)):
            _take(X[j], rows.at, rows.X[j])
        for f in range(len(codes)):
            _take(codes[f], rows.at, rows.codes[f])
    order, mixed, units = permutations
    _copy(order, proposals.order)
    _copy(mixed, proposals.mixed)
    _copy(units, proposals.units)
    buffers.begin[0], buffers.end[0], buffers.depth[0] = 0, n, 0
    reached[NEXT], reached[NODES], reached[LEAVES], reached[TERMS] = 0, 1, 1, 0


@part
def _copy(values, out):
    for i in range(len(values)):
        out[i] = values[i]


@part
def _take(values, at, out):
    for i in range(np.uint64(len(at))):
        out[i] = values[np.uint64(at[i])]


@inlined
def _append(buffers, n_nodes, n_terms, before, terms, out):
    """Append a complete tree, but for the values of its nodes, to the trees `before`."""
    for i in range(np.uint64(n_nodes)):
        at = np.uint64(before) + i
        left = buffers.left[i]
        out.left[at] = left + before if left >= 0 else left
        out.threshold[at], out.start[at] = buffers.threshold[i], buffers.start[i] + terms
        out.n_rows[at], out.weight[at] = buffers.n_rows[i], buffers.weight[i]
        out.impurity[at], out.gain[at] = buffers.impurity[i], buffers.gain[i]
        out.order[at] = buffers.order[i]
    out.start[before + n_nodes] = terms + n_terms
    for t in range(np.uint64(n_terms)):
        at = np.uint64(terms) + t
        out.column[at], out.coef[at] = buffers.column[t], buffers.coef[t]


@kernel
def grow_batch(
    grow, rows, feature_groups, settings, state, buffers, scratch, calls, surrogates, reached,
    budget, targets, columns, permutations, out, root, leaf, done,
):  # fmt: skip
    """Grow trees on the same rows, until all are complete, or buffers or the budget are used up.

    `grow`: address of the kernel that grows a tree; its arguments are those from `rows` to
      `budget`.
    `rows`: filled anew for each tree.
    `budget`: as in `odrf.engine.growth.tree_kernel.grow_tree`.
    `targets`: of T trees.
    `columns` (X, codes): what rows.X and rows.codes are filled from if they are copies.
    `permutations`: those of the proposals as they are before a tree is grown.
    `out`: receives the complete trees, one after the other, but for the values of their nodes.
    `root` (T + 1,): receives the numbers of their roots.
    `leaf` (T, n): receives the number of each row's leaf within its tree.
    `done` (4,): complete trees, their nodes and terms, and whether the next tree has begun;
      updated.
    """
    n, T = len(rows.at), len(targets.states)
    tree, begun = done[TREES], done[BEGUN]
    nodes, terms = done[ALL_NODES], done[ALL_TERMS]
    while tree < T and budget > 0:
        if not begun:
            _begin(
                rows, targets, tree, columns, permutations, scratch.proposals, state, buffers,
                reached, scratch.words,
            )  # fmt: skip
            begun = ONE
        called_with(
            grow,
            (
                rows, feature_groups, settings, state, buffers, scratch, calls, surrogates,
                reached, budget,
            ),
        )  # fmt: skip
        n_nodes, n_terms = reached[NODES], reached[TERMS]
        if reached[NEXT] < n_nodes:
            break
        if nodes + n_nodes > len(out.left) or terms + n_terms > len(out.column):
            break
        _append(buffers, n_nodes, n_terms, nodes, terms, out)
        write_leaves(rows.at, buffers.left, buffers.begin, buffers.end, n_nodes, leaf[tree])
        nodes, terms = nodes + n_nodes, terms + n_terms
        tree, begun = tree + 1, ZERO
        root[tree] = nodes
        budget -= n + n_nodes * NODE
    done[TREES], done[ALL_NODES], done[ALL_TERMS], done[BEGUN] = tree, nodes, terms, begun


class TreeBatch:
    """Grows several trees on the same rows, one after the other; for one thread.

    `X` (r, n).  `factors`: as `odrf.engine.growth.tree_builder.read_by_growth` returns them.
    `copied`: whether a tree copies X.  `pool`: for these columns; `grows_in_batches` holds.
    """

    def __init__(
        self, X: NDArray[np.float32], factors: Factors, copied: bool, pool: ScratchPool
    ) -> None:
        n = X.shape[1]
        ones, found = np.ones(n), pool.take(n, n)
        self._pool, self._found, self._state = pool, found, np.empty(4, dtype=np.uint64)
        once = np.ones(n, dtype=np.int64)
        self._rows = rows_at(np.arange(n), X, ones, ones, once, copied, factors)
        if copied and not len(factors.codes):
            high = np.empty(len(X), dtype=np.float32)
            write_larger_values(X, high)
            if not np.isnan(high).all():
                self._rows = self._rows._replace(high=high)
        others = factors.place >= 0
        read = X[factors.place[others]] if copied and len(factors.codes) else X
        self._columns = read, factors.codes
        self._calls, self._rows, self._kept = placed(
            found.samplers, self._state, self._rows, pool.feature_groups,
            found.scratch.proposals, found.scratch.work,
        )  # fmt: skip
        self._reached = np.zeros(4, dtype=np.int64)
        self._out = buffers_for(FIRST_NODES, FIRST_TERMS, pool.settings.n_classes)
        self._address = address_for(growth_kernel(pool.settings), self._growing)
        self._types, self._grow = b"", grow_batch

    @property
    def _growing(self) -> tuple[Any, ...]:
        """What the kernel that grows a tree is called with."""
        found, pool = self._found, self._pool
        budget = max(1, BUDGET // (PER_ROW + len(found.scratch.proposals.units)))
        return (
            self._rows, pool.feature_groups, pool.settings, self._state, found.buffers,
            found.scratch, self._calls, NEVER_CALLED, self._reached, budget,
        )  # fmt: skip

    def __call__(self, targets: TreeTargets, leaf: NDArray[np.int32]) -> Forest:
        """Return the T trees as a forest, without the values of their nodes.

        The number of each row's leaf within its tree is written to leaf (T, n).
        """
        T = len(targets.states)
        root, done = np.zeros(T + 1, dtype=np.int64), np.zeros(4, dtype=np.int64)
        unit = bool((targets.weights * targets.second == 1.0).all())
        if unit != self._rows.unit:
            self._rows = self._rows._replace(unit=unit)
        while True:
            self._grow_further(targets, root, leaf, done)
            if done[TREES] == T:
                break
            end_if_stopped()
            self._make_room(done)
        ends = np.array([0, done[ALL_NODES], 0, done[ALL_TERMS]])
        return as_tree(self._out, ends, ordered=False, root=root)

    def _grow_further(
        self,
        targets: TreeTargets,
        root: NDArray[np.int64],
        leaf: NDArray[np.int32],
        done: NDArray[np.int64],
    ) -> None:
        """Call `grow_batch`; only what changes from round to round is asked for its types."""
        arguments = (
            self._address, *self._growing, targets, self._columns, self._found.permutations,
            self._out, root, leaf, done,
        )  # fmt: skip
        changing = name_of_types((targets, leaf))
        if changing == self._types:
            self._grow(*arguments)
            return
        grow_batch(*arguments)
        self._types, self._grow = changing, of_these_types(grow_batch, arguments)

    def _make_room(self, done: NDArray[np.int64]) -> None:
        """Make room for more nodes and terms, of the tree that grows or of all, where it is short.

        Nothing is done where the call has ended because its budget was used up.
        """
        found, reached = self._found, self._reached
        if reached[NEXT] < reached[NODES]:
            most = 2 * min(self._pool.settings.max_leaves, len(self._rows.at)) + 1
            widest = found.scratch.columns.shape[1]
            buffers = with_room(found.buffers, reached, widest, most)
            self._found = found._replace(buffers=buffers)
            return
        room, room_of_terms = len(self._out.left), len(self._out.column)
        nodes, terms = int(done[ALL_NODES] + reached[NODES]), int(done[ALL_TERMS] + reached[TERMS])
        if nodes > room or terms > room_of_terms:
            self._out = enlarged(self._out, max(room, 2 * nodes), max(room_of_terms, 2 * terms))


# ------------------------------------------------------------------------------------------------
# Trees of subsamples of one size, grown one after the other in the same arrays.
#
# A tree of a small table grows in a fraction of a millisecond.  To make its arrays, to hand them to
# the samplers and to ask for their types, as every call of a compiled kernel does, takes as long.
# So all this is done once for many trees.
# ------------------------------------------------------------------------------------------------

# Each thread keeps the rows of a tree of each kind: at most so many numbers, a megabyte.
MOST_NUMBERS = 2**18


def can_be_repeated(
    X: NDArray[np.float32],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: KernelParams,
    mixture: SamplerMixture,
    factors: Factors,
    codes: RowCodes | None,
) -> bool:
    """Return whether `RepeatedGrowth` grows such trees.

    Not if rows have weights, are resampled in groups or were added later; if trees are honest, have
    surrogates, rotate their columns or do not grow breadth-first; nor if the table is large: time
    does not matter then.  The arguments are those of
    `odrf.engine.growth.forest_builder.TreeGrower`; X and `factors` are as `read_by_growth` returns
    them.
    """
    n = len(weights)
    plainly_drawn = sampling.resample == SUBSAMPLE and not (sampling.honest or sampling.later)
    plainly_grown = not (settings.surrogates or settings.best_first or mixture.rotates)
    return (
        plainly_drawn
        and plainly_grown
        and codes is None
        and not len(factors.codes)
        and X.size <= MOST_NUMBERS
        and not grows_in_branches(n, settings)
        and bool((weights == 1.0).all())
        # the sampler that all mixtures share draws anew at each node; others may go on with a draw
        and len(mixture.samplers(feature_groups, settings, n)) == 1
    )


@dataclass
class _Tree:
    """What a tree grows in, and the next one after it.

    `found`: its scratch; other buffers take the place of these.  `X` (p, m): their columns, if they
    are copied.  `state` (4,): its random stream.  `reached` (4,): see
    `odrf.engine.growth.tree_kernel.grow_tree`.  `step`: grows it further.
    """

    found: GrowthScratch
    buffers: TreeBuffers
    rows: Rows
    X: NDArray[np.float32]
    state: NDArray[np.uint64]
    reached: NDArray[np.int64]
    step: Callable[[TreeBuffers], object]


class RepeatedGrowth:
    """Grows the tree of a stream (4,), which it does not modify: as `grow_one` does.

    Several threads may grow trees at the same time.  `X`, `y` (p, n).  `pool`: where scratch comes
    from.  `ranks`: as in `odrf.engine.growth.tree_builder.grow_one`, where `can_be_repeated`.
    """

    def __init__(
        self,
        X: NDArray[np.float32],
        y: NDArray[np.float64],
        sampling: Sampling,
        copied: bool,
        pool: ScratchPool,
        factors: Factors,
        ranks: EventRanks | None,
    ) -> None:
        self._X, self._y, self._copied, self._ranks = X, y, copied, ranks
        self._size, self._factors, self._pool = n_drawn(sampling, len(y)), factors, pool
        self._most = 2 * min(pool.settings.max_leaves, self._size) + 1
        self._idle: list[_Tree] = []

    def __call__(self, stream: NDArray[np.uint64]) -> Forest:
        """Return the tree."""
        try:
            own = self._idle.pop()
        except IndexError:
            own = self._new()
        else:
            renew(own.found)
        rows, buffers, settings = own.rows, own.buffers, self._pool.settings
        own.state[:] = stream
        draw_subsample(own.state, self._X, self._y, rows.at, own.X, rows.y)
        buffers.begin[0], buffers.end[0], buffers.depth[0] = 0, self._size, 0
        own.reached[:] = 0, 1, 1, 0
        widest = own.found.scratch.columns.shape[1]
        own.buffers = grown_to_end(own.step, buffers, own.reached, widest, self._most)
        tree = as_narrow_tree(own.buffers, own.reached, CRITERIA[settings.criterion].ordered)
        self._idle.append(own)
        return tree

    def _new(self) -> _Tree:
        n, size, settings = len(self._y), self._size, self._pool.settings
        found = self._pool.take(size, n)
        first, ones = np.arange(size), np.ones(n)
        once = ones.astype(np.int64)
        rows = rows_at(first, self._X, self._y, ones, once, self._copied, self._factors)
        rows = rows._replace(ranks=self._ranks)
        state, reached = np.empty(4, dtype=np.uint64), np.array([0, 1, 1, 0])
        growing = rows, self._pool.feature_groups, settings, state, found.scratch, found.samplers
        step = stepper(*growing, reached)
        columns = rows.X if self._copied else np.empty((0, size), dtype=np.float32)
        return _Tree(found, found.buffers, rows, columns, state, reached, step)
