"""Grow one tree from its random stream, and write it into the arrays of a forest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, inlined, kernel, of_these_types
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler, SamplerMixture, placed
from odrf.engine.directions.subsets import (
    rotated_back,
    rotated_feature_groups,
    rotated_rows,
)
from odrf.engine.factors import NO_FACTORS, Factors, Matrix, factors_of, indicated, stored
from odrf.engine.growth.branches import GrowingBranch, GrownBranch, grow_branches, grows_in_branches
from odrf.engine.growth.tree_kernel import (
    FIRST_ROOM,
    NEXT,
    NODES,
    TERMS,
    GrowthScratch,
    ScratchPool,
    TreeBuffers,
    enlarged,
    grow_tree,
)
from odrf.engine.kernel_params import KernelParams
from odrf.engine.memory import MOST_PLACES, require_memory
from odrf.engine.resamples import RowCodes, Sampling, draw_halves
from odrf.engine.rows import Rows, divide, gather_rows, project, rows_at
from odrf.engine.running import end_if_stopped
from odrf.engine.splits.impurity import CRITERIA, describe
from odrf.engine.splits.splitter import Scratch
from odrf.engine.splits.surrogate_choice import send_by_surrogates
from odrf.engine.splits.surrogate_scratch import (
    NEVER_CALLED,
    SharedScratch,
    SurrogateScratch,
    placed_surrogates,
    surrogate_scratch,
)
from odrf.engine.splits.surrogates import SurrogateSplits, marks_of, no_surrogates
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest import Forest

# ------------------------------------------------------------------------------------------------
# Room for a tree that grows: its buffers are doubled, if memory suffices.
# ------------------------------------------------------------------------------------------------


def with_room(
    buffers: TreeBuffers, reached: NDArray[np.int64], widest: int, most: int
) -> TreeBuffers:
    """Return buffers with room for two more nodes, and a direction of the `widest`.

    `reached` (4,): how far the tree has grown.  `widest`: the most terms of a direction.  `most`:
    the most nodes of the tree.  Raises `MemoryError`: there is no room, and memory does not suffice
    for a copy.
    """
    room, terms = len(buffers.left), len(buffers.column)
    if reached[NODES] + 2 <= room and reached[TERMS] + widest <= terms:
        return buffers
    require_memory(
        float(sum(array.nbytes for array in buffers)),
        f"a tree of more than {reached[NODES]} nodes",
        "use larger leaves (min_leaf=), or fewer of them (max_leaves=)",
    )
    # buffers of a tree before may be longer than this one needs
    return enlarged(buffers, max(room, min(2 * room, most)), 2 * terms)


# ------------------------------------------------------------------------------------------------
# Grow a tree by the kernels: from where it is to its end, and into the arrays of a forest.
# ------------------------------------------------------------------------------------------------

# Growth looks about every tenth of a second whether it is to stop: after so many numbers, a row
# counting as its terms and `PER_ROW` more.
BUDGET, PER_ROW = 10_000_000, 5


def grow_on(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: KernelParams,
    state: NDArray[np.uint64],
    buffers: TreeBuffers,
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
    most: int,
) -> TreeBuffers:
    """Grow a tree to its end, from where it has `reached`; return its buffers.

    They are enlarged as needed, up to room for `most` nodes.  The other arguments are those of
    `grow_tree`.
    """
    step = stepper(rows, feature_groups, settings, state, scratch, samplers, reached)
    return grown_to_end(step, buffers, reached, scratch.columns.shape[1], most)


def grown_to_end(
    step: Callable[[TreeBuffers], object],
    buffers: TreeBuffers,
    reached: NDArray[np.int64],
    widest: int,
    most: int,
) -> TreeBuffers:
    """Grow a tree to its end by steps; return its buffers, which `step` is called with.

    The other arguments are those of `with_room`.
    """
    step(buffers)
    while reached[NEXT] < reached[NODES]:
        end_if_stopped()
        buffers = with_room(buffers, reached, widest, most)
        step(buffers)
    return buffers


def stepper(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: KernelParams,
    state: NDArray[np.uint64],
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
) -> Callable[[TreeBuffers], None]:
    """Return what grows a tree further, until its buffers are full or some time has passed.

    It may be called again for the next tree in the same arrays.  From the second call on it no
    longer asks for the types of all arrays: of a small tree that takes as long as its growth.
    """
    in_place = placed(samplers, state, rows, feature_groups, scratch.proposals, scratch.work)
    rows = in_place.rows
    budget = max(1, BUDGET // (PER_ROW + len(scratch.proposals.units)))
    grow, n_calls = growth_kernel(settings), 0

    def step(buffers: TreeBuffers) -> None:
        nonlocal grow, n_calls
        calls = in_place.calls, NEVER_CALLED
        arguments = (
            rows, feature_groups, settings, state, buffers, scratch, *calls, reached, budget
        )  # fmt: skip
        n_calls += 1
        if n_calls == 2:
            grow = of_these_types(grow, arguments)
        grow(*arguments)

    return step


def growth_kernel(settings: KernelParams) -> Callable[..., None]:
    """Return the kernel that grows trees in the order of these settings."""
    return grow_tree


def as_tree(
    buffers: TreeBuffers,
    reached: NDArray[np.int64],
    ordered: bool,
    surrogates: SurrogateSplits | None = None,
    root: NDArray[np.int64] | None = None,
) -> Forest:
    """Return the grown tree as a forest of one; `ordered` is whether its classes are ordered.

    With `root` (B + 1,), the buffers hold B trees, with the root of tree b at ``root[b]``.
    """
    n_nodes = reached[NODES]
    arrays = _arrays(buffers, reached)
    if root is not None:
        arrays["root"] = root
    return Forest(
        **arrays,
        weight=buffers.weight[:n_nodes].copy(),
        order=buffers.order[:n_nodes].copy(),
        ordered=np.bool_(ordered),
        surrogates=surrogates,
    )


def as_narrow_tree(buffers: TreeBuffers, reached: NDArray[np.int64], ordered: bool) -> Forest:
    """Return the tree without weights of nodes and ranks of splits; see `Forest.lean`.

    They follow from the rest if rows have the weight 1 and the tree has grown breadth-first.
    """
    arrays = _arrays(buffers, reached)
    return Forest.of(arrays | {"ordered": np.bool_(ordered), "surrogates": None})


def _arrays(buffers: TreeBuffers, reached: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return copies of the arrays of a `Forest`, without weights and ranks."""
    n_nodes, n_terms = reached[NODES], reached[TERMS]
    narrow = np.int32 if n_terms <= MOST_PLACES else np.int64
    return {
        "root": np.array([0, n_nodes]),
        "left": buffers.left[:n_nodes].copy(),
        "threshold": buffers.threshold[:n_nodes].copy(),
        "start": buffers.start[: n_nodes + 1].astype(narrow),
        "index": buffers.column[:n_terms].copy(),
        "coef": buffers.coef[:n_terms].copy(),
        "value": buffers.value[:n_nodes].copy(),
        "count": buffers.n_rows[:n_nodes].copy(),
        "impurity": buffers.impurity[:n_nodes].copy(),
        "gain": buffers.gain[:n_nodes].copy(),
    }


