"""Grow a tree whose splits have surrogates, node by node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler, placed
from odrf.engine.growth.node_values import recompute_gains
from odrf.engine.growth.room import with_room
from odrf.engine.growth.tree_kernel import NEXT, NODES, TreeBuffers, grow_tree
from odrf.engine.parallel import end_if_stopped
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings
from odrf.engine.splits.searching import Scratch
from odrf.engine.surrogates.calls import SharedScratch, placed_surrogates
from odrf.engine.surrogates.scratch import SurrogateScratch
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits, no_surrogates

__all__ = ["grow_with_surrogates"]

# Small enough that one call grows one node.
ONE_NODE = 1


def grow_with_surrogates(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: Settings,
    state: NDArray[np.uint64],
    buffers: TreeBuffers,
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
    most: int,
    work: SurrogateScratch,
) -> tuple[TreeBuffers, SurrogateSplits]:
    """Grow a tree to its end, from where it has `reached`; return its buffers and surrogates.

    Other arguments are those of `odrf.engine.growth.growing_on.grow_on`.  The gain of a split
    that some rows have no value for is set to the decrease of impurity when all rows have been
    sent.
    """
    in_place = placed(samplers, state, rows, feature_groups, scratch.proposals, scratch.work)
    surrogates = placed_surrogates(state, rows, settings, _shared(scratch), work)
    calls = in_place.calls, surrogates.calls
    none = no_surrogates(1, work.marks)
    widest, of_nodes, n_before = scratch.columns.shape[1], [], int(reached[NEXT])
    incomplete = []
    while reached[NEXT] < reached[NODES]:
        end_if_stopped()
        buffers = with_room(buffers, reached, widest, most)
        node = int(reached[NEXT])
        grow_tree(
            rows, feature_groups, settings, state, buffers, scratch, *calls, reached, ONE_NODE
        )
        if buffers.left[node] < 0:
            of_nodes.append(none)
            continue
        of_nodes.append(_copied(work.chosen))
        if work.n_incomplete[0] > 0:
            incomplete.append(node)
    recompute_gains(buffers, np.array(incomplete, dtype=np.int64))
    return buffers, no_surrogates(n_before, work.marks).followed_by(of_nodes)


def _shared(scratch: Scratch) -> SharedScratch:
    """Return what surrogates share with the search for splits."""
    left = np.empty(0) if scratch.left is None else scratch.left
    return SharedScratch(
        scratch.proposals,
        scratch.gains,
        scratch.thresholds,
        left,
        scratch.table,
        scratch.logs,
        scratch.columns,
        scratch.theta,
        scratch.values,
    )


def _copied(chosen: SurrogateSplits) -> SurrogateSplits:
    """Return a copy of the surrogates of one node, without the room for more."""
    return chosen.of_nodes(np.zeros(1, dtype=np.int64))
