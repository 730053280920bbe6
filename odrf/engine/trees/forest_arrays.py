"""Grown trees as flat arrays; a single tree is a forest of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.joining.following_arrays import FOLLOWED, FOLLOWING
from odrf.engine.joining.joined_arrays import (
    OF_NODES,
    OF_TERMS,
    JoinedArrays,
    concatenated_arrays,
)
from odrf.engine.joining.memory_of_trees import within_memory
from odrf.engine.limits import in_fewer_bits
from odrf.engine.rows.coded import Layout, Matrix, layout_of
from odrf.engine.surrogates.chains import pack_with_surrogates
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits
from odrf.engine.trees.packing import Packed, pack
from odrf.engine.trees.prediction_rule import MEDIAN, MOST_LIKELY, NUMBER
from odrf.engine.trees.read_later import ReadLater

__all__ = [
    "ARRAYS",
    "OF_NODES",
    "OF_TERMS",
    "Forest",
    "concatenated",
    "joined",
]

# The first trees, which say how much memory to reserve, are a share of all, or a few: those of a
# blend in the same turn of kinds.
SHARE, FEW = 1 / 8, 16
# Trees of so few bytes together are joined at once when all of them are there.
TOGETHER = 2**25


@dataclass(frozen=True)
class Forest(ReadLater):
    """Trees as flat arrays over the m nodes of all B trees.

    Large forests are mostly of rows of weight 1, and of splits made in the order of the nodes: then
    `weight` and `order` follow from the other arrays, and need not be kept; see `lean`.

    A row x (scaled predictors) goes from node i to ``left[i]`` when Σ coef·x[index] over
    ``start[i]:start[i + 1]``, added in float32 in this order, is at most ``threshold[i]``,
    otherwise to ``left[i] + 1``.  Within a tree, nodes are numbered in the order in which they were
    made: breadth-first, then those of each update.  A child's number is above its parent's.

    The training rows of a node are those that the tree drew and that reach the node; in an honest
    tree only the half that did not choose the splits.  A node of an honest tree may then have no
    rows: its count, weight and gain are 0, its value and impurity those of the nearest ancestor
    that has rows.

    Attributes
    ----------
    root : (B + 1,) int64
        Tree b owns the nodes ``root[b]:root[b + 1]``; ``root[b]`` is its root.
    left : (m,) int32
        Number of the left child in these arrays (the right child is left + 1); -1 for a leaf.
    threshold : (m,) float32
        Threshold s on the projected, scaled predictors; NaN for a node never split.
    start : (m + 1,) int32, or int64 if there are too many terms
        Where each node's direction begins in `index` and `coef`; a node never split has no terms.
    index : (z,) int32
        Columns with a nonzero coefficient.
    coef : (z,) float32
        Their coefficients θ, for predictors scaled to [0, 1]; ‖θ‖₂ = 1 unless fills of empty cells
        are among them.
    value : (m, K) float64
        Mean response (K = 1) or class proportions of the node's training rows.
    count : (m,) int32
        Number of training rows N(A); a row drawn twice counts twice.
    weight : (m,) float64
        Sum of their case weights.
    impurity : (m,) float64
        Impurity of the node before any split.
    gain : (m,) float64
        Impurity decrease Δ_A of the node's split, per unit of weight in the node; 0 for a node
        never split.
    order : (m,) int32
        Rank τ of the node's split in the growth of its tree (1 = the root's): after it the
        tree has τ + 1 leaves; 0 for a node never split.
    ordered : () bool
        Whether it was grown by the impurity of ordered classes: it then predicts their median.
    surrogates : SurrogateSplits or None
        Where rows go that have an empty cell in what a split needs; None if splits have fills.

    A pruned tree has the same arrays with ``left`` set to -1 where it was cut: nodes below a cut
    stay in the arrays but no row reaches them.
    """

    root: NDArray[np.int64]
    left: NDArray[np.integer]
    threshold: NDArray[np.float32]
    start: NDArray[np.integer]
    index: NDArray[np.int32]
    coef: NDArray[np.float32]
    value: NDArray[np.float64]
    count: NDArray[np.int32]
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    order: NDArray[np.int32]
    ordered: np.bool_
    surrogates: SurrogateSplits | None = None

    def __post_init__(self) -> None:
        """Keep whole numbers in 32 bits where these suffice, as in files of earlier versions."""
        surrogates = None if self.surrogates is None else self.surrogates.in_fewer_bits()
        self.__dict__.update(
            left=in_fewer_bits(self.left), start=in_fewer_bits(self.start), surrogates=surrogates
        )

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            if name not in FOLLOWING or "_reading" in self.__dict__:
                return super().__getattr__(name)
            self.__dict__[name] = self._following(name)
            return self.__dict__[name]

    def _following(self, name: str) -> NDArray[Any]:
        return FOLLOWING[name](*(getattr(self, of) for of in FOLLOWED))

    def every(self, later: Callable[[Callable[[], NDArray[Any]]], Any]) -> dict[str, Any]:
        """Return all fields; of arrays that follow, what `later` makes of a function of them."""
        kept = self.in_memory()
        return {
            name: kept[name] if name in kept else later(partial(self._following, name))
            for name in _FIELDS
        }

    def that_follow(self, names: Iterable[str] = FOLLOWING) -> set[str]:
        """Return which of these arrays follow from others."""
        kept = self.in_memory()
        return {
            name
            for name in names
            if name not in kept or np.array_equal(kept[name], self._following(name))
        }

    def lean(self) -> Forest:
        """Return the same trees; arrays that follow from others are made when they are used."""
        kept = self.in_memory()
        if kept.keys().isdisjoint(FOLLOWING):
            return self
        follow = self.that_follow()
        return Forest.of({name: value for name, value in kept.items() if name not in follow})

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Forest:
        """Return the forest of fields that `in_memory` has returned."""
        forest = cls.__new__(cls)
        forest.__dict__.update(kept)
        return forest

    @property
    def prediction_rule(self) -> int:
        """How values become predictions: `NUMBER`, `MOST_LIKELY` or `MEDIAN`."""
        if self.value.shape[1] == 1:
            return NUMBER
        return MEDIAN if self.ordered else MOST_LIKELY

    @property
    def n_trees(self) -> int:
        """Number of trees B."""
        return len(self.root) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes m of all trees, including those below a cut."""
        return len(self.left)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in memory, those of surrogates too."""
        return sum([kept.nbytes for kept in self.in_memory().values() if kept is not None])

    @cached_property
    def packed(self) -> Packed:
        """The same trees in the layout that routing uses, for rows of all columns."""
        return self._pack(None)

    @cached_property
    def _packed_for_codes(self) -> dict[str, Packed]:
        return {}

    def packed_for(self, X: Matrix) -> Packed:
        """Return the trees in the layout that routing uses for this matrix of their predictors."""
        layout, packed = layout_of(X), self._packed_for_codes
        if layout is None:
            return self.packed
        if "packed" not in packed:  # a forest has one design, and so one layout
            packed["packed"] = self._pack(layout)
        return packed["packed"]

    def _pack(self, layout: Layout | None) -> Packed:
        arrays = self.root, self.left, self.threshold, self.start, self.index, self.coef
        if self.surrogates is not None:
            return pack_with_surrogates(*arrays, self.surrogates, layout)
        return pack(*arrays, layout)

    def __getstate__(self) -> dict[str, Any]:
        return self.in_memory()

    def tree(self, b: int) -> Forest:
        """Return tree `b` (0-based) as a forest of one tree."""
        return self.trees(b, b + 1)

    def trees(self, begin: int, end: int) -> Forest:
        """Return the trees ``begin:end`` (0-based) as a forest."""
        lo, hi = int(self.root[begin]), int(self.root[end])
        first, last = int(self.start[lo]), int(self.start[hi])
        left, start, kept = self.left[lo:hi], self.start[lo : hi + 1], self.in_memory()
        kept |= {name: kept[name][lo:hi] for name in OF_NODES if name in kept}
        kept |= {name: kept[name][first:last] for name in OF_TERMS}
        kept["left"] = np.where(left < 0, np.int32(-1), left - np.int32(lo))
        kept["root"], kept["start"] = self.root[begin : end + 1] - lo, in_fewer_bits(start - first)
        if self.surrogates is not None:
            kept["surrogates"] = self.surrogates.of_nodes(np.arange(lo, hi))
        return Forest.of(kept)

    def keeping(self, splits: NDArray[np.bool_]) -> Forest:
        """Return the forest pruned to the splits in the mask `splits` (m,)."""
        order = self.order  # the ranks of all splits, also of those that are cut
        return Forest.of(
            self.in_memory() | {"left": np.where(splits, self.left, np.int32(-1)), "order": order}
        )

    def depth(self) -> NDArray[np.int64]:
        """Return each node's depth (m,): 0 at a root, -1 where no row can reach it."""
        depth = np.full(self.n_nodes, -1)
        depth[self.root[:-1]] = 0
        _descend(self.left, depth)
        return depth

    def parents(self) -> NDArray[np.int64]:
        """Return the number of each node's parent (m,); -1 for roots and children of cut nodes."""
        above = np.full(self.n_nodes, -1)
        splits = np.flatnonzero(self.left >= 0)
        above[self.left[splits]] = above[self.left[splits] + 1] = splits
        return above

    def is_leaf(self) -> NDArray[np.bool_]:
        """Return the mask (m,) of the leaves that rows can reach."""
        return (self.left < 0) & self._reached()

    def is_split(self) -> NDArray[np.bool_]:
        """Return the mask (m,) of the splits that rows can reach."""
        return (self.left >= 0) & self._reached()

    def leaves(self) -> NDArray[np.int64]:
        """Return the number of leaves of each tree (B,)."""
        leaf = self.is_leaf()
        return np.array([np.count_nonzero(leaf[lo:hi]) for lo, hi in pairwise(self.root)])

    def _reached(self) -> NDArray[np.bool_]:
        """Return which nodes (m,) rows can reach."""
        reached = np.zeros(self.n_nodes, dtype=np.bool_)
        reached[self.root[:-1]] = True
        _reach(self.left, reached)
        return reached


