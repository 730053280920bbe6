"""Trees that go on growing on rows that are added to theirs.

Every split stays.  All rows that a tree has drawn, old and new, run down it, its nodes say what
these do, and leaves in which something is new are searched as growth searches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.branching import whole, with_branches
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.forest import Forest
from odrf.engine.growing import NODES, Trunk, grow_tree, trunk_for
from odrf.engine.growth import FIRST_ROOM, as_tree, grow_on, pays_to_copy
from odrf.engine.honesty import fill
from odrf.engine.impurity import whole_logs
from odrf.engine.laws import Source
from odrf.engine.parallel import in_order
from odrf.engine.proposals import Blocks
from odrf.engine.randomness import branched
from odrf.engine.rows import Rows, gather_rows, rows_at
from odrf.engine.sampling import Sampling, draw_halves
from odrf.engine.searching import scratch_for
from odrf.engine.settings import Settings
from odrf.engine.turning import turned, turned_back, turned_blocks

__all__ = ["Updated", "update_trees"]

# Which branches of a tree's stream it grows by once it is updated.
GROWTH = 2


class Updated(NamedTuple):
    """A tree that has gone on growing.

    Attributes
    ----------
    tree : Forest
    drawn : int
        How many of the new rows it drew, repetitions counted.
    revisited : int
        How many of its leaves were looked at again.
    depth_before, depth : int
        Most splits between root and leaf.
    """

    tree: Forest
    drawn: int
    revisited: int
    depth_before: int
    depth: int


def update_trees(
    trees: Sequence[Forest],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    blocks: Blocks,
    sampling: Sampling,
    settings: Settings,
    source: Source,
    streams: NDArray[np.uint64],
    most_before: int,
    n_jobs: int,
    advance: Callable[[], object],
) -> Iterator[Updated]:
    """Let trees of one kind go on growing; yield them in their order.

    Parameters
    ----------
    trees : sequence of Forest
        Forests of one.
    X, y, weights
        All training rows, as in `odrf.engine.growth.grow_forest`: those that the trees know, then
        the new ones.
    blocks, settings, source
        As there.
    sampling : Sampling
        How each tree's rows are drawn; its last batch are the new rows.
    streams : (B, 4) uint64
        Random stream of each tree.
    most_before : int
        The most leaves that the trees were allowed until now.
    n_jobs : int
        Threads; the trees are the same for any number.
    advance : callable
        Called after each tree, in the order of the trees.
    """
    copied = pays_to_copy(X.shape[0], source.looked_at(blocks, settings, len(y)))

    def update(b: int) -> Updated:
        return _update_one(
            trees[b], X, y, weights, blocks, sampling, settings, source, streams[b], most_before,
            copied,
        )  # fmt: skip

    with compiled_at_ease(grow_tree):
        for updated in in_order(update, range(len(trees)), n_jobs):
            yield updated
            advance()


def _update_one(
    tree: Forest,
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    blocks: Blocks,
    sampling: Sampling,
    settings: Settings,
    source: Source,
    stream: NDArray[np.uint64],
    most_before: int,
    copied: bool,
) -> Updated:
    """Let one tree go on growing; the arguments are those of `update_trees`."""
    tree, new = whole(tree), sampling.later[-1].begin
    shaping, filling = draw_halves(stream.copy(), weights, sampling)
    drawn = int(np.where(shaping > 0, shaping, filling)[new:].sum())
    leaves, depth = np.flatnonzero(tree.left < 0), tree.depth()
    deepest = before = int(depth.max())
    released = most_before <= len(leaves) < settings.max_leaves
    if drawn == 0 and not released:
        return Updated(tree, 0, 0, before, before)
    state = branched(stream, GROWTH, len(sampling.later))
    rows = gather_rows(state, X, y, weights, shaping, False)
    tree, trunk = _told(tree, rows, settings)
    trunk.depth[:], n_leaves = depth, len(leaves)
    if not released:
        leaves = leaves[_some_new(rows.at >= new, trunk, leaves)]
    if len(leaves):
        matrix = _rotation(X, y, weights, sampling, settings, source, stream)
        branches, below = _branches(
            rows, trunk, leaves, n_leaves, X, blocks, settings, source, matrix, state, copied
        )
        tree, deepest = with_branches(tree, leaves, branches), max(deepest, below)
    if sampling.honest:
        others = rows_at(np.flatnonzero(filling), X, y, weights, filling, False)
        tree, _ = _told(tree, others, settings)
    return Updated(tree, drawn, len(leaves), before, deepest)


def _told(tree: Forest, rows: Rows, settings: Settings) -> tuple[Forest, Trunk]:
    """Return the tree with its nodes saying what the rows do, and the trunk with their places.

    The rows, which are not copied, are moved.
    """
    n_nodes, m = tree.n_nodes, len(rows.at)
    trunk = _trunk_of(tree)
    widest = max(1, int(np.diff(tree.start).max()))
    fill(
        rows, trunk, np.int64(n_nodes), settings.criterion,
        np.empty((1, widest), dtype=np.int64), np.empty((1, widest), dtype=np.float32),
        np.empty(m, dtype=np.float32), np.empty(m, dtype=np.bool_), np.empty(m),
        whole_logs(settings.criterion, m),
    )  # fmt: skip
    return as_tree(trunk, np.array([n_nodes, n_nodes, 0, len(tree.index)])), trunk


def _trunk_of(tree: Forest) -> Trunk:
    """Return a trunk that holds a forest of one."""
    trunk = trunk_for(tree.n_nodes, len(tree.index), tree.value.shape[1])
    trunk.left[:], trunk.threshold[:], trunk.start[:] = tree.left, tree.threshold, tree.start
    trunk.column[:], trunk.coef[:], trunk.order[:] = tree.index, tree.coef, tree.order
    return trunk


def _some_new(new: NDArray[np.bool_], trunk: Trunk, leaves: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the leaves hold a row that is `new` (m,)."""
    before = np.concatenate([[0], np.cumsum(new)])
    return before[trunk.end[leaves]] > before[trunk.begin[leaves]]


