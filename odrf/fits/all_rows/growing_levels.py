"""The upper nodes of a tree of all rows, level by level, until the rows of a node fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.all_rows.cuts_of_bins import choose_candidate, refined_cut_of_sums
from odrf.engine.all_rows.grafting import Crown, CrownSplit
from odrf.engine.all_rows.sampled_candidates import NodeCandidates, node_candidates, stacked
from odrf.engine.all_rows.sending_rows import (
    LEFT,
    RIGHT,
    NodeSums,
    described_side,
    of_sample,
    settle_split,
)
from odrf.engine.chunks import Recipe, TreeRows, joined_rows
from odrf.engine.directions.candidates import count_terms
from odrf.engine.growth.tree_builder import read_by_growth
from odrf.engine.growth.tree_kernel import GrowthScratch, ScratchPool
from odrf.engine.numeric import branched, shuffle_front
from odrf.engine.rows import Rows, rows_at
from odrf.engine.running import in_order
from odrf.engine.splits.impurity import NEGLIGIBLE, Node, whole_logs
from odrf.fits.all_rows.level_passes import Cuts, FineSums, LevelPasses
from odrf.fits.all_rows.row_file import RowFile

__all__ = ["GrownCrown", "LowerBranch", "grow_crown", "sample_size"]

# Rows on which the directions of a node are fitted, or ten for each term or level, if more.
SAMPLE, FOR_EACH = 2**13, 10
# The stream of a node that draws its sample; those of its children have other keys.
OF_SAMPLE = 2
# Room for one node: the buffers of growth are not used.
ONE = 1


class LowerBranch(NamedTuple):
    """A node of few rows, below which the tree grows in memory.

    Attributes
    ----------
    number : int
        The number of the node in the crown.
    depth : int
    n_rows : int
        Its rows.
    state : (4,) uint64
        Its random stream.
    """

    number: int
    depth: int
    n_rows: int
    state: NDArray[np.uint64]


class GrownCrown(NamedTuple):
    """The upper nodes, and the branches that are to grow below them.

    Attributes
    ----------
    crown : Crown
    branches : list of LowerBranch
    levels : int
        Levels of nodes whose rows were not in memory.
    """

    crown: Crown
    branches: list[LowerBranch]
    levels: int


class _Open(NamedTuple):
    """A node that is to be split, with a sample of its rows."""

    number: int
    depth: int
    state: NDArray[np.uint64]
    sample: TreeRows


class _Proposed(NamedTuple):
    """An open node with its candidates, and the sample in the order of its shuffled rows."""

    node: _Open
    rows: Rows
    found: GrowthScratch
    candidates: NodeCandidates


class _Chosen(NamedTuple):
    """An open node with its best direction, the only candidate, and the bins beside the cut."""

    proposed: _Proposed
    direction: NodeCandidates
    at: int
    above: int


class _NodeCut(NamedTuple):
    """An open node with its split, and how many of its rows go left."""

    node: _Open
    threshold: np.float32
    columns: NDArray[np.int64]
    theta: NDArray[np.float32]
    n_left: float


def sample_size(recipe: Recipe) -> int:
    """Return about how many rows of a node its directions are fitted on."""
    groups = recipe.feature_groups
    terms, levels = int(count_terms(groups).sum()), int(groups.widths.max(initial=0))
    most_terms = max(terms, levels) if recipe.mixture.estimated(groups, recipe.settings, 2) else 0
    return max(SAMPLE, FOR_EACH * max(most_terms, levels))


def grow_crown(
    file: RowFile,
    recipe: Recipe,
    root: NodeSums,
    sample: TreeRows,
    state: NDArray[np.uint64],
    rows_in_memory: int,
    n_jobs: int,
) -> GrownCrown:
    """Grow the nodes of more than `rows_in_memory` rows.

    Parameters
    ----------
    file : RowFile
        All rows, of which each has reached node 0; it then has the nodes that they reach.
    recipe : Recipe
    root : NodeSums
        All rows.
    sample : TreeRows
        About `sample_size` of them.
    state : (4,) uint64
        The random stream of the tree.
    rows_in_memory, n_jobs : int
    """
    growing = _Growing(file, recipe, rows_in_memory, n_jobs, Crown([root]), [])
    level = growing.opened(0, 0, state, sample)
    levels = 0
    while level:
        level = growing.next_level(level)
        levels += 1
    return GrownCrown(growing.crown, growing.branches, levels)


@dataclass
class _Growing:
    """A crown that grows."""

    file: RowFile
    recipe: Recipe
    rows_in_memory: int
    n_jobs: int
    crown: Crown
    branches: list[LowerBranch]

    def __post_init__(self) -> None:
        self._settings = self.recipe.settings
        self._pool = ScratchPool(self.recipe.feature_groups, self._settings, self.recipe.mixture)
        self._passes = LevelPasses(self.file, self.recipe, self.n_jobs)

    def opened(
        self, number: int, depth: int, state: NDArray[np.uint64], sample: TreeRows
    ) -> list[_Open]:
        """Return the node if it is to be split here; note it if its branch grows in memory."""
        sums, settings = self.crown.sums[number], self._settings
        splittable = (
            depth < settings.max_depth
            and sums.n_rows >= 2 * settings.min_leaf
            and sums.impurity > NEGLIGIBLE * self.crown.sums[0].impurity
        )
        if splittable and sums.n_rows > self.rows_in_memory:
            return [_Open(number, depth, state, sample)]
        if splittable:
            self.branches.append(LowerBranch(number, depth, sums.n_rows, state))
        return []

    def next_level(self, level: list[_Open]) -> list[_Open]:
        """Split the nodes of a level; return those of the next one."""
        left = self._settings.max_leaves - 1 - len(self.crown.splits)
        level = level[: max(left, 0)]
        proposed = list(in_order(self._proposed, level, self.n_jobs))
        chosen = self._chosen(proposed)
        cuts = self._cuts(chosen) if chosen else []
        return self._sent(cuts) if cuts else []

    def _proposed(self, node: _Open) -> _Proposed:
        """Return the candidates of a node, which need its sample only."""
        sample, m = node.sample, len(node.sample.y)
        order = np.arange(m)
        shuffle_front(node.state, order, m)
        X, factors = read_by_growth(sample.X, self.recipe.feature_groups, self.recipe.mixture)
        once = np.ones(m, dtype=np.int64)
        rows = rows_at(order, X, sample.y, sample.weights, once, True, factors)
        logs = whole_logs(self._settings.criterion, m)
        found = self._pool.of_branch(m, self.file.n, logs, ONE)
        count = self.crown.sums[node.number].n_rows
        return _Proposed(
            node, rows, found, node_candidates(node.state, rows, count, self._pool, found)
        )

    def _chosen(self, proposed: list[_Proposed]) -> list[_Chosen]:
        """Return the nodes that have a candidate with a gain, and the best candidate."""
        chosen: list[_Chosen] = []
        if not proposed:
            return chosen
        at_once = self._passes.nodes_at_once(proposed[0].candidates.sizes.shape[1])
        for begin in range(0, len(proposed), at_once):
            some = proposed[begin : begin + at_once]
            candidates = stacked([each.candidates for each in some])
            slots, centre = self._slots([each.node for each in some])
            sums = self._passes.bin_sums(slots, candidates, centre)
            for s, each in enumerate(some):
                c, at, above, turned = choose_candidate(
                    sums[s], candidates.number[s], candidates.sizes[s], candidates.reliability[s],
                    candidates.two_sided[s], self._settings.penalty, self._settings.min_leaf,
                    self._node(each.node), np.zeros(self._passes.n_sums),
                    np.empty(self._settings.n_classes),
                )  # fmt: skip
                if c >= 0:
                    direction = _alone(each.candidates, c)
                    if turned:
                        direction.theta[0, 0, 1] *= -1
                    chosen.append(_Chosen(each, direction, at, above))
        return chosen

    def _cuts(self, chosen: list[_Chosen]) -> list[_NodeCut]:
        """Return the splits, whose cuts are refined by one more pass."""
        slots, centre = self._slots([each.proposed.node for each in chosen])
        best = stacked([each.direction for each in chosen])
        at, above = np.array([(each.at, each.above) for each in chosen], dtype=np.int64).T
        fine = self._passes.fine_sums(slots, best, at.copy(), above.copy(), centre)
        found = [self._refined(each, FineSums(*parts)) for each, *parts in
                 zip(chosen, *fine, strict=True)]  # fmt: skip
        return [cut for cut in found if cut is not None]

    def _refined(self, chosen: _Chosen, fine: FineSums) -> _NodeCut | None:
        node, rows, found, _ = chosen.proposed
        sums, scratch, settings = self._node(node), found.scratch, self._settings
        left = np.empty(settings.n_classes)
        gain, threshold, n_left = refined_cut_of_sums(*fine, settings.min_leaf, sums, left)
        if gain <= NEGLIGIBLE * sums.impurity:
            return None
        size = int(chosen.direction.sizes[0, 0])
        scratch.columns[0, :size] = chosen.direction.columns[0, 0, :size]
        scratch.theta[0, :size] = chosen.direction.theta[0, 0, :size]
        of_rows = of_sample(rows, self.crown.sums[node.number], settings.criterion)
        threshold, size = settle_split(
            rows, of_rows, self._pool.feature_groups, size, np.float32(threshold), scratch,
            scratch.proposals.empty,
        )  # fmt: skip
        columns, theta = scratch.columns[0, :size].copy(), scratch.theta[0, :size].copy()
        return _NodeCut(node, np.float32(threshold), columns, theta, n_left)

    def _sent(self, cuts: list[_NodeCut]) -> list[_Open]:
        """Send the rows to the children; return those that are to be split next."""
        slots, _ = self._slots([cut.node for cut in cuts])
        parents = [self.crown.sums[cut.node.number] for cut in cuts]
        centre = np.array([sums.value[0] for sums in parents])
        first = len(self.crown.sums) + 2 * np.arange(len(cuts), dtype=np.int32)
        states = [[branched(cut.node.state, side) for side in (LEFT, RIGHT)] for cut in cuts]
        sent = self._passes.send(slots, self._as_arrays(cuts, first, states), centre)
        level: list[_Open] = []
        criterion = self._settings.criterion
        for s, (cut, sums) in enumerate(zip(cuts, parents, strict=True)):
            left, right = (
                described_side(
                    sent.sums[s, i], sent.low[s, i], sent.high[s, i], centre[s], criterion
                )
                for i in (LEFT, RIGHT)
            )
            remains = (left.weight * left.impurity + right.weight * right.impurity) / sums.weight
            self.crown.splits[cut.node.number] = CrownSplit(
                int(first[s]), cut.threshold, cut.columns, cut.theta,
                max(sums.impurity - remains, 0.0),
            )  # fmt: skip
            self.crown.sums += [left, right]
        for s, cut in enumerate(cuts):
            for side in (LEFT, RIGHT):
                sample = joined_rows(sent.samples[2 * s + side])
                number, depth = int(first[s]) + side, cut.node.depth + 1
                level += self.opened(number, depth, states[s][side], sample)
        return level

    def _as_arrays(
        self, cuts: list[_NodeCut], first: NDArray[np.int32], states: list[list[NDArray[np.uint64]]]
    ) -> Cuts:
        S, widest = len(cuts), max(len(cut.theta) for cut in cuts)
        columns, theta = np.zeros((S, widest), np.int64), np.zeros((S, widest), np.float32)
        shares, wanted = np.empty((S, 2)), sample_size(self.recipe)
        for s, cut in enumerate(cuts):
            columns[s, : len(cut.theta)], theta[s, : len(cut.theta)] = cut.columns, cut.theta
            n_right = self.crown.sums[cut.node.number].n_rows - cut.n_left
            # rows with levels that the sample has not may go to the other side than expected
            expected = np.maximum([cut.n_left, n_right], self.rows_in_memory / 2)
            shares[s] = np.minimum(wanted / expected, 1.0)
        sizes = np.array([len(cut.theta) for cut in cuts])
        threshold = np.array([cut.threshold for cut in cuts], dtype=np.float32)
        keys = np.array([[branched(state, OF_SAMPLE)[0] for state in both] for both in states])
        return Cuts(columns, theta, sizes, threshold, first, keys, shares)

    def _slots(self, nodes: list[_Open]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the slots of all nodes, -1 for others than these, and the centres of these."""
        slots = np.full(len(self.crown.sums), -1, dtype=np.int32)
        for s, node in enumerate(nodes):
            slots[node.number] = s
        criterion = self._settings.criterion
        return slots, np.array([self.crown.sums[n.number].centre(criterion) for n in nodes])

    def _node(self, node: _Open) -> Node:
        return self.crown.sums[node.number].as_node(self._settings.criterion, self.file.unit)


def _alone(candidates: NodeCandidates, c: int) -> NodeCandidates:
    """Return candidate c of one node."""
    others: list[Any] = [each[:, c : c + 1].copy() for each in candidates[1:]]
    return NodeCandidates(np.ones_like(candidates.number), *others)
