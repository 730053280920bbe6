"""The trees in the layout for routing: one record for each split, its numbers side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, part
from odrf.engine.factors import Layout
from odrf.engine.memory import MOST_PLACES, require_numbers

# In a `Forest` such a factor has a term for each level with a coefficient.  A row has one level at
# most.  So a table of the coefficients by level gives what the factor adds to the row's projection,
# however many levels it has.

# Tables begin at multiples of so many words: so that their places fit 32 bits in large forests.
UNIT = 4
# Words before the entries of a table.
TITLE = 2

FEWER_LEVELS = "use fewer trees (n_trees=), or join levels that are rare"


class LevelTables(NamedTuple):
    """The terms of a forest's nodes, with one for each factor of many levels; and the tables.

    A table has two words, then its entries.  If these are a and n ≥ 0, the entries are the
    coefficients of the n levels from a on; if they are a and -n, the numbers of n levels in
    ascending order and then their coefficients.  The shorter of both is used.  `start` (m + 1,):
    where each node's terms begin.  `row` (z,): the row of the matrix that a term reads; -1 - row,
    if this holds the levels of a factor.  `coef` (z,): the coefficient; for a factor the bits of
    the place of its table, divided by `UNIT`.  `words`: the tables.  `floats`: the same memory,
    viewed as floats.
    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    coef: NDArray[np.float32]
    words: NDArray[np.int32]
    floats: NDArray[np.float32]


@part
def coefficient_of(words, floats, place, level):
    """Return the coefficient of a level, 0 if it has none, in the table at this place."""
    at = np.int64(place) * UNIT
    low, n, wanted = words[at], np.int64(words[at + 1]), np.int64(level)
    at += TITLE
    if n >= 0:
        k = wanted - low
        return floats[at + k] if 0 <= k < n else np.float32(0.0)
    first, last = np.int64(0), -n
    while first < last:
        middle = (first + last) // 2
        if words[at + middle] < wanted:
            first = middle + 1
        else:
            last = middle
    has_level = first < -n and words[at + first] == wanted
    return floats[at + first - n] if has_level else np.float32(0.0)


@part
def _end_of_factor(index, place, level, first, last):
    """Return where the terms of the factor of term `first` end, and the range of its levels."""
    t, row = first, place[index[first]]
    low = high = level[index[first]]
    while t < last and level[index[t]] > 0 and place[index[t]] == row:
        low, high = min(low, level[index[t]]), max(high, level[index[t]])
        t += 1
    return t, low, high


@part
def _entries(n, low, high):
    """Return how many words the entries of n levels in a range take, and whether all have one."""
    every = high - low + 1 <= 2 * n
    return (high - low + 1 if every else 2 * n), every


