"""Update grown trees with new rows: values of nodes, further splits.

All rows that a tree draws, old and new, are sent down it and the values of its nodes are computed
anew; if few rows are new, only the nodes that these reach.  Then leaves that new rows have reached
are searched for splits as in growth.  Existing splits stay.  If asked for, splits that were chosen
on few rows and now have many more are removed, and the tree grows again from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.directions.subsets import rotated_back, rotated_feature_groups, rotated_rows
from odrf.engine.factors import Factors, n_kept
from odrf.engine.growth.forest_builder import pays_to_copy
from odrf.engine.growth.node_values import (
    NODES,
    TreeBuffers,
    filled_by,
    refilled,
    with_few_rows,
)
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.growth.tree_builder import (
    FIRST_ROOM,
    LeavesToGrow,
    ScratchPool,
    as_tree,
    grow_whole,
    most_nodes,
)
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import branched
from odrf.engine.resamples import RowCodes, Sampling, draw_halves
from odrf.engine.rows import Rows, columns_at, gather_rows, rows_at
from odrf.engine.running import in_order
from odrf.engine.splits.impurity import CRITERIA
from odrf.engine.trees.forest import Forest, compacted, with_branches

# Key of the streams, derived from a tree's, by which it grows when it is updated.
GROWTH = 2
# A split is searched anew once its node has this many times the rows it had.  It is less than 2:
# when the number of all rows doubles, that of some nodes grows by less.
GROWN = 1.5
# New rows are few if a tree draws this many times as many rows in all: then only the nodes that
# they reach are computed anew.
FEW = 16


class Updated(NamedTuple):
    """An updated tree, and what has changed.

    `tree`: a forest of one tree. `n_at_split` (m,): how many rows each of its nodes had when its
    split was searched. `drawn`: new rows that it drew, counting repetitions. `withdrawn`: splits
    that were removed to be searched anew. `revisited`, `split`: leaves of the remaining tree that
    were searched, and that were split. `leaves_before`, `leaves`, `depth_before`, `depth`: before
    and after.
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
    """The rows and options by which trees of one kind are updated.

    `X`, `factors`: all training rows, as `odrf.engine.growth.tree_builder.read_by_growth` returns
    them, the new ones last. `sampling`: its last batch are the new rows. `most_before`: the limit
    on the number of leaves so far. `revised`: splits that were chosen on fewer rows are searched
    anew once their node has `GROWN` times as many rows as then; 0 for none. Others: see
    `odrf.engine.growth.forest_builder.grow_forest`.
    """

    X: NDArray[np.float32]
    factors: Factors
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    feature_groups: FeatureGroups
    sampling: Sampling
    settings: KernelParams
    mixture: SamplerMixture
    most_before: int
    revised: int
    codes: RowCodes | None = None


def update_trees(
    trees: Sequence[tuple[Forest, NDArray[np.int32]]],
    update: Update,
    streams: NDArray[np.uint64],
    n_jobs: int,
    advance: Callable[[], object],
) -> Iterator[Updated]:
    """Update trees of one kind; yield them in their order, for any number of threads the same.

    `trees`: forests of one tree, each with the number of rows that its nodes had when their splits
    were searched. `streams` (B, 4): their random streams. `advance`: called after each tree.
    """
    columns_read = update.mixture.columns_read(
        update.feature_groups, update.settings, len(update.y)
    )
    copied = pays_to_copy(n_kept(update.X, update.factors), columns_read)
    splitting = splitting_response(update.y, update.weights, update.settings.split_scale)

    def updated(b: int) -> Updated:
        return _update_one(*trees[b], update, splitting, streams[b], copied)

    with compiled_at_ease(grow_tree):
        for tree in in_order(updated, range(len(trees)), n_jobs, update.X.size):
            yield tree
            advance()


def _update_one(
    tree: Forest,
    n_at_split: NDArray[np.int32],
    update: Update,
    splitting: NDArray[np.float64] | None,
    stream: NDArray[np.uint64],
    copied: bool,
) -> Updated:
    """Update one tree; the other arguments are those of `update_trees`.

    `splitting` (n,) chooses the splits, if it is given, and not the response.
    """
    tree, n_at_split = compacted(tree, n_at_split)
    new = update.sampling.later[-1].begin
    shaping, filling = draw_halves(stream.copy(), update.weights, update.sampling, update.codes)
    drawn = int(np.where(shaping[new:] > 0, shaping[new:], filling[new:]).sum())
    before, depth = int((tree.left < 0).sum()), tree.depth()
    deepest = int(depth.max())
    released = update.most_before <= before < update.settings.max_leaves
    if drawn == 0 and not released:
        return Updated(tree, n_at_split, 0, 0, 0, 0, before, before, deepest, deepest)
    state = branched(stream, GROWTH, len(update.sampling.later))
    by_scale = update if splitting is None else update._replace(y=splitting)
    all_anew = released or update.sampling.honest or splitting is not None
    few = not all_anew and FEW * int(shaping[new:].sum()) <= int(shaping.sum())
    tree, n_at_split, rows, buffers = _revised(tree, n_at_split, by_scale, state, shaping, few)
    leaves = np.flatnonzero(tree.left < 0)
    n_leaves, buffers.depth[:] = len(leaves), tree.depth()
    depth_now = int(buffers.depth.max())
    if not released:
        leaves = leaves[_have_new_rows(rows.at >= new, buffers)[leaves]]
    n_split = 0
    if len(leaves):
        matrix = _rotation(update, stream)
        branches, below = _branches(rows, buffers, leaves, n_leaves, update, matrix, state, copied)
        n_at_split[leaves] = branches.count[1 : len(leaves) + 1]
        n_at_split = np.concatenate([n_at_split, branches.count[len(leaves) + 1 :]])
        n_split = int((branches.left[1 : len(leaves) + 1] >= 0).sum())
        if n_split:
            tree, depth_now = with_branches(tree, leaves, branches), max(depth_now, below)
    if update.sampling.honest or splitting is not None:
        filled = np.flatnonzero(filling)
        filling_rows = rows_at(
            filled, update.X, update.y, update.weights, filling, False, update.factors
        )
        tree, _ = refilled(tree, filling_rows, update.settings)
    after = int((tree.left < 0).sum())
    return Updated(
        tree, n_at_split, drawn, before - n_leaves, len(leaves), n_split, before, after, deepest,
        depth_now,
    )  # fmt: skip


