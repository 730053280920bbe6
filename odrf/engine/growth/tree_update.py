"""Update grown trees with new rows: values of nodes, further splits.

All rows that a tree draws, old and new, are sent down it and the values of its nodes are computed
anew; if few rows are new, only the nodes that these reach.  Then leaves that new rows have reached
are searched for splits as in growth.  Existing splits stay.  If asked for, splits that were chosen
on few rows and now have many more are removed, and the tree grows again from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, compiled_at_ease, inlined, kernel
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.directions.subsets import (
    rotated_back,
    rotated_feature_groups,
    rotated_rows,
)
from odrf.engine.factors import Factors, n_kept
from odrf.engine.growth.forest_builder import pays_to_copy
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.growth.tree_builder import (
    as_tree,
    decrease_of_impurity,
    fill,
    grow_on,
    grow_with_surrogates,
    load_direction,
)
from odrf.engine.growth.tree_kernel import FIRST_ROOM, NODES, TreeBuffers, buffers_for, grow_tree
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import branched
from odrf.engine.resamples import RowCodes, Sampling, draw_halves
from odrf.engine.rows import Rows, columns_at, divide, gather_rows, project, rows_at
from odrf.engine.running import in_order
from odrf.engine.splits.impurity import CRITERIA, describe, impurity, whole_logs
from odrf.engine.splits.splitter import as_searched, scratch_for
from odrf.engine.splits.surrogate_choice import send_by_surrogates
from odrf.engine.splits.surrogate_scratch import surrogate_scratch
from odrf.engine.splits.surrogates import SurrogateSplits, marks_of
from odrf.engine.trees.forest import Forest, compacted, with_branches

# ------------------------------------------------------------------------------------------------
# Compute the nodes of a grown tree anew: from all of its rows, or where a few rows are new.
#
# A few rows change the nodes on their paths only.  Those above leaves are changed by what the new
# rows add up to, without reading the old ones: means and sums of squares as Chan, Golub and LeVeque
# (1983) add them.  The leaves at the ends of the paths are described by all of their rows.  So
# their splits are the same bits as if all nodes were computed anew; nodes above differ by rounding.
# ------------------------------------------------------------------------------------------------


def refilled(tree: Forest, rows: Rows, settings: KernelParams) -> tuple[Forest, TreeBuffers]:
    """Return the tree with node values computed from these rows, and its buffers.

    The rows, which are not copied, are put in the order of the nodes.
    """
    buffers = filled_by(tree, rows, settings)
    return _with_values(tree, buffers), buffers


def filled_by(tree: Forest, rows: Rows, settings: KernelParams) -> TreeBuffers:
    """Return buffers with the tree and the node values computed from these rows, as `refilled`."""
    n_nodes, buffers = tree.n_nodes, _buffers_of(tree)
    fill(rows, buffers, np.int64(n_nodes), settings.criterion, *_scratch(tree, rows, settings))
    return buffers


def with_few_rows(
    tree: Forest, of_new: TreeBuffers, rows: Rows, settings: KernelParams
) -> tuple[Forest, TreeBuffers]:
    """Return the tree with the nodes changed that new rows reach, and its buffers.

    `tree`: a forest of one tree, whose nodes have the values of its old rows.  `of_new`: the same
    tree, filled by the new rows alone.  `rows`: all rows, old and new, not copied.  Those of the
    leaves that new rows reach are put in the order of these leaves; in the buffers other leaves
    have none.
    """
    buffers, reached = _buffers_of(tree), of_new.n_rows > 0
    for mine, stored in (
        (buffers.value, tree.value), (buffers.n_rows, tree.count), (buffers.weight, tree.weight),
        (buffers.impurity, tree.impurity), (buffers.gain, tree.gain),
    ):  # fmt: skip
        mine[:] = stored
    buffers.begin[:], buffers.end[:] = 0, 0
    _add_new(buffers, of_new, settings.criterion)
    _send(rows, buffers, reached, settings.criterion, *_scratch(tree, rows, settings))
    return _with_values(tree, buffers), buffers


@inlined
def _add_to_node(buffers, i, value, weight, criterion):
    """Add new rows of this value (K,) and weight to what node i has of old rows."""
    before, K = buffers.weight[i], len(value)
    together = before + weight
    if K == 1:
        apart = value[0] - buffers.value[i, 0]
        between = before / together * weight / together * apart * apart
        buffers.impurity[i] = buffers.impurity[i] * (before / together) + between
        buffers.value[i, 0] += apart * (weight / together)
    else:
        for k in range(K):
            mine = before * buffers.value[i, k] + weight * value[k]
            buffers.value[i, k] = mine / together
        buffers.impurity[i] = impurity(buffers.value[i], criterion)
    buffers.weight[i] = together


@kernel
def _add_new(buffers, of_new, criterion):
    """Add to all nodes what they have of new rows: `of_new` has the nodes of these rows alone."""
    for i in range(len(of_new.n_rows)):
        if of_new.n_rows[i] > 0:
            weight = of_new.weight[i]
            _add_to_node(buffers, i, of_new.value[i], weight, criterion)
            if of_new.value.shape[1] == 1:
                buffers.impurity[i] += of_new.impurity[i] * (weight / buffers.weight[i])
            buffers.n_rows[i] += of_new.n_rows[i]


@kernel
def _send(
    rows, buffers, reached, criterion, columns, theta, values, goes_left, moments, logs, surrogates,
    work,
):  # fmt: skip
    """Send rows down to the leaves that are `reached` (m,), and describe these leaves.

    The other arguments are those of `odrf.engine.growth.tree_builder.fill`.
    """
    left, begin, end = buffers.left, buffers.begin, buffers.end
    begin[0], end[0] = 0, len(rows.at)
    for i in range(len(reached)):
        if not reached[i]:
            begin[i], end[i] = 0, 0
            continue
        lo, m, child = begin[i], end[i] - begin[i], left[i]
        if child < 0:
            node = describe(rows, lo, m, buffers.value[i], moments, logs, criterion, 0.0)
            buffers.weight[i], buffers.n_rows[i] = node.weight, node.n_rows
            buffers.impurity[i] = node.impurity
            continue
        size = load_direction(buffers, i, columns, theta)
        project(rows, lo, m, columns, theta, ZERO, size, values)
        send_by_surrogates(rows, lo, m, columns, size, surrogates, i, values, work)
        middle = lo + divide(rows, lo, m, buffers.threshold[i], values, goes_left, moments)
        begin[child], end[child] = lo, middle
        begin[child + 1], end[child + 1] = middle, end[i]
    for i in range(len(reached)):
        if reached[i]:
            buffers.gain[i] = decrease_of_impurity(buffers, i)


def _buffers_of(tree: Forest) -> TreeBuffers:
    """Return buffers that hold the splits of a forest of one tree."""
    buffers = buffers_for(tree.n_nodes, len(tree.index), tree.value.shape[1])
    buffers.left[:], buffers.threshold[:], buffers.start[:] = tree.left, tree.threshold, tree.start
    buffers.column[:], buffers.coef[:], buffers.order[:] = tree.index, tree.coef, tree.order
    return buffers


def _scratch(tree: Forest, rows: Rows, settings: KernelParams) -> tuple:
    """Return what `fill` takes after the criterion."""
    m, splits, work = len(rows.at), tree.surrogates, None
    widest = max(1, int(np.diff(tree.start).max()))
    if splits is not None:
        work = surrogate_scratch(m, splits.marks, tree.value.shape[1])
    return (
        np.empty((1, widest), dtype=np.int64), np.empty((1, widest), dtype=np.float32),
        np.empty(m, dtype=np.float32), np.empty(m, dtype=np.bool_), np.empty(m),
        whole_logs(settings.criterion, m), splits, work,
    )  # fmt: skip


def _with_values(tree: Forest, buffers: TreeBuffers) -> Forest:
    """Return the tree with the node values of the buffers, which both then have."""
    return replace(
        tree,
        value=buffers.value,
        count=buffers.n_rows,
        weight=buffers.weight,
        impurity=buffers.impurity,
        gain=buffers.gain,
    )


# ------------------------------------------------------------------------------------------------
# Grow branches from some leaves of a tree, all by one random stream.
# ------------------------------------------------------------------------------------------------


def grow_from_leaves(
    leaf_rows: Rows,
    sizes: NDArray[np.integer],
    depths: NDArray[np.integer],
    root_impurity: float,
    n_leaves: int,
    n: int,
    feature_groups: FeatureGroups,
    settings: KernelParams,
    mixture: SamplerMixture,
    state: NDArray[np.uint64],
) -> tuple[TreeBuffers, NDArray[np.int64], SurrogateSplits | None]:
    """Grow branches from L leaves; return the buffers, how far they are filled, and surrogates.

    In the buffers, the nodes 1, 2, … L are the leaves; node 0 stands for the rest of the tree.

    `leaf_rows`: the rows of the leaves, one leaf after the other; they are reordered.
    `sizes`, `depths` (L,): how many of the rows each leaf has, and how deep it is.
    `root_impurity`: the impurity of the root of the tree.
    `n_leaves`: how many leaves the tree has.
    `n`: the rows of the tree, counting repetitions.
    `feature_groups`, `settings`, `mixture`: as in
      `odrf.engine.growth.forest_builder.grow_forest`.
    `state` (4,): the random stream, advanced.
    """
    L = len(sizes)
    feature_groups = as_searched(feature_groups, settings)
    scratch = scratch_for(len(leaf_rows.at), n, feature_groups, settings, mixture)
    widest = scratch.columns.shape[1]
    most = 3 + L + 2 * min(settings.max_leaves, len(leaf_rows.at))
    room = min(most, L + FIRST_ROOM)
    branches = buffers_for(room, widest + FIRST_ROOM, settings.n_classes)
    # node 0 has the impurity that growth reads from the root, and is not searched
    branches.left[0], branches.start[0], branches.impurity[0] = -1, 0, root_impurity
    ends = np.cumsum(sizes)
    branches.begin[1 : L + 1], branches.end[1 : L + 1] = ends - sizes, ends
    branches.depth[1 : L + 1] = depths
    reached = np.array([1, L + 1, n_leaves, 0])
    samplers = mixture.samplers(feature_groups, settings, n)
    growing = (
        leaf_rows, feature_groups, settings, state, branches, scratch, samplers, reached, most
    )  # fmt: skip
    if not settings.surrogates:
        return grow_on(*growing), reached, None
    work = surrogate_scratch(len(leaf_rows.at), marks_of(feature_groups), settings.n_classes)
    branches, surrogates = grow_with_surrogates(*growing, work)
    return branches, reached, surrogates


# ------------------------------------------------------------------------------------------------
# Update grown trees with new rows.
# ------------------------------------------------------------------------------------------------

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

    `tree`: a forest of one tree.
    `n_at_split` (m,): how many rows each of its nodes had when its split was searched.
    `drawn`: how many of the new rows it drew, counting repetitions.
    `withdrawn`: how many of its splits were removed to be searched anew.
    `revisited`, `split`: how many leaves of the remaining tree were searched, and how many of
      these were split.
    `leaves_before`, `leaves`: leaves before and after.
    `depth_before`, `depth`: most splits between root and leaf, before and after.
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
    them: first those that the trees were grown on, then the new ones.  `y`, `weights`,
    `feature_groups`, `settings`, `mixture`: as in `odrf.engine.growth.forest_builder.grow_forest`.
    `sampling`: how each tree's rows are drawn; its last batch are the new rows.  `most_before`: the
    limit on the number of leaves so far.  `revised`: splits that were chosen on fewer rows are
    searched anew once their node has `GROWN` times as many rows as then; 0 for none.  `codes`:
    groups of rows that are resampled as one.
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
    """Update trees of one kind; yield them in their order.

    `trees` (m,): forests of one tree, each with the number of rows that its nodes had when their
    splits were searched.  `update`: the rows and options.  `streams` (B, 4): initial state of each
    tree's random stream.  `n_jobs`: threads; the trees are the same for any number.  `advance`:
    called after each tree, in the order of the trees.
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

    Returns the tree, a copy of the remaining `n_at_split`, the rows in the order of its nodes, and
    its buffers.  With `few` new rows, only the nodes that these reach are computed, and other
    leaves have no rows in the buffers.
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
    settings = update.settings
    n = max(len(update.y), int(rows.counts.sum()))
    sizes, feature_groups = (buffers.end - buffers.begin)[leaves], update.feature_groups
    copied = copied or matrix is not None
    leaf_rows = _rows_of(rows, buffers.begin[leaves], sizes, update, copied)
    if matrix is not None:
        leaf_rows = rotated_rows(leaf_rows, matrix)
        feature_groups = rotated_feature_groups(len(matrix))
    branches, reached, surrogates = grow_from_leaves(
        leaf_rows, sizes, buffers.depth[leaves], buffers.impurity[0], n_leaves, n,
        feature_groups, settings, update.mixture, state,
    )  # fmt: skip
    grown = as_tree(branches, reached, CRITERIA[settings.criterion].ordered, surrogates)
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
