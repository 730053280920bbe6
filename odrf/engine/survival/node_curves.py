"""The Nelson–Aalen curves of all nodes of one tree, so that it can be pruned at any of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.rows.coded import Matrix
from odrf.engine.rows.draws import Draws
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.survival.leaf_curves import LeafCurves, curves_of_groups
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaf_nodes

__all__ = ["node_curves"]

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
