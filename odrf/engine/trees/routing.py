"""Send rows down the trees: leaves and predictions.

The rows of a block are divided at every node as in training, so that a node is read once for all of
its rows.  Where a node has only a few rows, each of them walks on alone: see `walk`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, kernel, part, prefetch
from odrf.engine.factors import Layout, Matrix, stored
from odrf.engine.memory import require_memory
from odrf.engine.running import in_blocks, row_blocks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.packing import HEAD, Packed, coefficient_of, with_level_tables

# Rows that walk down the trees in turns, each from its current node.

# Where in a record the next cache line may begin, in words; most records end soon after.
BEYOND = 12

# A record of fewer terms is read as if it had so many, the others with a coefficient of 0: where a
# processor guesses wrongly how many there are, it loses more time.
ALIKE = 5

# Indices are unsigned: Numba then does not check whether they are negative.


@part
def term_at(rows, row, column, at, words, floats, level_words, level_floats):
    """Return a term of the projection of the row that starts at `row`.

    Of the packed nodes, `at` is where the coefficient of the `column` is, or the place of a table
    of levels, see `odrf.engine.trees.packing`; without these the tables are None.
    """
    if level_words is None:
        return floats[at] * rows[row + np.uint64(column)]
    if column >= 0:
        return floats[at] * rows[row + np.uint64(column)]
    return coefficient_of(level_words, level_floats, words[at], rows[row + np.uint64(-1 - column)])


@part
def _projection(rows, row, node, words, floats, level_words, level_floats):
    """Return the projection of the row that starts at `row`, at a packed node."""
    one, two = np.uint64(1), np.uint64(2)
    term = node + np.uint64(HEAD)
    projected = np.float32(0.0)
    for _ in range(words[node + np.uint64(3)]):
        projected += term_at(
            rows, row, words[term], term + one, words, floats, level_words, level_floats
        )
        term += two
    return projected


@part
def _even_projection(rows, row, node, words, floats):
    """Return the same in the same time for all nodes of up to `ALIKE` terms; without levels."""
    one, two = np.uint64(1), np.uint64(2)
    first, n_terms = node + np.uint64(HEAD), np.uint64(words[node + np.uint64(3)])
    projected = np.float32(0.0)
    if n_terms == 0:
        return projected
    for t in range(np.uint64(ALIKE)):
        there = np.uint64(t < n_terms)
        term = first + two * t * there
        coefficient = np.float32(there) * floats[term + one]
        projected += coefficient * rows[row + np.uint64(words[term])]
    for t in range(np.uint64(ALIKE), n_terms):
        term = first + two * t
        projected += floats[term + one] * rows[row + np.uint64(words[term])]
    return projected


@part
def walk(
    rows, stride, walkers, places, n, words, floats, level_words, level_floats, leaves
):  # fmt: skip
    """Walk down from n packed nodes; write the leaf of each walk to `leaves`.

    The i-th walk begins at the record places[i].  With w = walkers[i], it reads the row that starts
    at w · stride in the flat `rows` and writes its leaf to leaves[w]; with a stride of 0 all walks
    read the same row.  The walks take turns, one step each: the next node of one is loaded while
    the others move.  Overwrites walkers (uint32) and places (uint64).
    """
    two, three = np.uint64(2), np.uint64(3)
    most_before = np.int32(1)
    while n > 0:
        kept, most = np.uint64(0), np.int32(1)
        for i in range(n):
            walker, node = walkers[i], places[i]
            row = walker * stride
            most = max(most, words[node + three])
            if level_words is None and most_before > 1:
                projected = _even_projection(rows, row, node, words, floats)
            else:
                projected = _projection(rows, row, node, words, floats, level_words, level_floats)
            child = words[node + np.uint64(not projected <= floats[node + two])]
            node += np.uint64(child)
            prefetch(words, node)
            prefetch(words, node + np.uint64(BEYOND))
            walkers[kept], places[kept] = walker, node
            leaves[walker] = -1 - child
            kept += np.uint64(child >= 0)
        # where all nodes of a step had one term, those of the next one have hardly more
        n, most_before = kept, most


# Send rows down the trees: leaves and predictions.

# Nodes of up to this many rows are not divided: their rows walk on, which costs less.
FEW = 8

# Rows that walk together, from the nodes of one tree.
WALKERS = 256

# Rows whose projections are computed together.
ABREAST = 4

# More nodes than can wait at the same time: the smaller child is visited first, so that the numbers
# of waiting rows at least double from one node to the next.
WAITING = 64

# Most numbers in the rows of a block, and in their leaves.
ROOM = 2**21

# Most numbers in the rows of a block that stay in the cache of a core while they go down all trees.
CACHED = 2**18

# Rows below which a block is not worth a thread of its own.
FEWEST_ROWS = 1024

EVERY_ROW = np.empty((0, 0), dtype=np.bool_)


@part
def project_at_node(
    rows, stride, members, lo, hi, node, words, floats, level_words, level_floats, projected
):  # fmt: skip
    """Write the projections of members[lo:hi] (and of up to 3 more rows) to projected[lo:hi].

    Each is added up in float32, term by term, exactly as in training.
    """
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    first = node + np.uint64(HEAD)
    last = first + two * np.uint64(words[node + three])
    for i in range(lo, hi, np.uint64(ABREAST)):
        a, b = members[i] * stride, members[i + one] * stride
        c, d = members[i + two] * stride, members[i + three] * stride
        on_a = on_b = on_c = on_d = np.float32(0.0)
        for term in range(first, last, two):
            if level_words is None or words[term] >= 0:
                column, coefficient = np.uint64(words[term]), floats[term + one]
                on_a += coefficient * rows[a + column]
                on_b += coefficient * rows[b + column]
                on_c += coefficient * rows[c + column]
                on_d += coefficient * rows[d + column]
            else:
                column, table = np.uint64(-1 - words[term]), words[term + one]
                on_a += coefficient_of(level_words, level_floats, table, rows[a + column])
                on_b += coefficient_of(level_words, level_floats, table, rows[b + column])
                on_c += coefficient_of(level_words, level_floats, table, rows[c + column])
                on_d += coefficient_of(level_words, level_floats, table, rows[d + column])
        projected[i], projected[i + one] = on_a, on_b
        projected[i + two], projected[i + three] = on_c, on_d


@part
def _divide(members, lo, hi, threshold, projected):
    """Move the members lo … hi - 1 that go left to the front; return where the others begin.

    The upper half of `members` is scratch.
    """
    one, wide = np.uint64(1), np.uint64(len(members) // 2)
    left, right = lo, wide
    for i in range(lo, hi):
        row = members[i]
        members[left] = members[right] = row
        goes_left = np.uint64(projected[i] <= threshold)
        left += goes_left
        right += one - goes_left
    for i in range(wide, right):
        members[left + i - wide] = members[i]
    return left


@part
def _descend(
    rows, stride, n, root, words, floats, level_words, level_floats, members, projected, waiting,
    walkers, places, leaves,
):  # fmt: skip
    """Write to `leaves` the leaves of the first n of `members`, from the record `root` on."""
    zero, one, few = np.uint64(0), np.uint64(1), np.uint64(FEW)
    n_walkers, top = zero, one
    waiting[0], waiting[1], waiting[2] = np.uint64(root), zero, n
    while top > 0:
        top -= one
        place = top * np.uint64(3)
        node, lo, hi = waiting[place], waiting[place + one], waiting[place + np.uint64(2)]
        project_at_node(
            rows, stride, members, lo, hi, node, words, floats, level_words, level_floats, projected
        )
        middle = _divide(members, lo, hi, floats[node + np.uint64(2)], projected)
        larger = np.uint64(middle - lo < hi - middle)
        for visit in range(np.uint64(2)):
            side = visit ^ larger
            first, last = (middle, hi) if side else (lo, middle)
            child = words[node + side]
            if child < 0:
                for i in range(first, last):
                    leaves[members[i]] = -1 - child
            elif last - first > few:
                waiting[place], waiting[place + one] = node + np.uint64(child), first
                waiting[place + np.uint64(2)] = last
                place += np.uint64(3)
                top += one
            else:
                for i in range(first, last):
                    walkers[n_walkers], places[n_walkers] = members[i], node + np.uint64(child)
                    n_walkers += one
        if top == 0 or n_walkers > np.uint64(WALKERS - 2 * FEW):
            walk(
                rows, stride, walkers, places, n_walkers, words, floats, level_words, level_floats,
                leaves,
            )  # fmt: skip
            n_walkers = zero


@kernel
def _send(
    rows, wanted, lo, root, words, floats, level_words, level_floats, members, projected, waiting,
    walkers, places, leaves,
):  # fmt: skip
    """Send rows down each tree b; see `leaves_of`."""
    n_rows = np.uint64(leaves.shape[1])
    stride = np.uint64(len(rows)) // n_rows
    for b in range(np.uint64(len(root))):
        if root[b] < 0:
            for i in range(n_rows):
                leaves[b, i] = -1 - root[b]
            continue
        n = np.uint64(0)
        for i in range(n_rows):
            members[n] = i
            n += np.uint64(len(wanted) == 0 or wanted[b, np.uint64(lo) + i])
        _descend(
            rows, stride, n, root[b], words, floats, level_words, level_floats, members, projected,
            waiting, walkers, places, leaves[b],
        )  # fmt: skip


@kernel
def _average(leaves, value, out):
    """Write to out (n, K), which must be 0, the mean `value` of each row's leaves (B, n)."""
    n_rows, n_values = np.uint64(leaves.shape[1]), np.uint64(value.shape[1])
    for b in range(np.uint64(len(leaves))):
        for i in range(n_rows):
            leaf = np.uint64(leaves[b, i])
            for k in range(n_values):
                out[i, k] += value[leaf, k]
    for i in range(n_rows):
        for k in range(n_values):
            out[i, k] /= len(leaves)


