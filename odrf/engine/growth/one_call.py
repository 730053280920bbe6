"""Grow several trees on the same rows in one call, each on targets and weights of its own.

For small tables, most of the time of a boosted tree goes to the calls around its growth.  So the
arrays of a tree are made once, and are filled again for the next tree by the kernel that grows it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import (
    ONE,
    ZERO,
    inlined,
    kernel,
    name_of_types,
    of_these_types,
    part,
)
from odrf.engine.directions.samplers import placed
from odrf.engine.growth.branches import grows_in_branches
from odrf.engine.growth.growing_on import BUDGET, PER_ROW, as_tree, growth_kernel
from odrf.engine.growth.growth_scratch import ScratchPool
from odrf.engine.growth.node_values import write_leaves
from odrf.engine.growth.room import with_room
from odrf.engine.growth.tree_kernel import (
    LEAVES,
    NEXT,
    NODE,
    NODES,
    TERMS,
    buffers_for,
    enlarged,
)
from odrf.engine.parallel import end_if_stopped
from odrf.engine.pointers import address_for, called_with
from odrf.engine.randomness import shuffle_front
from odrf.engine.rows.factors import Factors
from odrf.engine.rows.rows import rows_at
from odrf.engine.rows.sampling import ALL_ROWS, Sampling
from odrf.engine.splits.two_values import write_larger_values
from odrf.engine.surrogates.calls import NEVER_CALLED
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["TreeTargets", "TreesInOneCall", "grow_several", "grows_with_others"]

# Room for nodes and terms at first.
FIRST_NODES, FIRST_TERMS = 1024, 4096
# Entries of `done`: trees that are complete, their nodes and terms, and whether the next has begun.
TREES, ALL_NODES, ALL_TERMS, BEGUN = 0, 1, 2, 3


class TreeTargets(NamedTuple):
    """What T trees are grown on.

    Attributes
    ----------
    first, second : (T, n) float64
        First and second derivatives g and h: the response of a row is -g/h, and its weight h times
        its case weight.
    weights : (n,) float64
        Case weights, above 0.
    states : (T, 4) uint64
        The random stream of each tree; not modified.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    weights: NDArray[np.float64]
    states: NDArray[np.uint64]


def grows_with_others(
    n: int, weights: NDArray[np.float64], sampling: Sampling, pool: ScratchPool
) -> bool:
    """Whether trees of these n rows can be grown by `TreesInOneCall`.

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
def grow_several(
    grow, rows, feature_groups, settings, state, buffers, scratch, calls, surrogates, reached,
    budget, targets, columns, permutations, out, root, leaf, done,
):  # fmt: skip
    """Grow trees on the same rows, until all are complete, or buffers or the budget are used up.

    Parameters
    ----------
    grow : int
        Address of the kernel that grows a tree; its arguments are those from `rows` to `budget`.
    rows : Rows
        Filled anew for each tree.
    budget : int
        As in `odrf.engine.growth.tree_kernel.grow_tree`.
    targets : TreeTargets
        Of T trees.
    columns : (X, codes)
        What rows.X and rows.codes are filled from if they are copies.
    permutations : tuple of arrays
        Those of the proposals as they are before a tree is grown.
    out : TreeBuffers
        Receives the complete trees, one after the other, but for the values of their nodes.
    root : (T + 1,) int64
        Receives the numbers of their roots.
    leaf : (T, n) int32
        Receives the number of each row's leaf within its tree.
    done : (4,) int64
        Complete trees, their nodes and terms, and whether the next tree has begun; updated.
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


class TreesInOneCall:
    """Grows several trees on the same rows, one after the other; for one thread.

    Parameters
    ----------
    X : (r, n) float32
    factors : Factors
        As `odrf.engine.growth.tree_growth.read_by_growth` returns them.
    copied : bool
        Whether a tree copies X.
    pool : ScratchPool
        For these columns; `grows_with_others` holds.
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
        self._calls, self._kept = placed(
            found.samplers, self._state, self._rows, pool.feature_groups,
            found.scratch.proposals, found.scratch.work,
        )  # fmt: skip
        self._reached = np.zeros(4, dtype=np.int64)
        self._out = buffers_for(FIRST_NODES, FIRST_TERMS, pool.settings.n_classes)
        self._address = address_for(growth_kernel(pool.settings), self._growing)
        self._types, self._grow = b"", grow_several

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
        """Call `grow_several`; only what changes from round to round is asked for its types."""
        arguments = (
            self._address, *self._growing, targets, self._columns, self._found.permutations,
            self._out, root, leaf, done,
        )  # fmt: skip
        changing = name_of_types((targets, leaf))
        if changing == self._types:
            self._grow(*arguments)
            return
        grow_several(*arguments)
        self._types, self._grow = changing, of_these_types(grow_several, arguments)

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
