"""The three passes over a file of rows that split all open nodes of a level.

A pass is divided into a fixed number of tasks, whose sums are added in their order: so that the
sums are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.all_rows.bin_sums import (
    BINS,
    FINE,
    ROWS,
    add_to_bins,
    add_to_fine_bins,
    order_by_slots,
    write_moments,
)
from odrf.engine.all_rows.sampled_candidates import NodeCandidates
from odrf.engine.all_rows.sending_rows import LEFT, RIGHT, send_stripe
from odrf.engine.chunks import Recipe, TreeRows, mark_drawn
from odrf.engine.factors import with_rows
from odrf.engine.growth.tree_builder import read_by_growth
from odrf.engine.rows import Rows, rows_at
from odrf.engine.running import end_if_stopped, in_order
from odrf.engine.splits.impurity import uses_moments
from odrf.fits.all_rows.row_file import RowFile, Stripe

__all__ = ["Cuts", "FineSums", "LevelPasses", "Sent"]

# Tasks of a pass.
TASKS = 32
# Bytes of the sums of a task: more nodes than they suffice for are split by further passes.
SUMS = 2**25

Found = TypeVar("Found")


class FineSums(NamedTuple):
    """Sums around the cut of each of S nodes; see `add_to_fine_bins`."""

    sums: NDArray[np.float64]
    least: NDArray[np.float32]
    largest: NDArray[np.float32]


class Cuts(NamedTuple):
    """The splits of S nodes: see `odrf.engine.all_rows.sending_rows.send_stripe`.

    Attributes
    ----------
    columns, theta : (S, W)
    sizes : (S,) int64
    threshold : (S,) float32
    first : (S,) int32
    keys : (S, 2) uint64
        Of the samples of the children.
    shares : (S, 2) float64
        The share of their rows that is sampled.
    """

    columns: NDArray[np.int64]
    theta: NDArray[np.float32]
    sizes: NDArray[np.int64]
    threshold: NDArray[np.float32]
    first: NDArray[np.int32]
    keys: NDArray[np.uint64]
    shares: NDArray[np.float64]


class Sent(NamedTuple):
    """What the sides of S splits sum up, and samples of their rows.

    Attributes
    ----------
    sums : (S, 2, 2 + K) or (S, 2, 4) float64
    low, high : (S, 2) float64
        As by `send_stripe`.
    samples : list of lists of TreeRows
        Pieces of the samples of the children, from left to right.
    """

    sums: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    samples: list[list[TreeRows]]


class LevelPasses:
    """Passes over a file of rows.

    Parameters
    ----------
    file : RowFile
    recipe : Recipe
    n_jobs : int
        Threads.
    """

    def __init__(self, file: RowFile, recipe: Recipe, n_jobs: int) -> None:
        self.file, self.recipe, self.n_jobs = file, recipe, n_jobs
        K = recipe.settings.n_classes
        self._moments = bool(uses_moments(K))
        self.n_sums = (2 if file.unit else 3) if self._moments else 1 + K
        self._kept = 4 if K == 1 else 2 + K

    def nodes_at_once(self, C: int) -> int:
        """Return for how many nodes of C candidates one pass adds up the sums."""
        return max(1, SUMS // (8 * C * BINS * self.n_sums))

    def bin_sums(
        self, slots: NDArray[np.int32], candidates: NodeCandidates, centre: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the sums (S, C, BINS, Q) over all rows of S nodes.

        slots (nodes,) are those of all nodes, -1 for others than these; centre (S,) is what moments
        are taken around.
        """
        shape = (*candidates.sizes.shape, BINS, self.n_sums)

        def add(stripes: range) -> NDArray[np.float64]:
            sums, values = np.zeros(shape), np.empty(ROWS, dtype=np.float32)
            bins = np.empty(ROWS, dtype=np.uint8)
            for stripe in self._read(stripes):
                rows, begin = self._ordered(stripe, slots, len(centre), copied=True)
                moments = self._moments_of(rows, begin, centre)
                add_to_bins(rows, begin, candidates, moments, values, bins, sums)
            return sums

        total = np.zeros(shape)
        for sums in self._tasks(add):
            total += sums
        return total

    def fine_sums(
        self,
        slots: NDArray[np.int32],
        best: NodeCandidates,
        at: NDArray[np.int64],
        above: NDArray[np.int64],
        centre: NDArray[np.float64],
    ) -> FineSums:
        """Return the sums around the cuts of the best directions; see `add_to_fine_bins`."""
        shape = len(centre), 1 + 2 * FINE

        def nothing() -> FineSums:
            least = np.full(shape, np.inf, dtype=np.float32)
            return FineSums(np.zeros((*shape, self.n_sums)), least, -least)

        def add(stripes: range) -> FineSums:
            found, values = nothing(), np.empty(ROWS, dtype=np.float32)
            for stripe in self._read(stripes):
                rows, begin = self._ordered(stripe, slots, len(centre), copied=False)
                moments = self._moments_of(rows, begin, centre)
                add_to_fine_bins(rows, begin, best, at, above, moments, values, *found)
            return found

        total = nothing()
        for found in self._tasks(add):
            total = FineSums(
                total.sums + found.sums,
                np.minimum(total.least, found.least),
                np.maximum(total.largest, found.largest),
            )
        return total

    def send(self, slots: NDArray[np.int32], cuts: Cuts, centre: NDArray[np.float64]) -> Sent:
        """Send the rows of all nodes that are split to their children, and sample the children.

        centre (S,) is a value around which responses that are numbers are added up.
        """
        S = len(cuts.first)
        centre = centre if self.recipe.settings.n_classes == 1 else np.empty(0)

        def nothing() -> Sent:
            low = np.full((S, 2), np.inf)
            return Sent(np.zeros((S, 2, self._kept)), low, -low, [[] for _ in range(2 * S)])

        def send(stripes: range) -> Sent:
            found = nothing()
            for stripe in self._read(stripes):
                rows, begin = self._ordered(stripe, slots, S, copied=False)
                values = np.empty(len(rows.at), dtype=np.float32)
                send_stripe(
                    rows, begin, cuts.columns, cuts.theta, cuts.sizes, cuts.threshold, cuts.first,
                    centre, values, stripe.nodes, found.sums, found.low, found.high,
                )  # fmt: skip
                self.file.write_nodes(stripe)
                _sample(stripe, rows, begin, cuts, found.samples)
            return found

        total = nothing()
        for found in self._tasks(send):
            for pieces, more in zip(total.samples, found.samples, strict=True):
                pieces += more
            total = Sent(
                total.sums + found.sums,
                np.minimum(total.low, found.low),
                np.maximum(total.high, found.high),
                total.samples,
            )
        return total

    def _tasks(self, function: Callable[[range], Found]) -> Iterator[Found]:
        """Yield what the function returns for ranges of stripes, in their order."""
        n = self.file.n_stripes
        ends = np.unique(np.linspace(0, n, min(TASKS, n) + 1).astype(np.int64)).tolist()
        ranges = [range(a, b) for a, b in pairwise(ends)]
        return in_order(function, ranges, self.n_jobs, self.file.n * self.file.n_stored)

    def _read(self, stripes: range) -> Iterator[Stripe]:
        for k in stripes:
            end_if_stopped()
            yield self.file.read(k)

    def _ordered(
        self, stripe: Stripe, slots: NDArray[np.int32], S: int, copied: bool
    ) -> tuple[Rows, NDArray[np.int64]]:
        """Return the rows of a stripe that are in nodes with a slot, and where each slot begins."""
        begin, order = np.empty(S + 1, dtype=np.int64), np.empty(len(stripe.y), dtype=np.int32)
        order_by_slots(stripe.nodes, slots, begin, order)
        X, factors = read_by_growth(stripe.X, self.recipe.feature_groups, self.recipe.mixture)
        once = np.ones(len(stripe.y), dtype=np.int64)
        at = order[: begin[-1]].astype(np.int64)
        return rows_at(at, X, stripe.y, stripe.weights, once, copied, factors), begin

    def _moments_of(
        self, rows: Rows, begin: NDArray[np.int64], centre: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        moments = np.empty(len(rows.y) if self._moments else 0)
        if self._moments:
            write_moments(rows, begin, centre, moments)
        return moments


def _sample(
    stripe: Stripe,
    rows: Rows,
    begin: NDArray[np.int64],
    cuts: Cuts,
    samples: list[list[TreeRows]],
) -> None:
    """Append to the samples of the children the rows of a stripe that a hash of their number draws.

    `samples` are those of both children of each split.
    """
    for s in range(len(cuts.first)):
        at = rows.at[begin[s] : begin[s + 1]]
        for side in (LEFT, RIGHT):
            of_side = at[stripe.nodes[at] == cuts.first[s] + side]
            drawn = np.empty((1, len(of_side)), dtype=np.bool_)
            numbers = (stripe.begin + of_side).astype(np.uint64)
            mark_drawn(cuts.keys[s, side : side + 1], numbers, cuts.shares[s, side], drawn)
            chosen = of_side[drawn[0]]
            X = with_rows(stripe.X, chosen)
            samples[2 * s + side].append(TreeRows(X, stripe.y[chosen], stripe.weights[chosen]))