def _rotation(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    settings: Settings,
    source: Source,
    stream: NDArray[np.uint64],
) -> NDArray[np.float32] | None:
    """Find the matrix again that turned a tree's columns when it was grown on its first rows."""
    n, state = sampling.first(len(y)), stream.copy()
    counts, _ = draw_halves(state, weights[:n], sampling._replace(later=()))
    return source.rotation(state, gather_rows(state, X, y, weights, counts, False), settings)


def _branches(
    rows: Rows,
    trunk: Trunk,
    leaves: NDArray[np.int64],
    n_leaves: int,
    X: NDArray[np.float32],
    blocks: Blocks,
    settings: Settings,
    source: Source,
    matrix: NDArray[np.float32] | None,
    state: NDArray[np.uint64],
    copied: bool,
) -> tuple[Forest, int]:
    """Grow what comes of some of the `n_leaves` leaves of a tree; return it and its depth.

    It is a forest of one whose nodes 1, 2, … the leaves are; node 0 stands for the rest of the
    tree.  `rows` and `trunk` are those of `_told`, with the depths.
    """
    L, n = len(leaves), X.shape[1]
    sizes = (trunk.end - trunk.begin)[leaves]
    own = _rows_of(rows, trunk.begin[leaves], sizes, copied or matrix is not None)
    if matrix is not None:
        own, blocks = turned(own, matrix), turned_blocks(len(matrix))
    laws, widest = source.laws(blocks, settings, n), source.widest(blocks, settings, n)
    estimated = source.estimated(blocks, settings, n)
    scratch = scratch_for(len(own.at), blocks, laws, estimated, widest, settings)
    most = 1 + L + 2 * min(settings.max_leaves, len(own.at))
    room = min(most + 2, 1 + L + FIRST_ROOM)
    branches = trunk_for(room, widest + FIRST_ROOM, settings.n_classes)
    # the node above: what growth asks of a root, and nothing that it would search
    branches.left[0], branches.start[0], branches.impurity[0] = -1, 0, trunk.impurity[0]
    ends = np.cumsum(sizes)
    branches.begin[1 : L + 1], branches.end[1 : L + 1] = ends - sizes, ends
    branches.depth[1 : L + 1] = trunk.depth[leaves]
    reached = np.array([1, L + 1, n_leaves, 0])
    branches = grow_on(own, blocks, settings, state, branches, scratch, reached, most + 2)
    grown, deepest = as_tree(branches, reached), int(branches.depth[1 : reached[NODES]].max())
    return grown if matrix is None else turned_back(grown, matrix), deepest


def _rows_of(rows: Rows, begin: NDArray[np.int32], sizes: NDArray[np.int32], copied: bool) -> Rows:
    """Return the rows of some nodes, one node's after the other's."""
    ends = np.cumsum(sizes)
    at = np.arange(ends[-1]) + np.repeat(begin - (ends - sizes), sizes)
    numbers = rows.at[at]
    X = np.take(rows.X, numbers, axis=1) if copied else rows.X
    return Rows(X, numbers, rows.y[at], rows.weights[at], rows.counts[at], copied, rows.unit)