def leaves_of(
    packed: Packed, X: Matrix, block: slice, wanted: NDArray[np.bool_] = EVERY_ROW
) -> NDArray[np.int32]:
    """Return the leaf (B, m) in which each of the m rows `block` of X (p, n) ends in each tree.

    The trees are packed for X.  Where `wanted` (B, n) is false, the row is not sent down and its
    leaf is arbitrary; by default all rows are sent.
    """
    rows = np.array(stored(X)[:, block].T, order="C")
    m = len(rows)
    leaves = np.empty((len(packed.root), m), dtype=np.int32)
    # beyond the rows of the block, row numbers whose projections are not used
    members = np.zeros(2 * (m + ABREAST), dtype=np.uint32)
    projected = np.empty(m + ABREAST, dtype=np.float32)
    waiting = np.empty(3 * WAITING, dtype=np.uint64)
    walkers, places = np.empty(WALKERS, dtype=np.uint32), np.empty(WALKERS, dtype=np.uint64)
    _send(
        rows.ravel(), wanted, block.start, *packed, members, projected, waiting, walkers, places,
        leaves,
    )  # fmt: skip
    return leaves


def leaf_nodes(
    forest: Forest, X: Matrix, n_jobs: int, advance: Callable[[int], object] = lambda n: None
) -> NDArray[np.int64]:
    """Return the node (n, B) in which each row of X (p, n) ends in each tree.

    `advance` is told the rows that are done.
    """
    require_memory(
        8.0 * X.shape[1] * forest.n_trees,
        f"the leaves of {X.shape[1]} rows in {forest.n_trees} trees",
        "use fewer rows at a time",
    )
    out = np.empty((X.shape[1], forest.n_trees), dtype=np.int64)
    packed = forest.packed_for(X)

    def run(block: slice) -> None:
        out[block] = leaves_of(packed, X, block).T

    for _ in in_blocks(run, routing_blocks(forest, X, n_jobs), n_jobs, advance):
        pass
    return out