# ------------------------------------------------------------------------------------------------
# What is read from the rows of a grown tree: values of its nodes, computed again, and leaves.
#
# Rows of a node are adjacent after growth, so none has to be sent down the tree again.
# ------------------------------------------------------------------------------------------------


def describe_again(
    rows: Rows,
    buffers: TreeBuffers,
    n_nodes: int,
    criterion: int,
    moments: NDArray[np.float64],
    logs: NDArray[np.float64],
) -> None:
    """Compute value, impurity and gain of every node of a tree from other responses of its rows.

    `rows`: the rows that the tree was grown on, in the order of its nodes, with these responses.
    `buffers`: the grown tree; its nodes are overwritten.  `n_nodes`: number of its nodes.
    `criterion`: impurity, as in `odrf.engine.kernel_params.KernelParams`.  `moments`, `logs`: as
    `odrf.engine.splits.impurity.describe` takes them.
    """
    _describe_nodes(rows, buffers, n_nodes, criterion, moments, logs)
    recompute_gains(buffers, np.flatnonzero(buffers.left[:n_nodes] >= 0))


@kernel
def _describe_nodes(rows, buffers, n_nodes, criterion, moments, logs):
    value, impurity, begin, end = buffers.value, buffers.impurity, buffers.begin, buffers.end
    for i in range(n_nodes):
        lo, m = begin[i], end[i] - begin[i]
        impurity[i] = describe(rows, lo, m, value[i], moments, logs, criterion, 0.0).impurity


