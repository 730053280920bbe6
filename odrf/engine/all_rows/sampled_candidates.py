"""The candidate directions of nodes whose rows are not in memory, fitted on samples of the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.all_rows.range_of_most import INNER_BINS, range_of_most
from odrf.engine.compiling import kernel
from odrf.engine.directions.missing import (
    FILL,
    clear_sides,
    fill_directions,
    is_two_sided,
)
from odrf.engine.directions.samplers import begin_samplers, draw_round, forget_levels, placed
from odrf.engine.growth.tree_kernel import GrowthScratch, ScratchPool
from odrf.engine.rows import Rows, project

__all__ = ["NodeCandidates", "node_candidates", "propose_on_sample", "stacked"]

FIRST = np.int32(0)
# The largest scale, where the range is too narrow to divide by.
LARGEST = np.finfo(np.float32).max


class NodeCandidates(NamedTuple):
    """The candidate directions of S nodes: up to C each, on up to W columns.

    Attributes
    ----------
    number : (S,) int64
        How many directions each node has.
    columns : (S, C, W) int64
    theta : (S, C, W) float32
    sizes : (S, C) int64
        Columns, coefficients and number of terms, as in
        `odrf.engine.directions.candidates.Proposals`.
    reliability : (S, C) float64
    two_sided : (S, C) bool
        As in `Proposals`.
    low, high : (S, C) float32
        The smallest and the largest projection of the sample, without empty cells and, as
        `range_of_most` says, without outliers.
    scale : (S, C) float32
        `INNER_BINS` over their difference; 0 if they are equal.
    """

    number: NDArray[np.int64]
    columns: NDArray[np.int64]
    theta: NDArray[np.float32]
    sizes: NDArray[np.int64]
    reliability: NDArray[np.float64]
    two_sided: NDArray[np.bool_]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    scale: NDArray[np.float32]


def node_candidates(
    state: NDArray[np.uint64], rows: Rows, n_rows: int, pool: ScratchPool, found: GrowthScratch
) -> NodeCandidates:
    """Return the candidate directions of one node of `n_rows` rows.

    Parameters
    ----------
    state : (4,) uint64
        The random stream of the node, advanced.
    rows : Rows
        A sample of its rows, in random order.
    n_rows : int
    pool : ScratchPool
    found : GrowthScratch
        Scratch for the sample: see `ScratchPool.of_branch`.
    """
    scratch, samplers = found.scratch, found.samplers
    in_place = placed(samplers, state, rows, pool.feature_groups, scratch.proposals, scratch.work)
    C, W = sum(sampler.number for sampler in samplers), scratch.proposals.columns.shape[1]
    proposed = _room_for(1, C, W)
    propose_on_sample(
        state, rows, n_rows, in_place.calls, scratch, scratch.proposals.empty, proposed
    )
    return proposed


def _room_for(S: int, C: int, W: int) -> NodeCandidates:
    return NodeCandidates(
        np.zeros(S, dtype=np.int64),
        np.zeros((S, C, W), dtype=np.int64),
        np.zeros((S, C, W), dtype=np.float32),
        np.zeros((S, C), dtype=np.int64),
        np.ones((S, C)),
        np.zeros((S, C), dtype=np.bool_),
        np.zeros((S, C), dtype=np.float32),
        np.zeros((S, C), dtype=np.float32),
        np.zeros((S, C), dtype=np.float32),
    )


def stacked(parts: list[NodeCandidates]) -> NodeCandidates:
    """Return the candidates of several nodes, each of which is given alone."""
    return NodeCandidates(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@kernel
def propose_on_sample(state, rows, n_rows, calls, scratch, empty, proposed):
    """Write the candidates of a node to `proposed`, which has room for one node.

    rows (m,) are the sample; scratch.values (≥ m,) and scratch.proposals are used.  `empty` is that
    of the proposals.
    """
    m, proposals, at = len(rows.y), scratch.proposals, 0
    forget_levels(scratch.work.levels)
    n_candidates = begin_samplers(calls)
    first = n_candidates - n_candidates
    while first < n_candidates:
        proposals.reliability[:] = 1.0
        clear_sides(proposals.two_sided)
        n, first = draw_round(calls, FIRST, m, n_rows, first)
        fill_directions(state, rows, FIRST, m, n, proposals, empty)
        for c in range(n):
            size = proposals.sizes[c]
            for j in range(size):
                proposed.columns[0, at, j] = proposals.columns[c, j]
                proposed.theta[0, at, j] = proposals.theta[c, j]
            proposed.sizes[0, at] = size
            proposed.reliability[0, at] = proposals.reliability[c]
            proposed.two_sided[0, at] = is_two_sided(proposals.two_sided, c)
            project(
                rows, FIRST, m, proposed.columns[0], proposed.theta[0], at, size, scratch.values
            )
            low, high = np.float32(np.inf), np.float32(-np.inf)
            for i in range(m):
                value = scratch.values[i]
                if abs(value) < FILL:
                    low, high = min(low, value), max(high, value)
            if low > high:  # all cells are empty
                low = high = np.float32(0.0)
            low, high = range_of_most(scratch.values[:m], low, high, scratch.tally)
            proposed.low[0, at], proposed.high[0, at] = low, high
            if high > low:
                proposed.scale[0, at] = min(np.float32(INNER_BINS) / (high - low), LARGEST)
            at += 1
    proposed.number[0] = at
