"""The Nelson–Aalen curves of the leaves of trees, from the rows that each tree drew.

A curve is kept sparsely: the ranks of the event times in its leaf, and the increment of the
cumulative hazard at each.  The leaves of a tree that have rows have at most as many of them as the
tree drew rows with events.  If events have several causes, each increment is also divided among
these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.memory import require_memory
from odrf.engine.parallel import in_order
from odrf.engine.rows.coded import Matrix
from odrf.engine.rows.draws import Draws
from odrf.engine.survival.event_ranks import EventRanks, exit_rank, has_event
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaf_nodes

__all__ = ["LeafCurves", "curves_of_groups", "leaf_curves"]

# Trees whose rows are sent down together: so many leaves of rows at most.
TOGETHER = 2**22


class LeafCurves(NamedTuple):
    """The curves of the leaves of a forest of m nodes; nodes that are split have none.

    Attributes
    ----------
    start : (m + 1,) int64
        The increments of node i are those from ``start[i]`` to ``start[i + 1]``.
    rank : (E,) int32
        The event time of each increment, by its rank 1 … R; ascending within a node.
    hazard : (E,) float64
        Events divided by rows at risk, both weighted.
    of_cause : (E, C) float64
        The same for the events of each cause; they add up to `hazard`.  Empty, (0, 0), if there is
        one cause.
    """

    start: NDArray[np.int64]
    rank: NDArray[np.int32]
    hazard: NDArray[np.float64]
    of_cause: NDArray[np.float64] = np.empty((0, 0))

    @property
    def by_cause(self) -> NDArray[np.float64]:
        """The increments (E, C) of each cause, be there one or several."""
        return self.of_cause if self.of_cause.shape[1] else self.hazard[:, np.newaxis]


def leaf_curves(forest: Forest, X: Matrix, ranks: EventRanks, draws: Draws) -> LeafCurves:
    """Return the curves of all leaves, from the training rows X (p, n) that each tree drew.

    In an honest tree these are the rows that did not choose its splits.  A leaf without rows has
    the curve of the nearest node above that has some.
    """
    orders = np.argsort(ranks.code, kind="stable"), np.argsort(ranks.entry, kind="stable")
    step = max(1, TOGETHER // X.shape[1])
    parts: list[LeafCurves] = []
    for first in range(0, forest.n_trees, step):
        some = forest.trees(first, min(first + step, forest.n_trees))
        leaves = leaf_nodes(some, X, draws.n_jobs) - some.root[:-1]

        def of_tree(b: int, some: Forest = some, leaves: NDArray[np.int64] = leaves) -> LeafCurves:
            counts = draws.filling(first + b) * draws.weights  # noqa: B023 - called in this turn
            tree = some.tree(b)
            return _of_tree(tree, np.ascontiguousarray(leaves[:, b]), counts, ranks, orders)

        parts.extend(in_order(of_tree, range(some.n_trees), draws.n_jobs))
    return _joined(parts)


def _of_tree(
    tree: Forest,
    leaf: NDArray[np.int64],
    counts: NDArray[np.float64],
    ranks: EventRanks,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> LeafCurves:
    leaf = np.where(counts > 0, leaf, -1)
    curves = curves_of_groups(leaf, tree.n_nodes, counts, ranks, orders)
    present = np.zeros(tree.n_nodes, dtype=np.bool_)
    present[leaf[leaf >= 0]] = True
    empty = np.flatnonzero((tree.left < 0) & ~present)
    if len(empty):
        empty = empty[_reached(tree)[empty]]
    return curves if not len(empty) else _inherited(tree, leaf, counts, ranks, orders, empty)


def _reached(tree: Forest) -> NDArray[np.bool_]:
    """Return which nodes (m,) a row can reach: not those below a cut of a pruned tree."""
    reached = np.zeros(tree.n_nodes, dtype=np.bool_)
    reached[0] = True
    for i in np.flatnonzero(tree.left >= 0):  # a child's number is above its parent's
        reached[tree.left[i] : tree.left[i] + 2] = reached[i]
    return reached


def _inherited(
    tree: Forest,
    leaf: NDArray[np.int64],
    counts: NDArray[np.float64],
    ranks: EventRanks,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]],
    empty: NDArray[np.int64],
) -> LeafCurves:
    """Return the curves, with those of ancestors where leaves are `empty`."""
    parents, has_rows = tree.parents(), np.zeros(tree.n_nodes, dtype=np.bool_)
    has_rows[leaf[leaf >= 0]] = True
    for i in range(tree.n_nodes - 1, 0, -1):
        has_rows[parents[i]] |= has_rows[i]
    own = curves_of_groups(leaf, tree.n_nodes, counts, ranks, orders)
    pieces = {int(i): _piece(own, i) for i in range(tree.n_nodes)}
    for i in empty:
        above = parents[i]
        while not has_rows[above]:
            above = parents[above]
        below = _below(tree, int(above))
        group = np.where((leaf >= 0) & below[leaf], 0, -1)
        pieces[int(i)] = _piece(curves_of_groups(group, 1, counts, ranks, orders), 0)
    return _joined([pieces[i] for i in range(tree.n_nodes)])


def _below(tree: Forest, node: int) -> NDArray[np.bool_]:
    """Return the mask of the nodes below `node`, and of itself."""
    below = np.zeros(tree.n_nodes, dtype=np.bool_)
    below[node] = True
    for i in range(node, tree.n_nodes):
        if below[i] and tree.left[i] >= 0:
            below[tree.left[i] : tree.left[i] + 2] = True
    return below


def _piece(curves: LeafCurves, i: int) -> LeafCurves:
    """Return the curve of node i as that of a forest of one node."""
    span = slice(curves.start[i], curves.start[i + 1])
    start = np.array([0, span.stop - span.start])
    return LeafCurves(start, curves.rank[span], curves.hazard[span], curves.of_cause[span])


def _joined(parts: list[LeafCurves]) -> LeafCurves:
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    start = np.concatenate([[0], np.cumsum(lengths)])
    _, rank, hazard, of_cause = zip(*parts, strict=True)
    return LeafCurves(start, np.concatenate(rank), np.concatenate(hazard), np.concatenate(of_cause))


def curves_of_groups(
    group: NDArray[np.int64],
    n_groups: int,
    counts: NDArray[np.float64],
    ranks: EventRanks,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> LeafCurves:
    """Return the curve of each of some groups of rows.

    Parameters
    ----------
    group : (n,) int64
        The group of each row; -1 if it is in none.
    n_groups : int
    counts : (n,) float64
        How often each row counts.
    ranks : EventRanks
    orders : pair of (n,) int64
        The rows in the order of their codes, and of their entries (empty if none is truncated).
    """
    sizes = np.bincount(group[group >= 0], minlength=n_groups)
    first = np.concatenate([[0], np.cumsum(sizes)])
    most = int(np.count_nonzero((group >= 0) & (ranks.code & 1 > 0)))
    start = np.zeros(n_groups + 1, dtype=np.int64)
    rank, hazard = np.empty(most, dtype=np.int32), np.empty(most)
    of_cause = _increments_of_causes(most, ranks.n_causes)
    exits, entries = np.empty(first[-1], dtype=np.int64), np.empty(0, dtype=np.int64)
    _deal(orders[0], group, first.copy(), exits)
    if len(ranks.entry):
        entries = np.empty(first[-1], dtype=np.int64)
        _deal(orders[1], group, first.copy(), entries)
    _walk(first, exits, entries, counts, ranks, start, rank, hazard, of_cause)
    used = slice(start[-1])
    return LeafCurves(start, rank[used].copy(), hazard[used].copy(), of_cause[used].copy())


def _increments_of_causes(most: int, n_causes: int) -> NDArray[np.float64]:
    """Return room for so many increments of each cause; none if there is one cause."""
    if n_causes == 1:
        return np.empty((0, 0))
    require_memory(
        8.0 * most * n_causes,
        f"increments of {n_causes} causes at {most} events",
        "leave categories of the event that never happen out, or use fewer causes",
    )
    return np.zeros((most, n_causes))


@kernel
def _deal(order, group, place, out):
    """Put the rows, in this order, into the places of their groups."""
    for row in order:
        if group[row] >= 0:
            out[place[group[row]]] = row
            place[group[row]] += 1


@kernel
def _walk(first, exits, entries, counts, ranks, start, rank, hazard, of_cause):
    """Write the increments of each group, whose rows are in the order of the ends of observation.

    `start` (groups + 1,) receives where those of each group begin; `of_cause` must be 0.
    """
    truncated, used = len(entries) > 0, 0
    for g in range(len(first) - 1):
        lo, hi, at_risk = first[g], first[g + 1], 0.0
        if not truncated:
            for i in range(lo, hi):
                at_risk += counts[exits[i]]
        i, entered = lo, lo
        while i < hi:
            r, tied, deaths, leaving = exit_rank(ranks.code[exits[i]]), i, 0.0, 0.0
            while i < hi and exit_rank(ranks.code[exits[i]]) == r:
                leaving += counts[exits[i]]
                deaths += counts[exits[i]] * has_event(ranks.code[exits[i]])
                i += 1
            if truncated:
                while entered < hi and ranks.entry[entries[entered]] < r:
                    at_risk += counts[entries[entered]]
                    entered += 1
            if deaths > 0.0:
                rank[used], hazard[used] = r, deaths / max(at_risk, deaths)
                if len(ranks.cause) > 0:
                    for j in range(tied, i):
                        if ranks.cause[exits[j]] > 0:
                            of_cause[used, ranks.cause[exits[j]] - 1] += counts[exits[j]]
                    for c in range(of_cause.shape[1]):
                        of_cause[used, c] /= max(at_risk, deaths)
                used += 1
            at_risk -= leaving
        start[g + 1] = used
