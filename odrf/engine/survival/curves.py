"""The Nelson–Aalen curves and incidences of leaves and nodes, and their means over trees.

A curve is kept sparsely: the ranks of the event times in its leaf, and the increment of the
cumulative hazard at each.  The leaves of a tree that have rows have at most as many of them as the
tree drew rows with events.  If events have several causes, each increment is also divided among
these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.resamples import Draws
from odrf.engine.running import in_blocks, in_order
from odrf.engine.survival.event_ranks import EventRanks, exit_rank, has_event
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import EVERY_ROW, leaf_nodes, leaves_of, routing_blocks

# Trees whose rows are sent down together: so many leaves of rows at most.
TOGETHER = 2**22


class LeafCurves(NamedTuple):
    """The curves of the leaves of a forest of m nodes; nodes that are split have none.

    `start` (m + 1,): the increments of node i are those from ``start[i]`` to ``start[i + 1]``.
    `rank` (E,): the event time of each increment, by its rank 1 … R; ascending within a node.
    `hazard` (E,): events divided by rows at risk, both weighted.  `of_cause` (E, C): the same for
    the events of each cause; they add up to `hazard`.  Empty, (0, 0), if there is one cause.
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
    tree: Forest, leaf: NDArray[np.int64], counts: NDArray[np.float64], ranks: EventRanks,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> LeafCurves:  # fmt: skip
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
    tree: Forest, leaf: NDArray[np.int64], counts: NDArray[np.float64], ranks: EventRanks,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]], empty: NDArray[np.int64],
) -> LeafCurves:  # fmt: skip
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
    group: NDArray[np.int64], n_groups: int, counts: NDArray[np.float64], ranks: EventRanks,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> LeafCurves:  # fmt: skip
    """Return the curve of each of some groups of rows.

    group (n,) is the group of each row, -1 if it is in none; counts (n,) how often it counts.
    `orders` are the rows in the order of their codes, and of their entries (empty if none is
    truncated).
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
    """Write increments of groups of rows sorted by their ends, and their `start` (groups + 1,)."""
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


# The Nelson–Aalen curves of all nodes of one tree, so that it can be pruned at any of them.

# Of a step of a curve: its rank and its increment, and both again while levels are put together.
BYTES = 2.0 * (4 + 8)


def node_curves(tree: Forest, X: Matrix, ranks: EventRanks, draws: Draws) -> LeafCurves:
    """Return the curve of every node of a forest of one tree, from the training rows X (p, n).

    They are those of the rows that the tree drew; in an honest tree, of those that did not choose
    its splits.  A node without rows has the curve of the nearest node above that has some.  The
    curves of one level have at most one increment for each row with an event.
    """
    orders = np.argsort(ranks.code, kind="stable"), np.argsort(ranks.entry, kind="stable")
    counts = draws.filling(0) * draws.weights
    at = np.where(counts > 0, leaf_nodes(tree, X, draws.n_jobs)[:, 0], -1)
    depth, parents, m = tree.depth(), tree.parents(), tree.n_nodes
    steps = int((depth[at[(at >= 0) & (ranks.code & 1 > 0)]] + 1).sum())
    require_memory(
        BYTES * steps,
        f"curves of {m} nodes, which have {steps} steps",
        "use fewer leaves (max_leaves=), or fewer levels of them (max_depth=)",
    )
    present, levels = np.zeros(m, dtype=np.bool_), []
    for level in range(int(depth.max()), -1, -1):
        here = (at >= 0) & (depth[at] == level)
        present[at[here]] = True
        levels.append(curves_of_groups(np.where(here, at, -1), m, counts, ranks, orders))
        at = np.where(here, parents[at], at)
    return _inheriting(_together(levels), parents, present)


def _together(levels: list[LeafCurves]) -> LeafCurves:
    """Return the curves of all levels, each of which has those of other nodes."""
    lengths = [np.diff(level.start) for level in levels]
    start = np.concatenate([[0], np.cumsum(np.sum(lengths, axis=0))])
    place = np.concatenate(
        [
            np.arange(len(level.rank)) + np.repeat(start[:-1] - level.start[:-1], length)
            for level, length in zip(levels, lengths, strict=True)
        ]
    )
    _, rank, hazard, of_cause = zip(*levels, strict=True)
    whole = LeafCurves(
        start, np.concatenate(rank), np.concatenate(hazard), np.concatenate(of_cause)
    )
    return _taken(whole, start, np.argsort(place))


def _taken(curves: LeafCurves, start: NDArray[np.int64], entries: NDArray[np.int64]) -> LeafCurves:
    """Return curves made of these entries (E,) of others."""
    of_cause = curves.of_cause[entries] if len(curves.of_cause) else curves.of_cause
    return LeafCurves(start, curves.rank[entries], curves.hazard[entries], of_cause)


def _inheriting(
    curves: LeafCurves, parents: NDArray[np.int64], present: NDArray[np.bool_]
) -> LeafCurves:
    """Return the curves, those of nodes that are not `present` from the nearest above that are."""
    source = np.arange(len(parents))
    for i in np.flatnonzero(~present):  # a parent's number is below its children's
        source[i] = source[max(parents[i], 0)]
    length = np.diff(curves.start)[source]
    start = np.concatenate([[0], np.cumsum(length)])
    taken = np.arange(start[-1]) + np.repeat(curves.start[:-1][source] - start[:-1], length)
    return _taken(curves, start, taken)


# Means over the trees of the curves of the leaves that rows reach.


def mean_curves(
    forest: Forest, curves: LeafCurves, X: Matrix, grid: NDArray[np.int64], survival: bool,
    n_jobs: int, wanted: NDArray[np.bool_] = EVERY_ROW,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the mean (n, G) over the trees of survival, or of cumulative hazard.

    Survival is by Kaplan and Meier; the cumulative hazard, if not `survival`, by Nelson and Aalen.
    grid (G,) has ranks of event times, ascending; 0 is the time before the first event.  `wanted`
    (B, n) says which trees are averaged for each row, by default all; NaN for a row without any.
    `advance` is called with the number of rows that are done.
    """
    n = X.shape[1]
    require_memory(
        8.0 * n * len(grid),
        f"curves of {n} rows at {len(grid)} times",
        "predict fewer rows, or fewer times=",
    )
    out, packed = np.zeros((n, len(grid))), forest.packed_for(X)

    def run(block: slice) -> None:
        leaves = leaves_of(packed, X, block, wanted)
        _add_hazards(
            leaves, wanted, block.start, curves.start, curves.rank, curves.hazard, grid, survival,
            out[block],
        )  # fmt: skip

    for _ in in_blocks(run, routing_blocks(forest, X, n_jobs), n_jobs, advance):
        pass
    return out


