"""Trees that grow one after the other in the same arrays: T trees of one call, or tree by tree.

For small tables, most of the time of a tree goes to the calls around its growth.  So the arrays of
a tree are made once, and are filled again for the next tree.
"""

from __future__ import annotations

from typing import NamedTuple

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
from odrf.engine.growth.node_values import (
    LEAVES,
    NEXT,
    NODES,
    TERMS,
    buffers_for,
    enlarged,
    write_leaves,
)
from odrf.engine.growth.tree_builder import (
    Growth,
    Targets,
    TreeBuilder,
    as_tree,
    most_nodes,
    renew,
)
from odrf.engine.growth.tree_kernel import NODE, grow_tree
from odrf.engine.numeric import shuffle_front
from odrf.engine.resamples import Sampling, draw_subsample, n_drawn
from odrf.engine.rows import rows_at
from odrf.engine.running import end_if_stopped
from odrf.engine.splits.histograms import write_larger_values
from odrf.engine.splits.impurity import CRITERIA
from odrf.engine.trees.forest import Forest

# Room for nodes and terms at first.
FIRST_NODES, FIRST_TERMS = 1024, 4096
# Entries of `done`: trees that are complete, their nodes and terms, and whether the next has begun.
TREES, ALL_NODES, ALL_TERMS, BEGUN = 0, 1, 2, 3
NO_COLUMNS = np.empty((0, 1), dtype=np.float32)


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
    `budget`. `rows`: filled anew for each tree, from `columns` (X, codes) if they are copies.
    `permutations`: those of the proposals before a tree is grown. `out`: receives the complete
    trees, one after the other, but for the values of their nodes, `root` (T + 1,) the numbers of
    their roots, `leaf` (T, n) each row's leaf within its tree. `done` (4,): complete trees, their
    nodes and terms, and whether the next tree has begun; updated.
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
    """Grows T trees on the same rows in one call; for one thread.  `strategy` is `TOGETHER`."""

    def __init__(self, builder: TreeBuilder) -> None:
        X, factors, copied, pool = builder
        n = X.shape[1]
        ones, used = np.ones(n), pool.take(n, n)
        once = np.ones(n, dtype=np.int64)
        rows = rows_at(np.arange(n), X, ones, ones, once, copied, factors)
        if copied and not len(factors.codes):
            high = np.empty(len(X), dtype=np.float32)
            write_larger_values(X, high)
            if not np.isnan(high).all():
                rows = rows._replace(high=high)
        others = factors.place >= 0
        read = X[factors.place[others]] if copied and len(factors.codes) else X
        self._columns, self._permutations = (read, factors.codes), used.permutations
        most = most_nodes(1, n, pool.settings)
        self._growth = Growth(pool, used, rows, np.empty(4, dtype=np.uint64), most)
        self._out = buffers_for(FIRST_NODES, FIRST_TERMS, pool.settings.n_classes)
        self._address = address_for(grow_tree, self._growth.arguments)
        self._types, self._grow = b"", grow_batch

    def __call__(self, targets: TreeTargets, leaf: NDArray[np.int32]) -> Forest:
        """Return the T trees as a forest, without the values of their nodes.

        The number of each row's leaf within its tree is written to leaf (T, n).
        """
        T, growth = len(targets.states), self._growth
        root, done = np.zeros(T + 1, dtype=np.int64), np.zeros(4, dtype=np.int64)
        growth.with_unit_weights(bool((targets.weights * targets.second == 1.0).all()))
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
        """Call `grow_batch`; only of what changes from round to round the types are looked up."""
        arguments = (
            self._address, *self._growth.arguments, targets, self._columns, self._permutations,
            self._out, root, leaf, done,
        )  # fmt: skip
        changing = name_of_types((targets, leaf))
        if changing == self._types:
            self._grow(*arguments)
            return
        grow_batch(*arguments)
        self._types, self._grow = changing, of_these_types(grow_batch, arguments)

    def _make_room(self, done: NDArray[np.int64]) -> None:
        """Make room for more nodes and terms where it is short, of one tree or of all."""
        growth, reached = self._growth, self._growth.reached
        if reached[NEXT] < reached[NODES]:
            growth.make_room()
            return
        room, room_of_terms = len(self._out.left), len(self._out.column)
        nodes, terms = int(done[ALL_NODES] + reached[NODES]), int(done[ALL_TERMS] + reached[TERMS])
        if nodes > room or terms > room_of_terms:
            self._out = enlarged(self._out, max(room, 2 * nodes), max(room_of_terms, 2 * terms))


# Trees of subsamples of one size, grown one after the other in the same arrays.
#
# A tree of a small table grows in a fraction of a millisecond.  To make its arrays, to hand them to
# the samplers and to ask for their types, as every call of a compiled kernel does, takes as long.
# So all this is done once for many trees.


class SerialTrees:
    """Grows the tree of a stream (4,), as `TreeBuilder.tree` does, where `strategy` is `SERIAL`.

    Several threads may grow trees at the same time.
    """

    def __init__(self, builder: TreeBuilder, targets: Targets, sampling: Sampling) -> None:
        self._builder, self._targets = builder, targets
        self._size = n_drawn(sampling, len(targets.y))
        self._ordered = CRITERIA[builder.pool.settings.criterion].ordered
        # the arrays of the first tree, with which others begin
        self._idle = [self._new()]

    def __call__(self, stream: NDArray[np.uint64]) -> Forest:
        """Return the tree; the stream is not modified."""
        try:
            growth = self._idle.pop()
        except IndexError:
            growth = self._new()
        else:
            renew(growth.used)
        rows, builder = growth.rows, self._builder
        growth.state[:] = stream
        columns = rows.X if builder.copied else NO_COLUMNS
        draw_subsample(growth.state, builder.X, self._targets.y, rows.at, columns, rows.y)
        growth.begin(0, self._size, 0)
        growth.to_end()
        tree = as_tree(growth.buffers, growth.reached, self._ordered, lean=True)
        self._idle.append(growth)
        return tree

    def _new(self) -> Growth:
        (X, factors, copied, pool), (y, _, _, ranks, _) = self._builder, self._targets
        n, size = len(y), self._size
        ones = np.ones(n)
        rows = rows_at(np.arange(size), X, y, ones, ones.astype(np.int64), copied, factors)
        rows = rows._replace(ranks=ranks)
        most = most_nodes(1, size, pool.settings)
        return Growth(pool, pool.take(size, n), rows, np.empty(4, dtype=np.uint64), most)
