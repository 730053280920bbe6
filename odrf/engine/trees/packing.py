"""The trees in the layout for routing: one record for each split, its numbers side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.limits import MOST_PLACES, require_numbers
from odrf.engine.rows.coded import Layout
from odrf.engine.trees.level_tables import with_level_tables

__all__ = ["FEWER", "HEAD", "Packed", "groups_of_trees", "pack", "write_terms"]

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

    Attributes
    ----------
    root : (B,) int64
        Where each tree's first record begins; -1 - i if the tree is a single leaf, number i.
    words : int32
        The records.
    floats : float32
        The same memory as `words`, viewed as floats.
    level_words, level_floats : None, or int32 and float32
        The tables of `odrf.engine.trees.level_tables.LevelTables`, if rows hold the levels of
        factors; records have their terms.  With None, kernels are compiled without them.
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