@allocating
def _sizes(left, start, index, place, level):
    """Return how many terms and words of tables the splits have."""
    terms, room = 0, 0
    for node in range(len(left)):
        t, last = start[node], start[node + 1] if left[node] >= 0 else start[node]
        while t < last:
            terms += 1
            if level[index[t]] == 0:
                t += 1
                continue
            first = t
            t, low, high = _end_of_factor(index, place, level, first, last)
            size, _ = _entries(t - first, low, high)
            room += -(-(TITLE + size) // UNIT) * UNIT
    return terms, room


@allocating
def _write_table(index, coef, level, first, last, low, high, words, floats, at):
    """Write the table of the terms first … last - 1; return its number of words."""
    n = last - first
    size, every = _entries(n, low, high)
    words[at], words[at + 1] = low, size if every else -n
    if every:
        for t in range(first, last):
            floats[at + TITLE + level[index[t]] - low] = coef[t]
    else:
        order = np.argsort(level[index[first:last]])
        for k in range(n):
            t = first + order[k]
            words[at + TITLE + k], floats[at + TITLE + n + k] = level[index[t]], coef[t]
    return -(-(TITLE + size) // UNIT) * UNIT


@allocating
def _write(left, start, index, coef, place, level, new_start, new_index, new_words, new_coef,
           words, floats):  # fmt: skip
    """Write the arrays of `LevelTables`; new_words is the memory of new_coef, viewed as words."""
    term, at = 0, 0
    for node in range(len(left)):
        new_start[node] = term
        t, last = start[node], start[node + 1] if left[node] >= 0 else start[node]
        while t < last:
            column = index[t]
            new_index[term], new_coef[term] = place[column], coef[t]
            if level[column] == 0:
                t += 1
            else:
                first = t
                t, low, high = _end_of_factor(index, place, level, first, last)
                new_index[term], new_words[term] = -1 - place[column], at // UNIT
                at += _write_table(index, coef, level, first, t, low, high, words, floats, at)
            term += 1
    new_start[len(left)] = term


def with_level_tables(
    left: NDArray[np.integer],
    start: NDArray[np.integer],
    index: NDArray[np.integer],
    coef: NDArray[np.float32],
    layout: Layout,
) -> LevelTables:
    """Return the terms of the splits of a `Forest`; see there for the arguments.

    The terms of a factor that follow one another become one.  They are of different levels.
    """
    terms, room = _sizes(left, start, index, layout.place, layout.level)
    require_numbers(room // UNIT, MOST_PLACES, "numbers of tables of levels", FEWER_LEVELS)
    coefficients = np.empty(terms, dtype=np.float32)
    tables = np.zeros(room, dtype=np.int32)
    new = LevelTables(
        np.empty(len(left) + 1, dtype=np.int64),
        np.empty(terms, dtype=np.int32),
        coefficients,
        tables,
        tables.view(np.float32),
    )
    _write(
        left, start, index, coef, layout.place, layout.level, new.start, new.row,
        coefficients.view(np.int32), coefficients, new.words, new.floats,
    )  # fmt: skip
    return new


# The trees in the layout for routing: one record for each split, its numbers side by side.

# Numbers in a record before its terms: left, right, threshold, number of terms.
HEAD = 4

# Trees of about this many nodes together are packed at a time: they fit the cache, and need little
# memory besides the forest.
NODES_AT_A_TIME = 2**16

FEWER = "use fewer trees (n_trees=), or larger leaves (min_leaf=)"
LARGER = "use larger leaves (min_leaf=), or fewer of them (max_leaves=)"


class Packed(NamedTuple):
    """The split nodes of all trees, in their order, as records of 32-bit numbers.

    A record holds the two children, the bits of the float32 threshold, the number of terms and,
    for each term, a column and the bits of its coefficient.  A child that is a split is stored as
    the distance in words from this record to its own; a leaf as -1 - i, i its number in the
    `Forest`.  Most records fit one cache line, and those of the upper levels lie together.

    `root` (B,): where each tree's first record begins; -1 - i if the tree is a single leaf, number
    i.  `words`: the records.  `floats`: the same memory as `words`, viewed as floats.
    `level_words`, `level_floats`: the tables of `LevelTables`, if rows hold the levels of factors;
    records have their terms.  With None, kernels are compiled without them.
    """

    root: NDArray[np.int64]
    words: NDArray[np.int32]
    floats: NDArray[np.float32]
    level_words: NDArray[np.int32] | None = None
    level_floats: NDArray[np.float32] | None = None


def pack(
    root: NDArray[np.integer],
    left: NDArray[np.integer],
    threshold: NDArray[np.float32],
    start: NDArray[np.integer],
    index: NDArray[np.integer],
    coef: NDArray[np.float32],
    layout: Layout | None = None,
) -> Packed:
    """Pack the arrays of a `Forest`; see there for the arguments.

    `layout` tells where the columns are in the matrix whose rows are to be sent down; by default
    its rows are the columns.
    """
    require_numbers(int(root[-1]), MOST_PLACES, "nodes of all trees", FEWER)
    if layout is not None:
        coded = with_level_tables(left, start, index, coef, layout)
        packed = pack(root, left, threshold, coded.start, coded.row, coded.coef)
        return packed._replace(level_words=coded.words, level_floats=coded.floats)
    # In NumPy: a kernel would be faster, but the first summary would wait for its compilation.
    words = np.empty(_n_words(root, left, start), dtype=np.int32)
    packed = Packed(np.empty(len(root) - 1, dtype=np.int64), words, words.view(np.float32))
    begin = 0
    for trees in groups_of_trees(root):
        nodes = slice(int(root[trees.start]), int(root[trees.stop]))
        terms = slice(int(start[nodes.start]), int(start[nodes.stop]))
        sizes = np.diff(start[nodes.start : nodes.stop + 1])
        split = left[nodes] >= 0
        place, end = _places(split, sizes, nodes.start, begin)
        # of trees that are packed together, or of a large one
        require_numbers(end - begin, MOST_PLACES, "numbers that describe a tree", LARGER)
        packed.root[trees] = place[root[trees] - nodes.start]
        _write_heads(packed, place, left[nodes] - nodes.start, threshold[nodes], sizes)
        # a cut leaves its node's terms in the arrays
        kept = np.repeat(split, sizes)
        write_terms(packed, begin, sizes[split], index[terms][kept], coef[terms][kept])
        begin = end
    return packed


def _n_words(
    root: NDArray[np.integer], left: NDArray[np.integer], start: NDArray[np.integer]
) -> int:
    """Return how many numbers the records of all splits have."""
    n_words = 0
    for trees in groups_of_trees(root):
        first, last = int(root[trees.start]), int(root[trees.stop])
        split = left[first:last] >= 0
        n_terms = np.diff(start[first : last + 1])[split].sum(dtype=np.int64)
        n_words += HEAD * int(np.count_nonzero(split)) + 2 * int(n_terms)
    return n_words


def groups_of_trees(root: NDArray[np.integer]) -> Iterator[slice]:
    """Yield slices of trees of about `NODES_AT_A_TIME` nodes together, at least one tree each."""
    first = 0
    while first < len(root) - 1:
        beyond = int(np.searchsorted(root, root[first] + NODES_AT_A_TIME, side="right"))
        yield slice(first, max(first + 1, beyond - 1))
        first = max(first + 1, beyond - 1)


def _places(
    split: NDArray[np.bool_], sizes: NDArray[np.integer], first: int, begin: int
) -> tuple[NDArray[np.int64], int]:
    """Return where each split's record begins, -1 - i for leaf i; and where the last one ends."""
    ends = begin + np.cumsum(np.where(split, HEAD + 2 * sizes, 0), dtype=np.int64)
    leaf = np.arange(-1 - first, -1 - first - len(split), -1)
    return np.where(split, ends - HEAD - 2 * sizes, leaf), int(ends[-1])


def _write_heads(
    packed: Packed,
    place: NDArray[np.int64],
    left: NDArray[np.integer],
    threshold: NDArray[np.float32],
    sizes: NDArray[np.integer],
) -> None:
    split = place >= 0
    at, left = place[split], left[split]
    for side in range(2):
        child = place[left + side]
        packed.words[at + side] = np.where(child < 0, child, child - at)
    packed.floats[at + 2] = threshold[split]
    packed.words[at + 3] = sizes[split]


def write_terms(
    packed: Packed,
    begin: int,
    sizes: NDArray[np.integer],
    index: NDArray[np.integer],
    coef: NDArray[np.float32],
) -> None:
    """Write the terms of consecutive records from `begin` on, which have so many terms."""
    heads = HEAD * np.repeat(np.arange(1, len(sizes) + 1), sizes)
    at = begin + heads + 2 * np.arange(len(heads))
    packed.words[at] = index
    packed.floats[at + 1] = coef