def predict(
    forest: Forest, X: Matrix, n_jobs: int, advance: Callable[[int], object] = lambda n: None
) -> NDArray[np.float64]:
    """Return the mean (n, K) over the trees of the value of each row's leaf.

    For classes these are mean class proportions; equation (4.1) of Zhan, Liu and Xia.  A tree of
    lines has the value of the leaf's line.
    """
    require_memory(
        8.0 * X.shape[1] * forest.value.shape[1],
        f"a prediction of {X.shape[1]} rows",
        "predict fewer rows at a time",
    )
    if forest.lines is not None:
        leaves = leaf_nodes(forest, X, n_jobs, advance)[:, 0]
        return forest.values(leaves, X, np.arange(X.shape[1]))
    out = np.zeros((X.shape[1], forest.value.shape[1]))
    packed = forest.packed_for(X)

    def run(block: slice) -> None:
        _average(leaves_of(packed, X, block), forest.value, out[block])

    for _ in in_blocks(run, routing_blocks(forest, X, n_jobs), n_jobs, advance):
        pass
    return out


def routing_blocks(forest: Forest, X: Matrix, n_jobs: int) -> list[slice]:
    """Cut the rows into blocks, each for one thread and as large as the cache.

    Visiting a node costs less per row if it has many.
    """
    width, n = stored(X).shape
    fair, cached = max(FEWEST_ROWS, -(-n // n_jobs)), max(FEWEST_ROWS, CACHED // max(width, 1))
    return row_blocks(n, max(1, min(fair, cached, ROOM // max(width, forest.n_trees))))


# Predict one row in one call, with less overhead than `predict` has.


@kernel
def scale_row(raw, source, level, low, width, largest, farthest, x):
    """Write to x (r,) the scaled numbers of the values raw (P,); return whether all are finite.

    Number j is raw[source[j]]; where level[j] ≥ 0 it is an indicator, 1 if raw[source[j]] equals
    level[j], else 0.  It is scaled to (value - low[j]) / width[j] in float64, to 0 if width[j] is
    0, and clipped to ±`farthest`.  A value counts as finite if it is within ±`largest`.
    """
    fine = True
    for j in range(len(x)):
        value = raw[source[j]]
        if level[j] >= 0:
            value = 1.0 if value == level[j] else 0.0
        fine = fine and abs(value) <= largest
        value = (value - low[j]) / width[j] if width[j] != 0.0 else 0.0
        x[j] = min(max(value, -farthest), farthest)
    return fine


@allocating
def _mean_of_leaves(x, root, words, floats, level_words, level_floats, value, out):
    n_trees, n_values = np.uint64(len(root)), np.uint64(len(out))
    walkers, places = np.empty(len(root), dtype=np.uint32), np.empty(len(root), dtype=np.uint64)
    leaves = np.empty(len(root), dtype=np.int32)
    n_walkers = np.uint64(0)
    for b in range(n_trees):
        leaves[b] = -1 - root[b]
        walkers[n_walkers], places[n_walkers] = b, root[b]
        n_walkers += np.uint64(root[b] >= 0)
    walk(
        x, np.uint64(0), walkers, places, n_walkers, words, floats, level_words, level_floats,
        leaves,
    )  # fmt: skip
    for k in range(n_values):
        out[k] = 0.0
    for b in range(n_trees):
        leaf = np.uint64(leaves[b])
        for k in range(n_values):
            out[k] += value[leaf, k]
    for k in range(n_values):
        out[k] /= len(root)


def predict_row(
    packed: Packed, value: NDArray[np.float64], x: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the mean (K,) over the trees of the `value` (m, K) of the leaf of one row x (r,).

    The same bits as `predict`. The trees are packed for a matrix that stores these r numbers.
    """
    out = np.empty(value.shape[1])
    _mean_of_leaves(x, *packed, value, out)
    return out


# Send rows down one tree without packing it first, which would not pay for a single use.


@kernel
def _descend_unpacked(
    X, left, threshold, start, index, coef, tables, level_words, level_floats, leaf
):
    """Write the leaf of each row of X (n, r) to leaf (n,).

    Without tables of levels, see `odrf.engine.trees.packing`, the last three are None.
    """
    for i in range(np.uint64(len(X))):
        node = np.uint64(0)
        while left[node] >= 0:
            projected = np.float32(0.0)
            for t in range(np.uint64(start[node]), np.uint64(start[node + np.uint64(1)])):
                if level_words is None or index[t] >= 0:
                    projected += coef[t] * X[i, np.uint64(index[t])]
                else:
                    level = X[i, np.uint64(-1 - index[t])]
                    projected += coefficient_of(level_words, level_floats, tables[t], level)
            node = np.uint64(left[node]) + np.uint64(not projected <= threshold[node])
        leaf[i] = node


def leaves_reached(
    tree: Forest, X: NDArray[np.float32], layout: Layout | None = None
) -> NDArray[np.int32]:
    """Return the leaf (n,) in which each row of X (n, r) ends; `tree` is a forest of one.

    The `layout` tells where the columns are; by default they are the r numbers of a row.  Exactly
    the leaves that `leaf_nodes` finds.
    """
    leaf = np.empty(len(X), dtype=np.int32)
    if not len(X):
        return leaf
    if layout is None:
        terms = tree.start, tree.index, tree.coef
        _descend_unpacked(X, tree.left, tree.threshold, *terms, None, None, None, leaf)
        return leaf
    start, index, coef, *tables = with_level_tables(
        tree.left, tree.start, tree.index, tree.coef, layout
    )
    of_levels = coef.view(np.int32), *tables
    _descend_unpacked(X, tree.left, tree.threshold, start, index, coef, *of_levels, leaf)
    return leaf