def _revised(
    tree: Forest,
    n_at_split: NDArray[np.int32],
    update: Update,
    state: NDArray[np.uint64],
    counts: NDArray[np.int64],
    few: bool,
) -> tuple[Forest, NDArray[np.int32], Rows, TreeBuffers]:
    """Refill the tree by its rows and remove the splits that are to be searched anew.

    Returns the tree, the remaining `n_at_split`, the rows in the order of its nodes, and its
    buffers. With `few` new rows only the nodes that these reach are computed; other leaves have no
    rows.
    """
    data = update.X, update.y, update.weights, counts, False, update.factors
    new, settings = update.sampling.later[-1].begin, update.settings
    rows = gather_rows(state, *data)
    if few:
        new_rows = rows_at(new + np.flatnonzero(counts[new:]), *data)
        of_new = filled_by(tree, new_rows, settings)
        n_rows, has_new = tree.count + of_new.n_rows, of_new.n_rows > 0
    else:
        filled, buffers = refilled(tree, rows, settings)
        n_rows, has_new = buffers.n_rows, _have_new_rows(rows.at >= new, buffers)
    outdated = has_new & (n_at_split < update.revised) & (n_rows >= GROWN * n_at_split)
    kept = (tree.left >= 0) & ~outdated
    cut = (kept != (tree.left >= 0)).any()
    if cut:
        # gathered again: splits have ordered the rows, which must be in random order
        rows = gather_rows(state, *data)
        tree, n_at_split = compacted(tree.keeping(kept), n_at_split)
        if few:
            of_new = filled_by(tree, new_rows, settings)
    if few:
        filled, buffers = with_few_rows(tree, of_new, rows, settings)
    elif cut:
        filled, buffers = refilled(tree, rows, settings)
    return filled, n_at_split.copy(), rows, buffers


def _have_new_rows(new: NDArray[np.bool_], buffers: TreeBuffers) -> NDArray[np.bool_]:
    """Return which of the nodes have a row that is `new` (m,)."""
    before = np.concatenate([[0], np.cumsum(new)])
    return before[buffers.end] > before[buffers.begin]


def _rotation(update: Update, stream: NDArray[np.uint64]) -> NDArray[np.float32] | None:
    """Return the matrix that rotated the tree's columns when it was first grown, or None."""
    if not update.mixture.rotates:
        return None
    X, y, weights, sampling = update.X, update.y, update.weights, update.sampling
    state = stream.copy()
    n = sampling.first(len(y))
    codes = None if update.codes is None else update.codes.until(n)
    counts, _ = draw_halves(state, weights[:n], sampling._replace(later=()), codes)
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
    """Grow branches from these leaves of a tree that has `n_leaves`; return them and their depth.

    They are a forest of one tree: its nodes 1, 2, … are the leaves, node 0 stands for the rest of
    the tree.  `rows` and `buffers` are those of `refilled`, with the depths.
    """
    settings, groups = update.settings, update.feature_groups
    n = max(len(update.y), int(rows.counts.sum()))
    sizes = (buffers.end - buffers.begin)[leaves]
    copied = copied or matrix is not None
    leaf_rows = _rows_of(rows, buffers.begin[leaves], sizes, update, copied)
    if matrix is not None:
        leaf_rows, groups = rotated_rows(leaf_rows, matrix), rotated_feature_groups(len(matrix))
    m, pool = len(leaf_rows.at), ScratchPool(groups, settings, update.mixture)
    most = most_nodes(1 + len(leaves), m, settings)
    used = pool.new(m, n, min(most, len(leaves) + FIRST_ROOM))
    start = LeavesToGrow(sizes, buffers.depth[leaves], n_leaves, buffers.impurity[0])
    growth = grow_whole(pool, used, leaf_rows, state, m, start)
    branches, reached = growth.buffers, growth.reached
    grown = as_tree(branches, reached, CRITERIA[settings.criterion].ordered, growth.surrogates)
    deepest = int(branches.depth[1 : reached[NODES]].max())
    return grown if matrix is None else rotated_back(grown, matrix), deepest


def _rows_of(
    rows: Rows, begin: NDArray[np.int32], sizes: NDArray[np.int32], update: Update, copied: bool
) -> Rows:
    """Return the rows of several nodes, node by node."""
    ends = np.cumsum(sizes)
    at = np.arange(ends[-1]) + np.repeat(begin - (ends - sizes), sizes)
    numbers = rows.at[at]
    columns = columns_at(numbers, update.X, update.factors, copied)
    weights, counts = rows.weights[at], rows.counts[at]
    return Rows(columns[0], numbers, rows.y[at], weights, counts, copied, rows.unit, *columns[1:])
