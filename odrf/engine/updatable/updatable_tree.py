"""A tree that is updated row by row."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.growth.leaf_growth import grow_from_leaves
from odrf.engine.growth.tree_kernel import NODES, TERMS, TreeBuffers
from odrf.engine.growth.tree_update import GROWN, GROWTH
from odrf.engine.randomness import branched
from odrf.engine.rows.factors import Factors
from odrf.engine.rows.rows import rows_at
from odrf.engine.settings import Settings
from odrf.engine.splits.impurity import NEGLIGIBLE
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.updatable.arrivals import Arrival, Changed, GrowthOptions, Undo
from odrf.engine.updatable.updatable_arrays import (
    OF_NODES,
    OF_ROWS,
    OF_TERMS,
    UpdatableArrays,
    UpdatableCells,
    become_leaves,
    chain_rows,
    choose_cuts,
    come_and_go,
    find_leaves,
    gather_leaves,
    reach,
    restate,
)

__all__ = ["UpdatableTree"]

# Arrays have this much more room than they need.
ROOM, LEAST = 1.25, 64
# What an update may change of a node that was there before.
CHANGING = (
    "left", "threshold", "first", "size", "value", "n_rows", "weight", "impurity", "gain", "order",
    "n_at_split",
)  # fmt: skip
# Arrays that have the same name in a `Forest`.
AS_IN_TREES = ("left", "threshold", "value", "weight", "impurity", "gain", "order", "coef")


class UpdatableTree:
    """A tree that is updated row by row.

    Parameters
    ----------
    tree : Forest
        A forest of one tree, no split of which is switched off.
    n_at_split : (m,) int32
        How many rows each node had when its split was searched.
    cells : UpdatableCells
        The training rows.
    counts : (n,) int
        How often the tree drew each of them.
    stream : (4,) uint64
        The random stream of the tree.
    criterion : int
        Impurity, as in `odrf.engine.settings.Settings`.

    Attributes
    ----------
    undo : list of Undo
        What turns the last call of `updated` back, if it has changed a node; the caller sets a new
        list before each update.
    """

    def __init__(
        self,
        tree: Forest,
        n_at_split: NDArray[np.int32],
        cells: UpdatableCells,
        counts: NDArray[np.integer],
        stream: NDArray[np.uint64],
        criterion: int,
    ) -> None:
        m, z, depth = tree.n_nodes, len(tree.index), tree.depth()
        self.used, self.terms, self.stream = m, z, stream
        self.undo: list[Undo] = []
        self.n_leaves, self.ranked = int((tree.left < 0).sum()), int(tree.order.max())
        self.levels = np.bincount(depth)
        self.arrays = _arrays_of(tree, n_at_split, depth, counts, len(cells.y))
        at = np.flatnonzero(counts)
        leaf = self._leaves(cells, at)
        chain_rows(self.arrays, at, leaf)
        rows_of = np.bincount(leaf, weights=counts[at], minlength=m)
        ends = tree.left < 0
        if (rows_of[ends] != tree.count[ends]).any():  # only in a file that was tampered with
            restate(self.arrays, cells, np.arange(m - 1, -1, -1, dtype=np.int32), criterion)

    def updated(
        self, arrival: Arrival, counts: NDArray[np.int64], growing: GrowthOptions
    ) -> Changed:
        """Let rows come and go; return what has changed.  `undo` says how to turn it back.

        Parameters
        ----------
        arrival : Arrival
        counts : (m,) int64
            How often the tree draws each of the new rows.
        growing : GrowthOptions
        """
        cells, number, settings = arrival.cells, arrival.number, growing.settings
        self._reserve_rows(len(cells.y))
        arrays, before, depth = self.arrays, self.n_leaves, self.depth
        arrays.times[arrival.places] = counts
        at = arrival.places[counts > 0]
        gone = arrival.gone[arrays.times[arrival.gone] > 0]
        if len(at) + len(gone) == 0:
            return Changed(0, before, 0, 0, 0, before, depth, depth)
        leaf = np.empty(len(at) + len(gone), dtype=np.int64)
        reached = np.empty(min(self.used, len(leaf) * (depth + 1)), dtype=np.int32)
        n_new, n_reached = reach(arrays, cells, at, gone, number, leaf, reached)
        self.undo.append(self._undo(reached[:n_reached]))
        order = np.argsort(reached[:n_reached])
        reached, has_new = reached[order], order < n_new
        come_and_go(arrays, cells, at, gone, leaf, reached[::-1].copy(), settings.criterion)
        cut, searched = (np.empty(n_reached, dtype=np.bool_) for _ in range(2))
        rules = growing.revised, GROWN, settings.min_leaf
        choose_cuts(arrays, reached, has_new, *rules, number, cut, searched)
        withdrawn = self._become_leaves(reached[cut], cells, settings.criterion)
        leaves = reached[searched]
        arrays.n_at_split[leaves] = arrays.n_rows[leaves]
        n_split = self._grown(leaves[self._may_split(leaves, settings)], arrival, growing)
        return Changed(
            int(counts.sum()), before, withdrawn, len(leaves), n_split, self.n_leaves, depth,
            self.depth,
        )  # fmt: skip

    @property
    def depth(self) -> int:
        """Most splits between root and leaf."""
        return int(np.flatnonzero(self.levels)[-1])

    @property
    def is_wasteful(self) -> bool:
        """Whether most of its nodes are out of reach."""
        return self.used > LEAST and 2 * (2 * self.n_leaves - 1) < self.used

    def copied(self, used: int, terms: int, undone: list[list[Undo]]) -> dict[str, NDArray[Any]]:
        """Return copies of the arrays as they were before some updates, the last one first.

        A thread may be at work on the last one still: what it changes has been noted before.
        """
        arrays = {name: getattr(self.arrays, name)[:used].copy() for name in OF_NODES}
        arrays |= {name: getattr(self.arrays, name)[:terms].copy() for name in OF_TERMS}
        for undo in chain.from_iterable(undone):
            known = undo.nodes < used  # later nodes are none of these
            for name, old in zip(CHANGING, undo.fields, strict=False):
                arrays[name][undo.nodes[known]] = old[known]
        return arrays

    def _leaves(self, cells: UpdatableCells, at: NDArray[np.int64]) -> NDArray[np.int64]:
        leaf = np.empty(len(at), dtype=np.int64)
        find_leaves(self.arrays, cells, at, leaf)
        return leaf

    def _undo(self, nodes: NDArray[np.integer]) -> Undo:
        fields = tuple([getattr(self.arrays, name)[nodes] for name in CHANGING])
        return Undo(nodes.astype(np.int32), fields)

    def _become_leaves(
        self, nodes: NDArray[np.int32], cells: UpdatableCells, criterion: int
    ) -> int:
        """Remove all splits from these nodes on; return how many."""
        if not len(nodes):
            return 0
        rows = np.empty(int(self.arrays.n_rows[nodes].max()), dtype=np.uint64)
        waiting = np.empty(len(self.levels) + 2, dtype=np.int64)
        removed = become_leaves(self.arrays, cells, nodes, waiting, rows, self.levels, criterion)
        self.n_leaves -= removed
        return int(removed)

    def _may_split(self, leaves: NDArray[np.integer], settings: Settings) -> NDArray[np.bool_]:
        """Return which leaves growth would search; it would pass over the others at once."""
        arrays = self.arrays
        if self.n_leaves >= settings.max_leaves:
            return np.zeros(len(leaves), dtype=np.bool_)
        large = (arrays.n_rows[leaves] >= 2 * settings.min_leaf) & (arrays.n_rows[leaves] > 0)
        mixed = arrays.impurity[leaves] > 0.5 * NEGLIGIBLE * arrays.impurity[0]
        return np.asarray(large & mixed & (arrays.depth[leaves] < settings.max_depth))

    def _grown(self, leaves: NDArray[np.integer], arrival: Arrival, growing: GrowthOptions) -> int:
        """Grow branches from these leaves; return how many of them are split."""
        if not len(leaves):
            return 0
        arrays, cells = self.arrays, arrival.cells
        state = branched(self.stream, GROWTH, arrival.number)
        rows = np.empty(int(arrays.n_rows[leaves].sum()), dtype=np.int64)
        sizes = np.empty(len(leaves), dtype=np.int64)
        rows = rows[: gather_leaves(arrays, leaves, state, rows, sizes)]
        factors = Factors(cells.codes, cells.place, cells.level)
        leaf_rows = rows_at(rows, cells.X, cells.y, cells.weights, arrays.times, True, factors)
        n = max(arrival.n, int(arrays.n_rows[0]))
        branches, reached, _ = grow_from_leaves(
            leaf_rows, sizes, arrays.depth[leaves], arrays.impurity[0], self.n_leaves, n,
            growing.feature_groups, growing.settings, growing.mixture, state,
        )  # fmt: skip
        return self._attached(leaves, branches, reached, leaf_rows.at)

    def _attached(
        self,
        leaves: NDArray[np.integer],
        branches: TreeBuffers,
        reached: NDArray[np.int64],
        at: NDArray[np.int32],
    ) -> int:
        """Attach branches that have grown from these leaves; return how many have been split."""
        L, total, terms = len(leaves), int(reached[NODES]), int(reached[TERMS])
        new = total - (L + 1)
        if new == 0:
            return 0
        self._reserve(self.used + new, self.terms + terms)
        arrays, used = self.arrays, self.used
        number = np.concatenate([[-1], leaves, np.arange(used, used + new)])
        splits = 1 + np.flatnonzero(branches.left[1:total] >= 0)
        nodes, children = number[splits], number[branches.left[splits]]
        below = slice(used, used + new)
        self._write_leaves(below, branches, slice(L + 1, total))
        arrays.left[nodes], arrays.threshold[nodes] = children, branches.threshold[splits]
        arrays.gain[nodes], arrays.head[nodes] = branches.gain[splits], -1
        arrays.first[nodes] = self.terms + branches.start[splits]
        arrays.size[nodes] = branches.start[splits + 1] - branches.start[splits]
        arrays.order[nodes] = branches.order[splits] - self.n_leaves + 1 + self.ranked
        arrays.parent[children] = arrays.parent[children + 1] = nodes
        arrays.column[self.terms : self.terms + terms] = branches.column[:terms]
        arrays.coef[self.terms : self.terms + terms] = branches.coef[:terms]
        ends = np.setdiff1d(np.arange(L + 1, total), splits)
        self._chain_all(ends, branches, number, at)
        added = np.bincount(arrays.depth[below], minlength=len(self.levels))
        added[: len(self.levels)] += self.levels
        self.levels, self.ranked = added, self.ranked + len(splits)
        self.n_leaves += len(splits)
        self.used, self.terms = used + new, self.terms + terms
        return int((splits <= L).sum())

    def _write_leaves(self, below: slice, branches: TreeBuffers, grown: slice) -> None:
        """Write the `grown` nodes of branches as leaves, whose rows are chained afterwards."""
        arrays = self.arrays
        for name, mine in (
            ("value", "value"), ("n_rows", "n_rows"), ("weight", "weight"), ("depth", "depth"),
            ("impurity", "impurity"), ("n_at_split", "n_rows"),
        ):  # fmt: skip
            getattr(arrays, name)[below] = getattr(branches, mine)[grown]
        arrays.left[below], arrays.threshold[below], arrays.gain[below] = -1, np.nan, 0.0
        arrays.first[below], arrays.size[below], arrays.order[below] = self.terms, 0, 0
        arrays.mark[below], arrays.head[below] = 0, -1

    def _chain_all(
        self,
        ends: NDArray[np.int64],
        branches: TreeBuffers,
        number: NDArray[np.int64],
        at: NDArray[np.int32],
    ) -> None:
        """Chain the rows `at` of the new leaves, which are the nodes `ends` of the branches."""
        ends = ends[np.argsort(branches.begin[ends])]
        begin = branches.begin[ends].astype(np.int64)
        sizes = branches.end[ends] - begin
        known = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        leaf, rows = np.repeat(number[ends], sizes), at[known].astype(np.int64)
        order = np.argsort(rows)
        chain_rows(self.arrays, rows[order], leaf[order])

    def _reserve(self, nodes: int, terms: int) -> None:
        """Make room for so many nodes and terms."""
        for names, needed in ((OF_NODES, nodes), (OF_TERMS, terms)):
            self._reserve_all(names, needed)

    def _reserve_rows(self, rows: int) -> None:
        """Have as much room for rows as there is for all training rows."""
        if len(self.arrays.times) < rows:
            self.arrays = self.arrays._replace(
                **{name: _longer(getattr(self.arrays, name), rows) for name in OF_ROWS}
            )

    def _reserve_all(self, names: tuple[str, ...], needed: int) -> None:
        if len(getattr(self.arrays, names[0])) < needed:
            longer = {name: _longer(getattr(self.arrays, name), _room(needed)) for name in names}
            self.arrays = self.arrays._replace(**longer)


_TYPES: dict[str, type] = {
    "left": np.int32, "threshold": np.float32, "first": np.int64, "size": np.int32,
    "value": np.float64, "n_rows": np.int32, "weight": np.float64, "impurity": np.float64,
    "gain": np.float64, "order": np.int32, "n_at_split": np.int32, "depth": np.int32,
    "parent": np.int32, "mark": np.int64, "head": np.int32, "column": np.int32, "coef": np.float32,
}  # fmt: skip


def _arrays_of(
    tree: Forest,
    n_at_split: NDArray[np.int32],
    depth: NDArray[np.int64],
    counts: NDArray[np.integer],
    rows: int,
) -> UpdatableArrays:
    """Return the arrays of a forest of one tree with room for more; no leaf has a row yet.

    `depth` (m,) is that of the nodes, and `rows` the room for rows.
    """
    m = tree.n_nodes
    old: dict[str, NDArray[Any]] = {name: getattr(tree, name) for name in AS_IN_TREES}
    old |= {"n_rows": tree.count, "column": tree.index}
    old |= {"first": tree.start[:-1], "size": np.diff(tree.start), "depth": depth}
    old |= {"parent": tree.parents(), "n_at_split": n_at_split}
    old |= {"mark": np.zeros(m), "head": np.full(m, -1)}
    arrays: dict[str, NDArray[Any]] = {}
    for name in (*OF_NODES, *OF_TERMS):
        shape = (_room(len(old[name])), *old[name].shape[1:])
        arrays[name] = np.empty(shape, dtype=_TYPES[name])
        arrays[name][: len(old[name])] = old[name]
    arrays["following"] = np.empty(rows, dtype=np.int32)
    arrays["times"] = np.zeros(rows, dtype=np.uint16)
    arrays["times"][: len(counts)] = counts
    return UpdatableArrays(**arrays)


def _room(needed: int) -> int:
    return int(ROOM * needed) + LEAST


def _longer(array: NDArray[Any], room: int) -> NDArray[Any]:
    longer = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