@kernel
def _descend(left, depth):
    """Write the depth of all nodes below roots, which have the depth 0, the others -1."""
    for i in range(len(left)):
        if depth[i] >= 0 and left[i] >= 0:
            depth[left[i]] = depth[left[i] + 1] = depth[i] + 1


@kernel
def _reach(left, reached):
    """Write that all nodes below roots are reached, which are."""
    for i in range(len(left)):
        if reached[i] and left[i] >= 0:
            reached[left[i]] = reached[left[i] + 1] = True


_FIELDS = tuple(field.name for field in fields(Forest))
ARRAYS = tuple(field.name for field in fields(Forest) if field.name != "surrogates")
"""The fields that are arrays in every forest."""


def joined(trees: Iterable[Forest], n_trees: int) -> Forest:
    """Join trees of the same design, in the given order; about `n_trees` of them are expected.

    Each tree is appended as it comes, so that memory never holds all trees twice; small ones are
    joined at once.  Arrays that follow from others in all trees are not kept.

    Raises
    ------
    MemoryError
        The trees so far show that memory does not suffice for all of them.
    """
    follow = set(FOLLOWING)
    ordered: np.bool_ = np.False_
    surrogates: list[SurrogateSplits] = []
    coming = within_memory((tree.lean() for tree in trees), n_trees)
    first = list(islice(coming, max(1, min(FEW, int(SHARE * n_trees)))))
    if _are_small(first, n_trees):
        return concatenated([*first, *coming])
    arrays = JoinedArrays(first, n_trees)
    first.reverse()
    for tree in chain(_each_let_go(first), coming):
        ordered = tree.ordered
        surrogates += [] if tree.surrogates is None else [tree.surrogates]
        follow = tree.that_follow(follow)
        arrays.append(tree, follow)
    of_nodes = surrogates[0].followed_by(surrogates[1:]) if surrogates else None
    return Forest.of(arrays.taken() | {"ordered": ordered, "surrogates": of_nodes})


def _are_small(trees: Sequence[Forest], n_trees: int) -> bool:
    """Return whether all trees are few bytes together, by the first ones."""
    size = sum(tree.nbytes for tree in trees)
    return (
        len(trees) > 1
        and size * n_trees <= TOGETHER * len(trees)
        and all(tree.surrogates is None for tree in trees)
    )


def concatenated(trees: Sequence[Forest]) -> Forest:
    """Return the forest of trees, at least one, in their order; none has surrogates.

    The same as `joined` returns, but all trees are in memory twice.
    """
    follow = set(FOLLOWING).difference(*(tree.in_memory() for tree in trees))
    arrays = concatenated_arrays(trees, follow)
    return Forest.of(arrays | {"ordered": trees[-1].ordered, "surrogates": None}).lean()


def _each_let_go(trees: list[Forest]) -> Iterator[Forest]:
    """Yield the trees from the last one on, each of which is taken from the list."""
    while trees:
        yield trees.pop()
