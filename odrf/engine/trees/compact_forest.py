"""Trees that keep only what predicts: records for routing, and each different leaf value once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.joining.memory_of_trees import require_memory_for_all
from odrf.engine.limits import MOST_PLACES, require_numbers
from odrf.engine.rows.coded import Layout, Matrix, layout_of, stored
from odrf.engine.trees.appended import AppendedArray
from odrf.engine.trees.distinct_values import DistinctValues, require_32_bits
from odrf.engine.trees.forest_arrays import ARRAYS, Forest
from odrf.engine.trees.level_tables import UNIT
from odrf.engine.trees.packing import FEWER, HEAD, Packed, groups_of_trees
from odrf.errors import InputError

__all__ = [
    "KEPT",
    "CompactForest",
    "CompactJoining",
    "Compaction",
    "compact_forest_of",
]

NODES_ARE_ABSENT = (
    "this needs the nodes of the trees, and compact() has kept only what predicts: use the fit "
    "before it, or fit again"
)


class Compaction(NamedTuple):
    """What it costs and saves to keep only what predicts.

    Attributes
    ----------
    bits : int
        Of a leaf value, 32 or 16.
    before : int
        Bytes of the trees before, without their layout for routing.
    leaf_largest, leaf_mean : float
        The largest and the mean change of a leaf value.
    largest, mean : float
        Those of a prediction of training rows; NaN if there were none.
    rows : int
        The training rows that were predicted for that.
    """

    bits: int
    before: int
    leaf_largest: float
    leaf_mean: float
    largest: float = np.nan
    mean: float = np.nan
    rows: int = 0


class CompactForest(Forest):
    """A `Forest` without the arrays that predictions do not need.

    A leaf has no number of its own: in the records for routing, `Packed`, it is the number of its
    value.  So leaves with the same value take no more room than one of them.

    Parameters
    ----------
    at : (B,) int64
    words : int32
        As `root` and `words` of `Packed`; a leaf is -1 - i, i the row of its value.
    level_words : int32, or None
        As in `Packed`.
    value : (U, K) float32
        The different values of leaves.
    n_of_tree : (B,) int64
        The leaves of each tree.
    ordered : () bool
        As in `Forest`.
    layout : Layout or None
        Where columns are in the matrix that the records read.
    n_stored : int
        The rows of this matrix.
    compaction : Compaction
    """

    at: NDArray[np.int64]
    words: NDArray[np.int32]
    level_words: NDArray[np.int32] | None
    n_of_tree: NDArray[np.int64]
    layout: Layout | None
    n_stored: int
    compaction: Compaction

    def __init__(
        self,
        at: NDArray[np.int64],
        words: NDArray[np.int32],
        level_words: NDArray[np.int32] | None,
        value: NDArray[np.float32],
        n_of_tree: NDArray[np.int64],
        ordered: np.bool_,
        layout: Layout | None,
        n_stored: int,
        compaction: Compaction,
    ) -> None:
        self.__dict__.update(
            at=at,
            words=words,
            level_words=level_words,
            value=value,
            n_of_tree=n_of_tree,
            ordered=ordered,
            layout=layout,
            n_stored=n_stored,
            compaction=compaction,
        )

    if not TYPE_CHECKING:  # for types, attributes are those that are written down
        value: NDArray[np.float32]

        def __getattr__(self, name: str) -> Any:
            if name in ARRAYS:
                self.require_nodes()
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def n_trees(self) -> int:
        """Number of trees B."""
        return len(self.at)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return int(2 * self.n_of_tree.sum()) - self.n_trees

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays = self.at, self.words, self.value, self.n_of_tree, self.level_words
        return sum([array.nbytes for array in arrays if array is not None])

    @cached_property
    def packed(self) -> Packed:
        """The records, for the matrix that they read."""
        levels = self.level_words
        of_levels = None if levels is None else levels.view(np.float32)
        return Packed(self.at, self.words, self.words.view(np.float32), levels, of_levels)

    def packed_for(self, X: Matrix) -> Packed:
        """Return the records, which read X.

        Raises
        ------
        InputError
            They read another matrix: X has columns that tell empty cells.
        """
        if (layout_of(X) is None) != (self.layout is None) or len(stored(X)) != self.n_stored:
            self.require_nodes()
        return self.packed

    def leaves(self) -> NDArray[np.int64]:
        """Return the number of leaves of each tree (B,)."""
        return self.n_of_tree

    def saying(self, compaction: Compaction) -> CompactForest:
        """Return the same trees with another account of what was lost."""
        return CompactForest(**{**self.__getstate__(), "compaction": compaction})

    def require_nodes(self) -> None:
        """Raise `InputError`: the nodes are not there."""
        raise InputError(NODES_ARE_ABSENT)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in KEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


KEPT = (
    "at", "words", "level_words", "value", "n_of_tree", "ordered", "layout", "n_stored",
    "compaction",
)  # fmt: skip
"""The names of what a `CompactForest` holds."""


def compact_forest_of(
    trees: Iterable[Forest],
    X: Matrix,
    K: int,
    ordered: bool,
    bits: int,
    span: tuple[float, float],
    expected: int = 0,
) -> CompactForest:
    """Return trees of the same design as a compact forest, in their order.

    Each of the `trees` may be a forest; it is not needed any more when the next one is taken.

    Parameters
    ----------
    trees : iterable of Forest
    X : Matrix (p, n)
        Rows of the matrix that the records are to read.
    K : int
        Numbers of the value of a leaf.
    ordered : bool
        As in `Forest`.
    bits, span
        See `odrf.engine.trees.distinct_values.DistinctValues`.
    expected : int, optional
        How many trees there will be, if they are grown now.

    Raises
    ------
    InputError
        The trees have surrogates, or their values are too large or too small for 32 bits.
    MemoryError
        The trees so far show that memory does not suffice for all that are expected.
    """
    require_32_bits(span)
    layout = layout_of(X)
    words, levels = AppendedArray(np.empty(0, np.int32)), AppendedArray(np.empty(0, np.int32))
    at: list[NDArray[np.int64]] = []
    n_of_tree: list[NDArray[np.int64]] = []
    values = DistinctValues(K, bits, span)
    before = done = nodes = 0
    for some in _in_groups(trees):
        if some.surrogates is not None:
            raise InputError(
                "compact() keeps no surrogates, and predictions of this fit need them: fit with "
                'missing="split"'
            )
        before += some.nbytes
        leaf = np.flatnonzero(some.is_leaf())
        number = np.zeros(some.n_nodes, dtype=np.int32)
        number[leaf] = values.numbers_of(some.value[leaf])
        packed = some.packed_for(X)
        _renumber(packed.words, number, len(levels) // UNIT)
        root = packed.root + len(words)
        single = packed.root < 0
        root[single] = -1 - number[-1 - packed.root[single]]
        at.append(root)
        words.append(packed.words)
        if packed.level_words is not None:
            levels.append(packed.level_words)
        n_of_tree.append(some.leaves())
        require_numbers(len(values), MOST_PLACES, "values of leaves", FEWER)
        done, nodes = done + some.n_trees, nodes + some.n_nodes
        if done < expected and done.bit_count() == 1:  # 1, 2, 4, 8, … trees
            size = 4 * (len(words) + len(levels) + K * len(values))
            require_memory_for_all(size, done, expected, nodes)
    return CompactForest(
        np.concatenate(at),
        words.taken(),
        None if layout is None else levels.taken(),
        values.table(),
        np.concatenate(n_of_tree),
        np.bool_(ordered),
        layout,
        len(stored(X)),
        Compaction(bits, before, values.largest, values.total / max(1, values.count)),
    )


class CompactJoining(NamedTuple):
    """Trees are made compact as they come; the arguments of `compact_forest_of`."""

    X: Matrix
    K: int
    ordered: bool
    bits: int
    span: tuple[float, float]

    def join(self, trees: Iterable[Forest], n_trees: int) -> Forest:
        """Return the compact forest."""
        return compact_forest_of(trees, *self, expected=n_trees)

    def size(self, tree: Forest) -> int:
        """Return the bytes of the records of a tree."""
        return 4 * (HEAD * (tree.n_nodes // 2) + 2 * len(tree.index))


def _in_groups(trees: Iterable[Forest]) -> Iterator[Forest]:
    """Yield forests of a few trees: so many as are packed together."""
    for forest in trees:
        for some in groups_of_trees(forest.root):
            yield forest.trees(some.start, some.stop)


@kernel
def _renumber(words, number, shift):
    """Replace the leaves in records by their `number` (m,), and move the tables of levels.

    The tables begin `shift` units later.
    """
    at = 0
    while at < len(words):
        for side in range(2):
            if words[at + side] < 0:
                words[at + side] = -1 - number[-1 - words[at + side]]
        end = at + HEAD + 2 * words[at + HEAD - 1]
        for term in range(at + HEAD, end, 2):
            if words[term] < 0:
                words[term + 1] += shift
        at = end