def recompute_gains(buffers: TreeBuffers, nodes: NDArray[np.int64]) -> None:
    """Set the gains of these split `nodes` to the decrease of impurity, at least 0."""
    left, weight, impurity = buffers.left[nodes], buffers.weight, buffers.impurity
    remaining = weight[left] * impurity[left] + weight[left + 1] * impurity[left + 1]
    buffers.gain[nodes] = np.maximum(0.0, impurity[nodes] - remaining / weight[nodes])


@kernel
def write_leaves(at, left, begin, end, n_nodes, leaf):
    """Write the number of the leaf of each row of a grown tree to leaf (n,).

    `at` are the row numbers of its `Rows`; `left`, `begin` and `end` are those of its buffers.
    """
    for node in range(n_nodes):
        if left[node] < 0:
            for i in range(np.uint64(begin[node]), np.uint64(end[node])):
                leaf[at[i]] = node


# ------------------------------------------------------------------------------------------------
# Grow a tree whose splits have surrogates, node by node.
# ------------------------------------------------------------------------------------------------

# Small enough that one call grows one node.
ONE_NODE = 1


def grow_with_surrogates(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: KernelParams,
    state: NDArray[np.uint64],
    buffers: TreeBuffers,
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
    most: int,
    work: SurrogateScratch,
) -> tuple[TreeBuffers, SurrogateSplits]:
    """Grow a tree to its end, from where it has `reached`; return its buffers and surrogates.

    Other arguments are those of `grow_on`.  The gain of a split
    that some rows have no value for is set to the decrease of impurity when all rows have been
    sent.
    """
    in_place = placed(samplers, state, rows, feature_groups, scratch.proposals, scratch.work)
    rows = in_place.rows
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


# ------------------------------------------------------------------------------------------------
# Honest trees: some rows choose the splits, others give the values of the nodes.
#
# Splits are placed where the shaping rows happen to differ, so the values of these rows are too
# extreme on either side.  Rows that had no part in choosing the splits have no such bias (Athey,
# Tibshirani and Wager 2019).  So everything stored in a node comes from these filling rows: its
# value, number of rows, weight, impurity, and the impurity decrease of its split.  Pruning, which
# sums these up, then evaluates subtrees on rows that had no part in choosing the splits.
# ------------------------------------------------------------------------------------------------


@inlined
def load_direction(buffers, node, columns, theta):
    """Write a node's direction to columns[0] and theta[0]; return its number of columns."""
    first = buffers.start[node]
    size = buffers.start[node + 1] - first
    for j in range(size):
        columns[0, j], theta[0, j] = buffers.column[first + j], buffers.coef[first + j]
    return size


@inlined
def decrease_of_impurity(buffers, node):
    """Return the impurity decrease of a node's split, at least 0; 0 for a leaf."""
    left, weight, impurity = buffers.left[node], buffers.weight, buffers.impurity
    if left < 0 or weight[node] == 0.0:
        return 0.0
    remaining = weight[left] * impurity[left] + weight[left + 1] * impurity[left + 1]
    return max(0.0, impurity[node] - remaining / weight[node])


