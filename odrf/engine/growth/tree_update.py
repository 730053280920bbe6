"""Trees that go on growing on rows that are added to theirs.

All rows that a tree has drawn, old and new, run down it, its nodes say what these do, and leaves in
which something is new are searched as growth searches them.  Splits stay, except, on request, those
that were made on few rows and have got many more: from there the tree grows anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.rotation_of_rows import rotated, rotated_back, rotated_feature_groups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.forest_growth import FIRST_ROOM, as_tree, grow_on, pays_to_copy
from odrf.engine.growth.honesty import fill
from odrf.engine.growth.tree_kernel import NODES, TreeBuffers, buffers_for, grow_tree
from odrf.engine.parallel import in_order
from odrf.engine.randomness import branched
from odrf.engine.rows.rows import Rows, gather_rows, rows_at
from odrf.engine.rows.sampling import Sampling, draw_halves
from odrf.engine.settings import Settings
from odrf.engine.splits.impurity import ORDINAL, whole_logs
from odrf.engine.splits.searching import scratch_for
from odrf.engine.trees.branching import whole, with_branches
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["Update", "Updated", "update_trees"]

# Which branches of a tree's stream it grows by once it is updated.
GROWTH = 2
# How many times the rows of a split must be those that it was made on for it to be made anew.
# Where there are twice as many rows in all, some nodes have more and some less than twice theirs.
GROWN = 1.5


class Updated(NamedTuple):
    """A tree that has gone on growing.

    Attributes
    ----------
    tree : Forest
    n_at_split : (m,) int32
        How many rows each of its nodes had when its split was made.
    drawn : int
        How many of the new rows it drew, repetitions counted.
    withdrawn : int
        How many of its splits were given up.
    revisited, split : int
        How many of its leaves were then looked at again, and split.
    leaves_before, leaves : int
    depth_before, depth : int
        Most splits between root and leaf.
    """

    tree: Forest
    n_at_split: NDArray[np.int32]
    drawn: int
    withdrawn: int
    revisited: int
    split: int
    leaves_before: int
    leaves: int
    depth_before: int
    depth: int


class Update(NamedTuple):
    """What trees of one kind go on growing on, and how.

    Attributes
    ----------
    X, y, weights
        All training rows, as in `odrf.engine.growth.forest_growth.grow_forest`: those that the
        trees know, then the new ones.
    feature_groups, settings, mixture
        As there.
    sampling : Sampling
        How each tree's rows are drawn; its last batch are the new rows.
    most_before : int
        The most leaves that the trees were allowed until now.
    revised : int
        Splits made on fewer rows are made anew once these are `GROWN` times as many.
    """

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    feature_groups: FeatureGroups
    sampling: Sampling
    settings: Settings
    mixture: SamplerMixture
    most_before: int
    revised: int


def update_trees(
    trees: Sequence[tuple[Forest, NDArray[np.int32]]],
    update: Update,
    streams: NDArray[np.uint64],
    n_jobs: int,
    advance: Callable[[], object],
) -> Iterator[Updated]:
    """Let trees of one kind go on growing; yield them in their order.

    Parameters
    ----------
    trees : sequence
        Forests of one, each with the rows that its nodes had when their splits were made.
    update : Update
    streams : (B, 4) uint64
        Random stream of each tree.
    n_jobs : int
        Threads; the trees are the same for any number.
    advance : callable
        Called after each tree, in the order of the trees.
    """
    looked_at = update.mixture.looked_at(update.feature_groups, update.settings, len(update.y))
    copied = pays_to_copy(update.X.shape[0], looked_at)

    def updated(b: int) -> Updated:
        return _update_one(*trees[b], update, streams[b], copied)

    with compiled_at_ease(grow_tree):
        for one in in_order(updated, range(len(trees)), n_jobs):
            yield one
            advance()


def _update_one(
    tree: Forest,
    n_at_split: NDArray[np.int32],
    update: Update,
    stream: NDArray[np.uint64],
    copied: bool,
) -> Updated:
    """Let one tree go on growing; the arguments are those of `update_trees`."""
    tree, n_at_split = whole(tree, n_at_split)
    new = update.sampling.later[-1].begin
    shaping, filling = draw_halves(stream.copy(), update.weights, update.sampling)
    drawn = int(np.where(shaping > 0, shaping, filling)[new:].sum())
    before, depth = int((tree.left < 0).sum()), tree.depth()
    deepest = int(depth.max())
    released = update.most_before <= before < update.settings.max_leaves
    if drawn == 0 and not released:
        return Updated(tree, n_at_split, 0, 0, 0, 0, before, before, deepest, deepest)
    state = branched(stream, GROWTH, len(update.sampling.later))
    tree, n_at_split, rows, buffers = _revised(tree, n_at_split, update, state, shaping)
    leaves = np.flatnonzero(tree.left < 0)
    n_leaves, buffers.depth[:] = len(leaves), tree.depth()
    now = int(buffers.depth.max())
    if not released:
        leaves = leaves[_some_new(rows.at >= new, buffers, leaves)]
    split = 0
    if len(leaves):
        matrix = _rotation(update, stream)
        branches, below = _branches(rows, buffers, leaves, n_leaves, update, matrix, state, copied)
        n_at_split[leaves] = branches.count[1 : len(leaves) + 1]
        n_at_split = np.concatenate([n_at_split, branches.count[len(leaves) + 1 :]])
        split = int((branches.left[1 : len(leaves) + 1] >= 0).sum())
        tree, now = with_branches(tree, leaves, branches), max(now, below)
    if update.sampling.honest:
        own = np.flatnonzero(filling)
        others = rows_at(own, update.X, update.y, update.weights, filling, False)
        tree, _ = _told(tree, others, update.settings)
    after = int((tree.left < 0).sum())
    return Updated(
        tree, n_at_split, drawn, before - n_leaves, len(leaves), split, before, after, deepest, now
    )


def _revised(
    tree: Forest,
    n_at_split: NDArray[np.int32],
    update: Update,
    state: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> tuple[Forest, NDArray[np.int32], Rows, TreeBuffers]:
    """Return the tree without the splits to be made anew, told by its rows; and these, in place.

    `n_at_split`, a copy, is for the nodes of that tree.
    """
    data = update.X, update.y, update.weights, counts, False
    rows = gather_rows(state, *data)
    told, buffers = _told(tree, rows, update.settings)
    old = (n_at_split < update.revised) & (buffers.n_rows >= GROWN * n_at_split)
    if not (old & (told.left >= 0)).any():
        return told, n_at_split.copy(), rows, buffers
    tree, n_at_split = whole(told.keeping((told.left >= 0) & ~old), n_at_split)
    rows = gather_rows(state, *data)  # which the splits given up have put in an order
    told, buffers = _told(tree, rows, update.settings)
    return told, n_at_split.copy(), rows, buffers


def _told(tree: Forest, rows: Rows, settings: Settings) -> tuple[Forest, TreeBuffers]:
    """Return the tree with its nodes saying what the rows do, and the buffers with their places.

    The rows, which are not copied, are moved.
    """
    n_nodes, m = tree.n_nodes, len(rows.at)
    buffers = _buffers_of(tree)
    widest = max(1, int(np.diff(tree.start).max()))
    fill(
        rows, buffers, np.int64(n_nodes), settings.criterion,
        np.empty((1, widest), dtype=np.int64), np.empty((1, widest), dtype=np.float32),
        np.empty(m, dtype=np.float32), np.empty(m, dtype=np.bool_), np.empty(m),
        whole_logs(settings.criterion, m),
    )  # fmt: skip
    return as_tree(
        buffers, np.array([n_nodes, n_nodes, 0, len(tree.index)]), bool(tree.ordered)
    ), buffers


def _buffers_of(tree: Forest) -> TreeBuffers:
    """Return a buffers that holds a forest of one."""
    buffers = buffers_for(tree.n_nodes, len(tree.index), tree.value.shape[1])
    buffers.left[:], buffers.threshold[:], buffers.start[:] = tree.left, tree.threshold, tree.start
    buffers.column[:], buffers.coef[:], buffers.order[:] = tree.index, tree.coef, tree.order
    return buffers


def _some_new(
    new: NDArray[np.bool_], buffers: TreeBuffers, leaves: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of the leaves hold a row that is `new` (m,)."""
    before = np.concatenate([[0], np.cumsum(new)])
    return before[buffers.end[leaves]] > before[buffers.begin[leaves]]


