"""Grown trees as flat arrays; a single tree is a forest of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.limits import MOST_PLACES, require_numbers
from odrf.engine.memory import is_available, require_memory, times_available
from odrf.engine.rows.coded import Layout, Matrix, layout_of
from odrf.engine.surrogates.chains import pack_with_surrogates
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits
from odrf.engine.trees.packing import FEWER, Packed, pack
from odrf.engine.trees.prediction_rule import MEDIAN, MOST_LIKELY, NUMBER
from odrf.engine.trees.read_later import ReadLater

__all__ = [
    "ARRAYS",
    "OF_NODES",
    "OF_TERMS",
    "PLAIN",
    "Forest",
    "Joining",
    "Plain",
    "joined",
    "require_memory_for_all",
    "within_memory",
]

# Memory is reserved for trees this much larger than the first, which are a share of all, or a few:
# trees are of similar size, those of a blend in the same turn of kinds.
ROOM, SHARE, FEW = 1.25, 1 / 8, 16
# The first trees may be up to twice as large as the others.
FIRST, LARGER = 4, 2
# What is said to fit leaves a little room.
SURE = 0.95
# Arrays with an entry for each node, and arrays with an entry for each coefficient.
OF_NODES = ("left", "threshold", "value", "count", "weight", "impurity", "gain", "order")
OF_TERMS = ("index", "coef")


class _Stored(Protocol):
    @property
    def nbytes(self) -> int: ...

    @property
    def left(self) -> NDArray[np.integer]: ...


Tree = TypeVar("Tree", bound=_Stored)


@dataclass(frozen=True)
class Forest(ReadLater):
    """Trees as flat arrays over the m nodes of all B trees.

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
    left : (m,) int64
        Number of the left child in these arrays (the right child is left + 1); -1 for a leaf.
    threshold : (m,) float32
        Threshold s on the projected, scaled predictors; NaN for a node never split.
    start : (m + 1,) int64
        Where each node's direction begins in `index` and `coef`; a node never split has no terms.
    index : (z,) int32
        Columns with a nonzero coefficient.
    coef : (z,) float32
        Their coefficients θ, ‖θ‖₂ = 1, for predictors scaled to [0, 1].
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
    left: NDArray[np.int64]
    threshold: NDArray[np.float32]
    start: NDArray[np.int64]
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
        """Bytes of the arrays."""
        return sum([array.nbytes for array in _arrays_of(self)])

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

    def require_nodes(self) -> None:
        """Raise `InputError` if the nodes of the trees are not there."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def tree(self, b: int) -> Forest:
        """Return tree `b` (0-based) as a forest of one tree."""
        return self.trees(b, b + 1)

    def trees(self, begin: int, end: int) -> Forest:
        """Return the trees ``begin:end`` (0-based) as a forest."""
        lo, hi = int(self.root[begin]), int(self.root[end])
        first, last = int(self.start[lo]), int(self.start[hi])
        left, start = self.left[lo:hi], self.start[lo : hi + 1]
        arrays = {name: getattr(self, name)[lo:hi] for name in OF_NODES}
        arrays |= {name: getattr(self, name)[first:last] for name in OF_TERMS}
        arrays["left"] = np.where(left < 0, -1, left - lo)
        surrogates = self.surrogates
        if surrogates is not None:
            surrogates = surrogates.of_nodes(np.arange(lo, hi))
        root = self.root[begin : end + 1] - lo
        return replace(self, root=root, start=start - first, surrogates=surrogates, **arrays)

    def keeping(self, splits: NDArray[np.bool_]) -> Forest:
        """Return the forest pruned to the splits in the mask `splits` (m,)."""
        return replace(self, left=np.where(splits, self.left, -1))

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
        return (self.left < 0) & (self.depth() >= 0)

    def is_split(self) -> NDArray[np.bool_]:
        """Return the mask (m,) of the splits that rows can reach."""
        return (self.left >= 0) & (self.depth() >= 0)

    def leaves(self) -> NDArray[np.int64]:
        """Return the number of leaves of each tree (B,)."""
        return np.add.reduceat(self.is_leaf().astype(np.int64), self.root[:-1])


@kernel
def _descend(left, depth):
    """Write the depth of all nodes below roots, which have the depth 0, the others -1."""
    for i in range(len(left)):
        if depth[i] >= 0 and left[i] >= 0:
            depth[left[i]] = depth[left[i] + 1] = depth[i] + 1


ARRAYS = tuple(field.name for field in fields(Forest) if field.name != "surrogates")
"""The fields that are arrays in every forest."""

_arrays_of = attrgetter(*ARRAYS)
_PER_TREE = tuple(name for name in ARRAYS if name != "ordered")


def joined(trees: Iterable[Forest], n_trees: int) -> Forest:
    """Join trees of the same design, in the given order; about `n_trees` of them are expected.

    Each tree is appended as it comes, so that memory never holds all trees twice.  Arrays are
    reserved for trees like the first few; the system hands out memory only where it is written to.

    Raises
    ------
    MemoryError
        The trees so far show that memory does not suffice for all of them.
    """
    arrays: dict[str, NDArray] = {}
    used = dict.fromkeys(_PER_TREE, 0)
    ordered: np.bool_ = np.False_
    surrogates: list[SurrogateSplits] = []
    coming = within_memory(trees, n_trees)
    first = list(islice(coming, max(1, min(FEW, int(SHARE * n_trees)))))
    share = ROOM * n_trees / max(1, len(first))
    room = {name: int(share * sum(len(getattr(tree, name)) for tree in first)) for name in used}
    first.reverse()
    for tree in chain(_each_let_go(first), coming):
        ordered = tree.ordered
        surrogates += [] if tree.surrogates is None else [tree.surrogates]
        for name, part in _moved(tree, used["left"], used["index"]).items():
            end = used[name] + len(part)
            if name not in arrays:
                arrays[name] = np.empty((room[name] + 1, *part.shape[1:]), dtype=part.dtype)
            elif end > len(arrays[name]):
                arrays[name].resize((int(ROOM * end), *part.shape[1:]), refcheck=False)
            arrays[name][used[name] : end] = part
            used[name] = end
        require_numbers(used["left"], MOST_PLACES, "nodes of all trees", FEWER)
    for name, last in [("root", used["left"]), ("start", used["index"])]:
        arrays[name].resize(used[name] + 1, refcheck=False)
        arrays[name][-1] = last
        used[name] += 1
    for name, array in arrays.items():
        array.resize((used[name], *array.shape[1:]), refcheck=False)
    of_nodes = surrogates[0].followed_by(surrogates[1:]) if surrogates else None
    return Forest(**arrays, ordered=ordered, surrogates=of_nodes)


class Joining(Protocol):
    """How the trees of a forest are put together as they come."""

    def join(self, trees: Iterable[Forest], n_trees: int) -> Forest:
        """Return the forest of the trees, of which about `n_trees` are expected."""

    def size(self, tree: Forest) -> int:
        """Return about how many bytes a tree takes in the forest."""


class Plain:
    """Trees are joined as they are: by `joined`."""

    def join(self, trees: Iterable[Forest], n_trees: int) -> Forest:
        """Return the joined trees."""
        return joined(trees, n_trees)

    def size(self, tree: Forest) -> int:
        """Return the bytes of a tree."""
        return tree.nbytes


PLAIN = Plain()


def _each_let_go(trees: list[Forest]) -> Iterator[Forest]:
    """Yield the trees from the last one on, each of which is taken from the list."""
    while trees:
        yield trees.pop()


def within_memory(trees: Iterable[Tree], n_trees: int) -> Iterator[Tree]:
    """Yield trees until those so far show that memory does not suffice for all `n_trees`."""
    size = nodes = 0
    for number, tree in enumerate(trees, 1):
        size, nodes = size + tree.nbytes, nodes + len(tree.left)
        if number.bit_count() == 1:  # 1, 2, 4, 8, … trees
            require_memory_for_all(size, number, n_trees, nodes)
        yield tree


def require_memory_for_all(
    size: int, number: int, n_trees: int, nodes: int = 0, what: str = "the first"
) -> None:
    """Raise `MemoryError` if trees like those so far do not fit; it says which would.

    Parameters
    ----------
    size, number : int
        The bytes of the trees so far, and how many they are.
    n_trees : int
        How many there are to be.
    nodes : int, optional
        The nodes of the trees so far, if it is known.
    what : str
        Which trees so far were taken as an example.
    """
    of_tree = size / number
    rest = of_tree * (n_trees - number)
    needed = rest / LARGER if number < FIRST else rest
    if is_available(needed):
        return
    share = min(1.0, max(1e-9, SURE * times_available(of_tree * n_trees)))
    fewer = max(1, min(n_trees - 1, number + int(SURE * times_available(of_tree))))
    leaves = f"{max(2, int(share * (nodes / number + 1) / 2))}" if nodes else ""
    require_memory(
        needed,
        f"{n_trees} trees like {what}",
        f"use fewer trees (n_trees={fewer}), fewer leaves (max_leaves={leaves}), "
        f"larger ones (min_leaf= about {1 / share:.1f} times as large), or fewer rows "
        f"for each tree (sample_fraction= times {share:.2g})",
    )


def _moved(tree: Forest, nodes: int, terms: int) -> dict[str, NDArray]:
    """Return the arrays of a tree renumbered to follow so many `nodes` and `terms`.

    `root` and `start` come without their last entries.
    """
    arrays = {name: getattr(tree, name) for name in _PER_TREE}
    arrays["root"] = tree.root[:-1] + nodes
    arrays["left"] = np.where(tree.left < 0, -1, tree.left + np.int64(nodes))
    arrays["start"] = tree.start[:-1] + terms
    return arrays