@kernel
def _add_hazards(leaves, wanted, lo, start, rank, hazard, grid, survival, out):
    """Write to out (m, G), which must be 0, the mean curves of rows in the leaves (B, m)."""
    n_rows, G = len(out), len(grid)
    votes = 0
    for i in range(n_rows):
        votes = 0
        for b in range(len(leaves)):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            votes += 1
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            value = 1.0 if survival else 0.0
            for g in range(G):
                while entry < last and rank[entry] <= grid[g]:
                    if survival:
                        value *= 1.0 - hazard[entry]
                    else:
                        value += hazard[entry]
                    entry += 1
                out[i, g] += value
        for g in range(G):
            out[i, g] = out[i, g] / votes if votes > 0 else np.nan


# Means over the trees of the cumulative incidences of causes in the leaves that rows reach.


def mean_incidences(
    forest: Forest, curves: LeafCurves, X: Matrix, grid: NDArray[np.int64],
    causes: NDArray[np.int64], n_jobs: int, wanted: NDArray[np.bool_] = EVERY_ROW,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the mean (n, K, G) over the trees of the incidences of some causes.

    The incidence of a cause in a leaf is the Aalen–Johansen estimate from its rows: the sum over
    the event times of the survival just before, times the increment of the hazard of the cause.
    Incidences of all causes and survival add up to 1.  causes (K,) count from 0; the other
    arguments are those of `mean_curves`, and a row without a tree has NaN.
    """
    n, K, G = X.shape[1], len(causes), len(grid)
    require_memory(
        8.0 * n * K * G,
        f"incidences of {K} causes for {n} rows at {G} times",
        "predict fewer rows, fewer times=, or one cause=",
    )
    out, packed = np.zeros((n, K, G)), forest.packed_for(X)

    def run(block: slice) -> None:
        leaves = leaves_of(packed, X, block, wanted)
        _add_incidences(
            leaves, wanted, block.start, curves.start, curves.rank, curves.hazard, curves.by_cause,
            grid, causes, np.empty(K), out[block],
        )  # fmt: skip

    for _ in in_blocks(run, routing_blocks(forest, X, n_jobs), n_jobs, advance):
        pass
    return out


@kernel
def _add_incidences(
    leaves, wanted, lo, start, rank, hazard, by_cause, grid, causes, incidence, out
):
    """Write to out (m, K, G), 0 before, mean incidences of rows in leaves (B, m)."""
    for i in range(len(out)):
        votes = 0
        for b in range(len(leaves)):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            votes += 1
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            survival = 1.0
            incidence[:] = 0.0
            for g in range(len(grid)):
                while entry < last and rank[entry] <= grid[g]:
                    for k in range(len(causes)):
                        incidence[k] += survival * by_cause[entry, causes[k]]
                    survival *= 1.0 - hazard[entry]
                    entry += 1
                for k in range(len(causes)):
                    out[i, k, g] += incidence[k]
        for k in range(len(causes)):
            for g in range(len(grid)):
                out[i, k, g] = out[i, k, g] / votes if votes > 0 else np.nan


# Survival, or incidence of a cause, of each tree at some times: curves of leaves of rows.


def survival_of_trees(
    forest: Forest, curves: LeafCurves, X: Matrix, grid: NDArray[np.int64], block: slice,
    wanted: NDArray[np.bool_] = EVERY_ROW,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the survival (B, m, G) that each tree predicts for a block of m rows.

    grid (G,) has ranks of event times, ascending; 0 is the time before the first event.  `wanted`
    (B, n) says which trees predict each row, by default all; the values of others are 0.
    """
    leaves = leaves_of(forest.packed_for(X), X, block, wanted)
    out = np.zeros((*leaves.shape, len(grid)))
    _write_survival(
        leaves, wanted, block.start, curves.start, curves.rank, curves.hazard, grid, out
    )
    return out


def incidence_of_trees(
    forest: Forest, curves: LeafCurves, X: Matrix, grid: NDArray[np.int64], cause: int,
    block: slice, wanted: NDArray[np.bool_] = EVERY_ROW,
) -> NDArray[np.float64]:  # fmt: skip
    """Return each tree's Aalen–Johansen incidence (B, m, G), as `survival_of_trees`."""
    leaves = leaves_of(forest.packed_for(X), X, block, wanted)
    out = np.zeros((*leaves.shape, len(grid)))
    _write_incidence(
        leaves, wanted, block.start, curves.start, curves.rank, curves.hazard,
        curves.by_cause[:, cause], grid, out,
    )  # fmt: skip
    return out


@kernel
def _write_survival(leaves, wanted, lo, start, rank, hazard, grid, out):
    """Write to out (B, m, G), which must be 0, the survival in the leaves (B, m)."""
    B, m, G = out.shape
    for b in range(B):
        for i in range(m):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            value = 1.0
            for g in range(G):
                while entry < last and rank[entry] <= grid[g]:
                    value *= 1.0 - hazard[entry]
                    entry += 1
                out[b, i, g] = value


@kernel
def _write_incidence(leaves, wanted, lo, start, rank, hazard, of_cause, grid, out):
    """Write to out (B, m, G), which must be 0, the incidence in the leaves (B, m)."""
    B, m, G = out.shape
    for b in range(B):
        for i in range(m):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            survival, value = 1.0, 0.0
            for g in range(G):
                while entry < last and rank[entry] <= grid[g]:
                    value += survival * of_cause[entry]
                    survival *= 1.0 - hazard[entry]
                    entry += 1
                out[b, i, g] = value