@kernel
def fill(
    rows, buffers, n_nodes, criterion, columns, theta, values, goes_left, moments, logs,
    surrogates, work,
):  # fmt: skip
    """Send rows down a grown tree and recompute value, counts, impurity and gain of every node.

    A node that no row reaches gets the value and impurity of its parent.

    `rows`: the m ≥ 1 filling rows, not copied; they are reordered.
    `buffers`: the grown tree; its nodes are overwritten.
    `n_nodes`: number of its nodes.
    `criterion`: impurity, as in `odrf.engine.kernel_params.KernelParams`.
    `columns` (1, W): scratch for the widest direction.
    `values`: scratch for the rows.
    `logs`: as `odrf.engine.splits.impurity.describe` takes them.
    `surrogates`: those of the tree, if it has any, and scratch.
    """
    left, begin, end, value = buffers.left, buffers.begin, buffers.end, buffers.value
    weight, count, impurity, gain = buffers.weight, buffers.n_rows, buffers.impurity, buffers.gain
    begin[0], end[0] = 0, len(rows.at)
    for i in range(n_nodes):
        lo, m, child = begin[i], end[i] - begin[i], left[i]
        weight[i], count[i], middle = 0.0, 0, lo
        if m > 0:
            node = describe(rows, lo, m, value[i], moments, logs, criterion, 0.0)
            weight[i], count[i], impurity[i] = node.weight, node.n_rows, node.impurity
        if m > 0 and child >= 0:
            size = load_direction(buffers, i, columns, theta)
            project(rows, lo, m, columns, theta, ZERO, size, values)
            send_by_surrogates(rows, lo, m, columns, size, surrogates, i, values, work)
            middle += divide(rows, lo, m, buffers.threshold[i], values, goes_left, moments)
        if child >= 0:
            begin[child], end[child] = lo, middle
            begin[child + 1], end[child + 1] = middle, end[i]
            for j in range(child, child + 2):
                impurity[j] = impurity[i]
                for k in range(value.shape[1]):
                    value[j, k] = value[i, k]
    for i in range(n_nodes):
        gain[i] = decrease_of_impurity(buffers, i)


# ------------------------------------------------------------------------------------------------
# Grow one tree from its random stream.
# ------------------------------------------------------------------------------------------------

# Room for the nodes of one split: a kernel then returns after it.
ONE_SPLIT = 3


def read_by_growth(
    X: Matrix, feature_groups: FeatureGroups, mixture: SamplerMixture
) -> tuple[NDArray[np.float32], Factors]:
    """Return the array that trees grow on, and the codes of factors.

    A mixture that rotates all columns needs an indicator for each level.
    """
    if mixture.rotates:
        return indicated(X), NO_FACTORS
    return stored(X), factors_of(X, feature_groups)


def grow_one(
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: KernelParams,
    mixture: SamplerMixture,
    state: NDArray[np.uint64],
    copied: bool,
    factors: Factors | None = None,
    codes: RowCodes | None = None,
    splitting: NDArray[np.float64] | None = None,
    pool: ScratchPool | None = None,
    leaf: NDArray[np.int32] | None = None,
    n_jobs: int = 1,
    ranks: EventRanks | None = None,
    case_weights: NDArray[np.float64] | None = None,
) -> Forest:
    """Grow one tree; its random stream `state` (4,) is advanced.

    If `copied`, the tree keeps a copy of X whose rows move with the nodes; the tree is the same.
    If `factors` are given, they and X are as `read_by_growth` returns them.  If `splitting` (n,) is
    given, it chooses the splits in place of y.  Scratch comes from the `pool`, which is for these
    feature groups, settings and mixture.  The number of the leaf of each row that splits were
    chosen on is written to `leaf` (n,).  A large tree grows in `n_jobs` threads.  The other
    arguments are those of `grow_forest`; if `ranks` are given, the settings know their number.
    """
    X, factors = (
        read_by_growth(X, feature_groups, mixture) if factors is None else (stored(X), factors)
    )
    counts, filling = draw_halves(state, weights, sampling, codes)
    # rows added later are drawn independently: there may be more draws than rows
    n = max(len(y), int(counts.sum()))
    chosen_by = y if splitting is None else splitting
    rows = gather_rows(state, X, chosen_by, weights, counts, copied, factors)._replace(ranks=ranks)
    matrix = mixture.rotation(state, rows, settings)
    if matrix is not None:
        rows = rotated_rows(rows, matrix)
        pool = ScratchPool(rotated_feature_groups(len(matrix)), settings, mixture)
    elif pool is None:
        pool = ScratchPool(feature_groups, settings, mixture)
    size = max(len(rows.at), int(np.count_nonzero(filling)))
    found = pool.take(size, n)
    grown = _grow(rows, pool, found, size, state, n_jobs, case_weights)
    buffers, reached, scratch = grown.buffers, grown.reached, found.scratch
    if leaf is not None:
        write_leaves(rows.at, buffers.left, buffers.begin, buffers.end, reached[NODES], leaf)
    if sampling.honest:
        filling_rows = _filling_rows(X, y, weights, filling, matrix, factors)
        fill(
            filling_rows, buffers, reached[NODES], settings.criterion, scratch.columns,
            scratch.theta, scratch.values, scratch.goes_left, scratch.moments, scratch.logs,
            grown.surrogates, grown.work,
        )  # fmt: skip
    elif splitting is not None:
        described = rows._replace(y=y[rows.at], ranks=None)
        describe_again(
            described, buffers, reached[NODES], settings.criterion, scratch.moments, scratch.logs
        )
    tree = as_tree(buffers, reached, CRITERIA[settings.criterion].ordered, grown.surrogates)
    pool.give_back(grown.used)
    return tree if matrix is None else rotated_back(tree, matrix)


