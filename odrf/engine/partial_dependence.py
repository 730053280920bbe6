"""One way down each tree for rows and all points of a grid.

At each point some columns of the row have other values.  A split without these columns sends all
points to the same side, after one projection.  Any other split divides the points between its two
sides.  So the points walk together until splits part them, instead of one walk for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.factors import Matrix, layout_of, stored
from odrf.engine.memory import require_memory
from odrf.engine.running import in_blocks, row_blocks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.packing import HEAD, coefficient_of
from odrf.engine.trees.routing import ABREAST, project_at_node, term_at

# What a split does with the points of a row: where they part, or which go left.
# A split that reads a column with other values may send the points of a row to both sides.


@kernel
def mark_records(own, words):
    """Negate the number of terms of records that read a column c with ``own[c]`` not negative."""
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    node = np.uint64(0)
    while node < np.uint64(len(words)):
        first = node + np.uint64(HEAD)
        last = first + two * np.uint64(words[node + three])
        for term in range(first, last, two):
            column = words[term]
            if own[np.uint64(column if column >= 0 else -1 - column)] >= 0:
                words[node + three] = -np.int32((last - first) // two)
        node = last + one - one


@part
def touching_term(first, last, own, words):
    """Return the first term that reads a replaced column, and whether it is only one number."""
    found, alone = last, True
    for term in range(first, last, np.uint64(2)):
        column = words[term]
        if own[np.uint64(column if column >= 0 else -1 - column)] >= 0:
            alone = found == last and column >= 0
            found = min(found, term)
    return found, alone


@part
def with_terms(
    projected, rows, row, first, last, words, floats, level_words, level_floats
):  # fmt: skip
    """Add the terms from `first` on to a projection, in float32 in their order."""
    for term in range(first, last, np.uint64(2)):
        projected += term_at(
            rows, row, words[term], term + np.uint64(1), words, floats, level_words, level_floats
        )
    return projected


@part
def _goes_right(
    value, common, rows, row, touching, last, threshold, words, floats, level_words, level_floats
):  # fmt: skip
    """Return whether a row goes right whose column of the term `touching` has this value."""
    projected = common + floats[touching + np.uint64(1)] * value
    projected = with_terms(
        projected, rows, row, touching + np.uint64(2), last, words, floats, level_words,
        level_floats,
    )  # fmt: skip
    return np.uint64(not projected <= threshold)


@part
def first_apart(
    values, lo, hi, common, rows, row, touching, last, threshold, words, floats, level_words,
    level_floats,
):  # fmt: skip
    """Return the side of values[lo], monotone up to hi, and where those of the other side begin."""
    one = np.uint64(1)
    side = _goes_right(
        values[lo], common, rows, row, touching, last, threshold, words, floats, level_words,
        level_floats,
    )  # fmt: skip
    below, above, middle = lo, hi, hi - one
    while above - below > one:
        there = _goes_right(
            values[middle], common, rows, row, touching, last, threshold, words, floats,
            level_words, level_floats,
        )  # fmt: skip
        if there == side:
            below = middle
        else:
            above = middle
        middle = (below + above) // np.uint64(2)
    return side, above


@part
def _point_goes_right(
    point, n_points, values, own, common, rows, row, touching, last, threshold, words, floats,
    level_words, level_floats,
):  # fmt: skip
    """Return whether a row goes right at a point; the flat `values` have a row for each column."""
    projected, one = common, np.uint64(1)
    for term in range(touching, last, np.uint64(2)):
        column = words[term]
        place = np.uint64(column if column >= 0 else -1 - column)
        value = rows[row + place]
        if own[place] >= 0:
            value = values[np.uint64(own[place]) * n_points + point]
        if level_words is None or column >= 0:
            projected += floats[term + one] * value
        else:
            projected += coefficient_of(level_words, level_floats, words[term + one], value)
    return np.uint64(not projected <= threshold)


@part
def divide_points(
    members, lo, hi, scratch, n_points, values, distinct, code, own, common, rows, row, touching,
    alone, last, threshold, words, floats, level_words, level_floats,
):  # fmt: skip
    """Move the points members[lo:hi] that go left to the front; return where the others begin.

    If the split has one column with other values `alone`, and all rows have the same ones, its
    `distinct` values (T, up to G) are divided first, and points follow their `code` (T, G).
    """
    one = np.uint64(1)
    column = np.uint64(0)
    first_side, apart = one, np.uint64(0)
    by_code = alone and code.shape[1] > 0
    if by_code:
        column = np.uint64(own[np.uint64(words[touching])])
        first_side, apart = first_apart(
            distinct[column], np.uint64(0), np.uint64(code[column, n_points]), common, rows, row,
            touching, last, threshold, words, floats, level_words, level_floats,
        )  # fmt: skip
    left, right = lo, np.uint64(0)
    for i in range(lo, hi):
        point = np.uint64(members[i])
        if by_code:
            side = first_side ^ np.uint64(np.uint64(code[column, point]) >= apart)
        else:
            side = _point_goes_right(
                point, n_points, values, own, common, rows, row, touching, last, threshold, words,
                floats, level_words, level_floats,
            )  # fmt: skip
        members[left] = scratch[right] = point
        left += one - side
        right += side
    for i in range(right):
        members[left + i] = scratch[i]
    return left


# One way down each tree for rows and all points of a grid.

# Most rows of a block, and most numbers in the curves of its rows.
MOST_ROWS, ROOM = 2048, 2**20

NO_VALUES, NO_CODES = np.empty((0, 0), dtype=np.float32), np.empty((0, 0), dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class OtherValues:
    """What some rows of a stored matrix hold at each of G points, instead of their own values.

    `places` (T,): rows of the array that the matrix stores.  `values` (1, T, G): their values at
    each point, the same for all n rows of the data, or for each of them.
    """

    places: NDArray[np.int64]
    values: NDArray[np.float32]

    @property
    def n_points(self) -> int:
        """The number of points G."""
        return self.values.shape[2]

    @property
    def rising(self) -> bool:
        """Whether there is one column, whose values never fall from one point to the next."""
        return len(self.places) == 1 and bool((np.diff(self.values, axis=2) >= 0).all())

    @property
    def distinct(self) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
        """Return distinct values (T, G) of each column, rising, and codes (T, G + 1); or none."""
        if len(self.values) > 1:
            return NO_VALUES, NO_CODES
        T, G = self.values.shape[1:]
        values, code = np.zeros((T, G), dtype=np.float32), np.empty((T, G + 1), dtype=np.uint32)
        for t in range(T):
            found, code[t, :G] = np.unique(self.values[0, t], return_inverse=True)
            values[t, : len(found)], code[t, G] = found, len(found)
        return values, code

    def of_rows(self, block: slice) -> NDArray[np.float32]:
        """Return the values (1, T, G) or (m, T, G) of a block of m rows."""
        return self.values if len(self.values) == 1 else self.values[block]


class BlockCurves(NamedTuple):
    """The curves of a block of m rows.

    `rows`: which rows these are.  `of_trees` (B, G, K): for each tree the sum over the rows of
    weight times predicted value, at each point.  `of_rows`: for each row the sum over the trees of
    the predicted values, at each point.
    """

    rows: slice
    of_trees: NDArray[np.float64]
    of_rows: NDArray[np.float64]


@part
def _put(item, row, begin, end, to):
    """Write an item, a row with its points from `begin` to before `end`, to the place `to`."""
    item[to, 0], item[to, 1], item[to, 2] = row, begin, end


@part
def _add_leaf(
    item, lo, hi, b, leaf, value, first_value, weights, n_points, rising, members, of_trees, of_rows
):  # fmt: skip
    """Add what a leaf predicts to the sums of its items lo … hi - 1."""
    zero, one, two = np.uint64(0), np.uint64(1), np.uint64(2)
    for k in range(np.uint64(value.shape[1])):
        found, at = value[leaf, k], first_value + k
        for i in range(lo, hi):
            row = np.uint64(item[i, zero])
            begin, end, weighted = (
                np.uint64(item[i, one]),
                np.uint64(item[i, two]),
                weights[row] * found,
            )
            if rising:
                of_trees[b, begin, k] += weighted
                of_trees[b, end, k] -= weighted
                of_rows[row, begin, at] += found
                of_rows[row, end, at] -= found
            else:
                for j in range(begin, end):
                    to = np.uint64(members[row * n_points + j])
                    of_trees[b, to, k] += weighted
                    of_rows[row, to, at] += found


@part
def _divide_items(item, lo, hi, threshold, projected, aside):
    """Move items whose rows go left to the front; return where the others begin and end."""
    one = np.uint64(1)
    left, right = lo, np.uint64(0)
    for i in range(lo, hi):
        row, begin, end = item[i, 0], item[i, 1], item[i, 2]
        goes_left = np.uint64(projected[i] <= threshold)
        _put(item, row, begin, end, left)
        _put(aside, row, begin, end, right)
        left += goes_left
        right += one - goes_left
    for i in range(right):
        _put(item, aside[i, 0], aside[i, 1], aside[i, 2], left + i)
    return left, left + right


@part
def _part_items(
    item, lo, hi, rows, stride, n_points, values, rising, distinct, code, own, node, words, floats,
    level_words, level_floats, members, scratch, aside,
):  # fmt: skip
    """Part items whose points go to both sides, left first; return where others begin and end."""
    zero, one, two = np.uint64(0), np.uint64(1), np.uint64(2)
    first, threshold = node + np.uint64(HEAD), floats[node + two]
    last = first + two * np.uint64(-words[node + np.uint64(3)])
    touching, alone = touching_term(first, last, own, words)
    left, right = lo, zero
    for i in range(lo, hi):
        who, begin, end = np.uint64(item[i, 0]), np.uint64(item[i, 1]), np.uint64(item[i, 2])
        row, other = who * stride, values[who % np.uint64(len(values))]
        common = with_terms(
            np.float32(0.0), rows, row, first, touching, words, floats, level_words, level_floats
        )
        if rising:
            side, middle = first_apart(
                other, begin, end, common, rows, row, touching, last, threshold, words, floats,
                level_words, level_floats,
            )  # fmt: skip
        else:
            start = who * n_points
            middle = divide_points(
                members, start + begin, start + end, scratch, n_points, other, distinct, code, own,
                common, rows, row, touching, alone, last, threshold, words, floats, level_words,
                level_floats,
            ) - start  # fmt: skip
            side = zero
        # the points before the middle go to `side`, those from there on to the other one
        cut = middle - begin if side == zero else end - middle
        if cut > zero:
            _put(
                item, who, begin if side == zero else middle, middle if side == zero else end, left
            )
            left += one
        if cut < end - begin:
            _put(
                aside, who, middle if side == zero else begin, end if side == zero else middle,
                right,
            )  # fmt: skip
            right += one
    for i in range(right):
        _put(item, aside[i, 0], aside[i, 1], aside[i, 2], left + i)
    return left, left + right


@kernel
def _descend_with_points(
    rows, stride, values, rising, distinct, code, own, weights, root, words, floats, level_words,
    level_floats, value, n_outputs, members, scratch, item, aside, who, projected, waiting,
    of_trees, of_rows,
):  # fmt: skip
    """Add to of_trees (B, G, K) and of_rows (m, G, K') what m rows predict; see `BlockCurves`.

    An item is a row with those of its points that are still together.  The items of a node are
    divided together, as the rows in `odrf.engine.trees.routing`; those of the node that is visited
    next end the list, so that it may grow where splits part items.  If values are `rising`, the
    points of an item are neighbours, and what a leaf adds to neighbours is added to the first of
    them and taken from the one after the last (so that G is larger by 1).
    """
    zero, one, two, three = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
    m = np.uint64(len(of_rows))
    n_points = np.uint64(of_trees.shape[1]) - np.uint64(rising)
    for b in range(np.uint64(len(root))):
        first_value = b % np.uint64(n_outputs)
        for i in range(m):
            _put(item, i, zero, n_points, i)
        if not rising:
            for i in range(m):
                for point in range(n_points):
                    members[i * n_points + point] = point
        top = zero
        if root[b] < 0:
            _add_leaf(
                item, zero, m, b, np.uint64(-1 - root[b]), value, first_value, weights, n_points,
                rising, members, of_trees, of_rows,
            )  # fmt: skip
        else:
            waiting[0], waiting[1], waiting[2] = np.uint64(root[b]), zero, m
            top = one
        while top > zero:
            top -= one
            node, lo, hi = (
                waiting[three * top],
                waiting[three * top + one],
                waiting[three * top + two],
            )
            if words[node + three] >= 0:
                for i in range(lo, hi):
                    who[i] = item[i, 0]
                project_at_node(
                    rows, stride, who, lo, hi, node, words, floats, level_words, level_floats,
                    projected,
                )  # fmt: skip
                middle, last = _divide_items(item, lo, hi, floats[node + two], projected, aside)
            else:
                middle, last = _part_items(
                    item, lo, hi, rows, stride, n_points, values, rising, distinct, code, own, node,
                    words, floats, level_words, level_floats, members, scratch, aside,
                )  # fmt: skip
            for side in range(two):
                begin, end = (middle, last) if side else (lo, middle)
                child = words[node + side]
                if begin == end:
                    continue
                if child < 0:
                    _add_leaf(
                        item, begin, end, b, np.uint64(-1 - child), value, first_value, weights,
                        n_points, rising, members, of_trees, of_rows,
                    )  # fmt: skip
                else:
                    place = three * top
                    waiting[place], waiting[place + one] = node + np.uint64(child), begin
                    waiting[place + two] = end
                    top += one


def curves_by_block(
    forest: Forest, X: Matrix, other: OtherValues, weights: NDArray[np.float64], n_outputs: int,
    n_jobs: int, advance: Callable[[int], object] = lambda n: None,
) -> Iterator[BlockCurves]:  # fmt: skip
    """Yield the curves of blocks of the rows of X (p, n), in their order.

    `X` (p, n).  `other`: what columns hold at each point.  `weights` (n,): weights of the rows in
    the sums of each tree.  `n_outputs`: 1 if a tree predicts all of its values; K' if tree b
    predicts number b modulo K' alone.  `n_jobs`: threads; the sums are the same for any number.
    `advance`: told the rows that are done.
    """
    packed, G, of_tree = forest.packed_for(X), other.n_points, forest.value.shape[1]
    width, of_row = len(stored(X)), max(of_tree, n_outputs)
    own = np.full(width, -1, dtype=np.int64)
    own[other.places] = np.arange(len(other.places))
    words = packed.words.copy()
    mark_records(own, words)
    marked = packed._replace(words=words, floats=words.view(np.float32))
    # a factor in codes is no number
    layout = layout_of(X)
    rising = other.rising and (layout is None or other.places[0] < layout.n_numbers)
    distinct, code = (NO_VALUES, NO_CODES) if rising else other.distinct
    room, deepest = G + int(rising), int(forest.depth().max()) + 2

    require_memory(
        8.0 * forest.n_trees * room * of_tree,
        f"curves of {forest.n_trees} trees at {G} points",
        "use fewer points, or fewer trees",
    )

    def run(block: slice) -> BlockCurves:
        rows = np.array(stored(X)[:, block].T, order="C")
        m = len(rows)
        values = np.ascontiguousarray(other.of_rows(block)).reshape(-1, other.values[0].size)
        of_trees, of_rows = np.zeros((forest.n_trees, room, of_tree)), np.zeros((m, room, of_row))
        members = np.empty(0 if rising else m * G, dtype=np.uint32)
        scratch = np.empty(G, dtype=np.uint32)
        # beyond the items, row numbers whose projections are not used
        who, projected = np.zeros(m * G + ABREAST, np.uint32), np.empty(m * G + ABREAST, np.float32)
        item, aside = np.empty((2, m * G + 1, 3), np.uint32)
        _descend_with_points(
            rows.ravel(), np.uint64(width), values, rising, distinct, code, own, weights[block],
            *marked, forest.value, n_outputs, members, scratch, item, aside, who, projected,
            np.empty(3 * deepest, np.uint64), of_trees, of_rows,
        )  # fmt: skip
        if rising:
            of_trees, of_rows = of_trees[:, :G].cumsum(axis=1), of_rows[:, :G].cumsum(axis=1)
        return BlockCurves(block, of_trees, of_rows)

    size = max(1, min(MOST_ROWS, ROOM // (G * of_row)))
    return in_blocks(run, row_blocks(X.shape[1], size), n_jobs, advance)
