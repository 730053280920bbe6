"""The trees in the layout for routing: one record for each split, its numbers side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.limits import MOST_PLACES, require_numbers
from odrf.engine.rows.coded import Layout
from odrf.engine.trees.level_tables import with_level_tables

__all__ = ["FEWER", "HEAD", "Packed", "groups_of_trees", "pack"]

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
    words = np.empty(_n_words(root, left, start), dtype=np.int32)
    packed = Packed(np.empty(len(root) - 1, dtype=np.int64), words, words.view(np.float32))
    begin, place = 0, np.empty(0, dtype=np.int64)
    for trees in groups_of_trees(root):
        first, last = int(root[trees.start]), int(root[trees.stop])
        if len(place) < last - first:
            place = np.empty(last - first, dtype=np.int64)
        end = _find_places(left, start, first, last, begin, place)
        # of trees that are packed together, or of a large one
        require_numbers(end - begin, MOST_PLACES, "numbers that describe a tree", LARGER)
        packed.root[trees] = place[root[trees] - first]
        _write_records(left, threshold, start, index, coef, first, last, place, *packed[1:3])
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


@kernel
def _find_places(left, start, first, last, begin, place):
    """Write where the records of the splits from node `first` on begin; -1 - i for leaf i.

    Return where the last one ends; the first one begins at `begin`.
    """
    at = begin
    for i in range(first, last):
        if left[i] < 0:
            place[i - first] = -1 - i
        else:
            place[i - first] = at
            at += HEAD + 2 * (np.int64(start[i + 1]) - np.int64(start[i]))
    return at


@kernel
def _write_records(left, threshold, start, index, coef, first, last, place, words, floats):
    """Write the records of the splits from node `first` on, which begin at their `place`."""
    for i in range(first, last):
        at = place[i - first]
        if at < 0:  # a cut leaves its node's terms in the arrays
            continue
        for side in range(2):
            child = place[np.int64(left[i]) + side - first]
            words[at + side] = child if child < 0 else child - at
        floats[at + 2] = threshold[i]
        words[at + 3] = start[i + 1] - start[i]
        at += HEAD
        for term in range(start[i], start[i + 1]):
            words[at], floats[at + 1] = index[term], coef[term]
            at += 2