class _GrownTree(NamedTuple):
    """A tree that has grown, before it is described anew.

    `used`: what the tree was grown with, and the pool takes back.  `reached` (4,): how far they are
    filled, see `grow_tree`.  `work`: with which rows are sent by surrogates.
    """

    used: GrowthScratch
    buffers: TreeBuffers
    reached: NDArray[np.int64]
    surrogates: SurrogateSplits | None = None
    work: SurrogateScratch | None = None


def _grow(
    rows: Rows,
    pool: ScratchPool,
    found: GrowthScratch,
    size: int,
    state: NDArray[np.uint64],
    n_jobs: int,
    case_weights: NDArray[np.float64] | None,
) -> _GrownTree:
    """Grow a tree on these rows with the scratch of a pool, for up to `size` distinct rows."""
    m, settings = len(rows.at), pool.settings
    if grows_in_branches(m, settings):
        grow = _branch_grower(rows, pool, found.n, found.scratch.logs)
        return _GrownTree(found, *grow_branches(grow, m, state, n_jobs))
    buffers, reached = found.buffers, np.array([0, 1, 1, 0])
    buffers.begin[0], buffers.end[0], buffers.depth[0] = 0, m, 0
    most = max(1, 2 * min(settings.max_leaves, m) - 1)
    growing = (
        rows, pool.feature_groups, settings, state, buffers, found.scratch, found.samplers, reached,
        most + 2,
    )  # fmt: skip
    surrogates, work = None, None
    if settings.surrogates:
        work = surrogate_scratch(
            size, marks_of(pool.feature_groups), settings.n_classes, case_weights
        )
        buffers, surrogates = grow_with_surrogates(*growing, work)
    else:
        buffers = grow_on(*growing)
    return _GrownTree(found._replace(buffers=buffers), buffers, reached, surrogates, work)


def _filling_rows(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    filling: NDArray[np.int64],
    matrix: NDArray[np.float32] | None,
    factors: Factors,
) -> Rows:
    """Return the rows that fill an honest tree, rotated by the matrix, if there is one."""
    drawn = np.flatnonzero(filling)
    rows = rows_at(drawn, X, y, weights, filling, matrix is not None, factors)
    if matrix is None:
        return rows
    # `fill` moves row numbers, not the rotated columns
    places = np.arange(len(drawn), dtype=np.int32)
    return rotated_rows(rows, matrix)._replace(at=places, copied=False)


def _branch_grower(
    rows: Rows, pool: ScratchPool, n: int, logs: NDArray[np.float64]
) -> Callable[[GrowingBranch], GrownBranch]:
    """Return what grows a branch of a tree on its rows, n counting repetitions."""

    def grow(branch: GrowingBranch) -> GrownBranch:
        m = branch.end - branch.begin
        room = ONE_SPLIT if branch.is_divided else min(2 * m + 1, FIRST_ROOM)
        scratch, samplers, buffers, *_ = pool.of_branch(m, n, logs, room)
        buffers.begin[0], buffers.end[0], buffers.depth[0] = branch.begin, branch.end, branch.depth
        reached = np.array([0, 1, 1, 0])
        # branches that grow at the same time project at the same time
        own = rows._replace(coefficients=np.zeros_like(rows.coefficients))
        growing = own, pool.feature_groups, pool.settings, branch.state
        if not branch.is_divided:
            buffers = grow_on(*growing, buffers, scratch, samplers, reached, 2 * m + 1)
            return GrownBranch(branch.number, buffers, int(reached[NODES]))
        stepper(*growing, scratch, samplers, reached)(buffers)
        buffers.start[1] = reached[TERMS]
        return GrownBranch(branch.number, buffers, 1)

    return grow