def _rotation(update: Update, stream: NDArray[np.uint64]) -> NDArray[np.float32] | None:
    """Find the matrix again that turned a tree's columns when it was grown on its first rows."""
    X, y, weights, sampling = update.X, update.y, update.weights, update.sampling
    state = stream.copy()
    counts, _ = draw_halves(state, weights[: sampling.first(len(y))], sampling._replace(later=()))
    rows = gather_rows(state, X, y, weights, counts, False)
    return update.mixture.rotation(state, rows, update.settings)


def _branches(
    rows: Rows,
    buffers: TreeBuffers,
    leaves: NDArray[np.int64],
    n_leaves: int,
    update: Update,
    matrix: NDArray[np.float32] | None,
    state: NDArray[np.uint64],
    copied: bool,
) -> tuple[Forest, int]:
    """Grow what comes of some of the `n_leaves` leaves of a tree; return it and its depth.

    It is a forest of one whose nodes 1, 2, … the leaves are; node 0 stands for the rest of the
    tree.  `rows` and `buffers` are those of `_told`, with the depths.
    """
    L, settings = len(leaves), update.settings
    n = max(len(update.y), int(rows.counts.sum()))
    sizes, feature_groups = (buffers.end - buffers.begin)[leaves], update.feature_groups
    own = _rows_of(rows, buffers.begin[leaves], sizes, copied or matrix is not None)
    if matrix is not None:
        own, feature_groups = rotated(own, matrix), rotated_feature_groups(len(matrix))
    scratch = scratch_for(len(own.at), n, feature_groups, settings, update.mixture)
    widest = scratch.columns.shape[1]
    most = 3 + L + 2 * min(settings.max_leaves, len(own.at))
    room = min(most, L + FIRST_ROOM)
    branches = buffers_for(room, widest + FIRST_ROOM, settings.n_classes)
    # the node above: what growth asks of a root, and nothing that it would search
    branches.left[0], branches.start[0], branches.impurity[0] = -1, 0, buffers.impurity[0]
    ends = np.cumsum(sizes)
    branches.begin[1 : L + 1], branches.end[1 : L + 1] = ends - sizes, ends
    branches.depth[1 : L + 1] = buffers.depth[leaves]
    reached = np.array([1, L + 1, n_leaves, 0])
    branches = grow_on(own, feature_groups, settings, state, branches, scratch, reached, most)
    grown = as_tree(branches, reached, settings.criterion == ORDINAL)
    deepest = int(branches.depth[1 : reached[NODES]].max())
    return grown if matrix is None else rotated_back(grown, matrix), deepest


def _rows_of(rows: Rows, begin: NDArray[np.int32], sizes: NDArray[np.int32], copied: bool) -> Rows:
    """Return the rows of some nodes, one node's after the other's."""
    ends = np.cumsum(sizes)
    at = np.arange(ends[-1]) + np.repeat(begin - (ends - sizes), sizes)
    numbers = rows.at[at]
    X = np.take(rows.X, numbers, axis=1) if copied else rows.X
    return Rows(X, numbers, rows.y[at], rows.weights[at], rows.counts[at], copied, rows.unit)
