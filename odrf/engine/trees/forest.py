"""Grown trees as flat arrays; a single tree is a forest of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.factors import Layout, Matrix, layout_of
from odrf.engine.lines.leaf_lines import LeafLines
from odrf.engine.memory import in_fewer_bits
from odrf.engine.splits.surrogates import SurrogateSplits, pack_with_surrogates
from odrf.engine.trees.concatenate import (
    FOLLOWED,
    FOLLOWING,
    OF_NODES,
    OF_TERMS,
    JoinedArrays,
    concatenated_arrays,
    within_memory,
)
from odrf.engine.trees.packing import Packed, pack
from odrf.errors import refused_again

# Arrays of many trees that are read from a file when the first of them is used.

Trees = TypeVar("Trees", bound="LazyArrays")


class LazyArrays:
    """Base class of dataclasses of arrays that may be read when one of them is first used."""

    @classmethod
    def read_by(cls: type[Trees], reading: Callable[[Trees], None]) -> Trees:
        """Return an object whose fields `reading` sets, by `set_fields`, when one is needed."""
        trees = cls.__new__(cls)
        trees.__dict__["_reading"] = reading
        return trees

    @classmethod
    @cache
    def _names(cls) -> tuple[str, ...]:
        """Return the names of the fields, which are asked for with each of many small trees."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def in_memory(self) -> dict[str, Any]:
        """Return the fields that are in memory, after those that are to be read have been."""
        if "_reading" in self.__dict__:
            self.__dict__["_reading"](self)
        kept = self.__dict__
        return {name: kept[name] for name in self._names() if name in kept}

    def set_fields(self, values: Mapping[str, Any]) -> None:
        """Set the fields that were not read yet."""
        self.__dict__.update(values)
        self.__dict__.pop("_reading", None)

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            reading = self.__dict__.get("_reading")
            if reading is None or name not in self._names():
                if name in self.__dict__:  # another thread has read it just now
                    return self.__dict__[name]
                refused_again(self, name)
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            reading(self)
            return getattr(self, name)


# For unordered classes it is the class with the largest share, which has the lowest error rate.
# For ordered classes it is the median class: the first one with a cumulative share of at least one
# half. It has the smallest mean distance in ranks.

NUMBER, MOST_LIKELY, MEDIAN = 0, 1, 2
# One half, less a tolerance for rounding.
HALF = 0.5 * (1.0 - 1e-12)


@part
def predicted_class(shares, prediction_rule):
    """Return the class predicted from `shares` (K,): by `MEDIAN`, or `MOST_LIKELY`, ties first."""
    if prediction_rule == MEDIAN:
        total, k = 0.0, 0
        for share in shares:
            total += share
        reached = shares[0]
        while reached < HALF * total:
            k += 1
            reached += shares[k]
        return k
    largest = 0
    for k in range(1, len(shares)):
        if shares[k] > shares[largest]:
            largest = k
    return largest


def most_likely(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class code of the largest share in each row of `shares` (n, K), first if tied.

    Rows of NaN get -1.
    """
    return np.where(np.isnan(shares[:, 0]), -1, np.argmax(shares, axis=1))


def predicted_classes(shares: NDArray[np.float64], ordered: bool) -> NDArray[np.int64]:
    """Return the class code predicted from each row of `shares` (n, K); -1 for rows of NaN."""
    if not ordered:
        return most_likely(shares)
    reached = np.cumsum(shares, axis=1)
    first = np.argmax(reached >= HALF * reached[:, -1:], axis=1)
    return np.where(np.isnan(shares[:, 0]), -1, first)


def mean_ranks_off(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean distance in ranks from the median class, Σ p_k |k - median|, of each row.

    It is Σ min(F_k, 1 - F_k), with F_k the cumulative share up to class k of `shares` (n, K).
    """
    reached = np.cumsum(shares, axis=1)[:, :-1]
    return np.minimum(reached, 1.0 - reached).clip(0.0).sum(axis=1)


# Grown trees as flat arrays; a single tree is a forest of one.

# The first trees, which say how much memory to reserve, are a share of all, or a few: those of a
# blend in the same turn of kinds.
SHARE, FEW = 1 / 8, 16
# Trees of so few bytes together are joined at once when all of them are there.
TOGETHER = 2**25


@dataclass(frozen=True)
class Forest(LazyArrays):
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
    lines : LeafLines or None
        The lines of the nodes, of a forest of one tree; None if nodes predict their `value`.

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
    lines: LeafLines | None = None

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
            if name in kept or name in FOLLOWING
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

    def values(
        self, nodes: NDArray[np.integer], X: Matrix, rows: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Return what `nodes` (k,) predict (k, K) for these rows (k,) of X (p, n)."""
        if self.lines is None:
            return self.value[nodes]
        return self.lines.values(nodes, X, rows)[:, np.newaxis]

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
ARRAYS = tuple(field.name for field in fields(Forest) if field.name not in ("surrogates", "lines"))
"""The fields that are arrays in every forest."""


def joined(trees: Iterable[Forest], n_trees: int) -> Forest:
    """Join trees of the same design, in the given order; about `n_trees` of them are expected.

    Each is appended as it comes, so that memory never holds all twice; small ones are joined at
    once. Arrays that follow from others in all trees are not kept. Raises `MemoryError`: the trees
    so far show that memory does not suffice for all of them.
    """
    follow = set(FOLLOWING)
    ordered: np.bool_ = np.False_
    surrogates: list[SurrogateSplits] = []
    coming = within_memory(map(Forest.lean, trees), n_trees)
    first = list(islice(coming, max(1, min(FEW, int(SHARE * n_trees)))))
    size = sum(tree.nbytes for tree in first)
    whole = all(tree.surrogates is None for tree in first)
    if whole and len(first) > 1 and size * n_trees <= TOGETHER * len(first):
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


def concatenated(trees: Sequence[Forest]) -> Forest:
    """Return the forest of trees, at least one, in their order; none has surrogates.

    The same as `joined` returns, but all trees are in memory twice.
    """
    follow = set(FOLLOWING).difference(*map(Forest.in_memory, trees))
    arrays = concatenated_arrays(trees, follow)
    return Forest.of(arrays | {"ordered": trees[-1].ordered, "surrogates": None}).lean()


def _each_let_go(trees: list[Forest]) -> Iterator[Forest]:
    """Yield the trees from the last one on, each of which is taken from the list."""
    while trees:
        yield trees.pop()


# Attach the branches that a tree has grown below its leaves; remove nodes below cuts.


def compacted(tree: Forest, n_at_split: NDArray[np.int32]) -> tuple[Forest, NDArray[np.int32]]:
    """Return a forest of one tree without the nodes below its cuts, and the rest of `n_at_split`.

    The nodes that were cut become leaves. The remaining splits are ranked anew, as they grew.
    """
    if not ((tree.left < 0) & (tree.order > 0)).any():
        return tree, n_at_split
    kept = tree.depth() >= 0
    splits = kept & (tree.left >= 0)
    number, sizes = np.cumsum(kept) - 1, np.diff(tree.start)
    order = np.zeros(tree.n_nodes, dtype=np.int32)
    order[np.flatnonzero(splits)[np.argsort(tree.order[splits])]] = 1 + np.arange(splits.sum())
    terms = np.repeat(splits, sizes)
    arrays: dict[str, Any] = {name: getattr(tree, name)[kept] for name in OF_NODES}
    arrays |= {name: getattr(tree, name)[terms] for name in OF_TERMS}
    arrays["left"] = np.where(splits, number[tree.left], -1)[kept]
    arrays["threshold"] = np.where(splits, tree.threshold, np.float32(np.nan))[kept]
    arrays["gain"] = np.where(splits, tree.gain, 0.0)[kept]
    arrays["order"] = order[kept]
    start = np.concatenate([[0], np.cumsum(np.where(splits, sizes, 0)[kept])])
    if tree.surrogates is not None:
        arrays["surrogates"] = tree.surrogates.of_nodes(np.flatnonzero(kept))
    root = np.array([0, int(kept.sum())])
    return replace(tree, root=root, start=start, **arrays), n_at_split[kept]


def with_branches(tree: Forest, leaves: NDArray[np.int64], branches: Forest) -> Forest:
    """Return the tree with the `branches` in place of these leaves; new nodes come last.

    `leaves` (L,): ascending. `branches`: a forest of one tree. Its nodes 1 … L are the leaves,
    further nodes are below them, and node 0 stands for the rest of the tree.
    """
    L, m = len(leaves), tree.n_nodes
    below = np.where(branches.left < 0, -1, branches.left - (L + 1) + m)
    split = {"left": below, "threshold": branches.threshold, "gain": branches.gain}
    split["order"] = branches.order
    parts: dict[str, Any] = {}
    for name in OF_NODES:
        old = getattr(tree, name)
        if name in split:
            old = old.copy()
            old[leaves] = split[name][1 : L + 1]
        parts[name] = np.concatenate([old, split.get(name, getattr(branches, name))[L + 1 :]])
    sizes = np.diff(tree.start)
    sizes[leaves] = np.diff(branches.start)[1 : L + 1]
    start = np.concatenate([[0], np.cumsum(sizes), np.zeros(branches.n_nodes - L - 1, np.int64)])
    first = branches.start[L + 1]
    start[m:] = start[m] + branches.start[L + 1 :] - first
    of_leaf = np.zeros(m, dtype=np.bool_)
    of_leaf[leaves] = True
    terms = np.repeat(of_leaf, sizes)
    for name in OF_TERMS:
        old, new = getattr(tree, name), getattr(branches, name)
        merged = np.empty(len(terms), dtype=old.dtype)
        merged[~terms], merged[terms] = old, new[:first]
        parts[name] = np.concatenate([merged, new[first:]])
    if tree.surrogates is not None and branches.surrogates is not None:
        nodes = np.arange(m + branches.n_nodes)
        nodes[leaves] = m + 1 + np.arange(L)
        both = tree.surrogates.followed_by([branches.surrogates])
        parts["surrogates"] = both.of_nodes(np.delete(nodes, m + np.arange(L + 1)))
    return replace(tree, root=np.array([0, len(parts["left"])]), start=start, **parts)


# What nodes have in all their leaves, and what nodes without rows have from above.


@kernel
def add_up_branches(left, sums):
    """Add to the sums (m, Q) of each split node those of its children, from the leaves up.

    `left` (m,) is that of a `Forest`: children have higher numbers than their parents.
    """
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            for q in range(sums.shape[1]):
                sums[node, q] += sums[left[node], q] + sums[left[node] + 1, q]


@kernel
def take_from_parents(left, weight, values):
    """Write the values (m, Q) of the parent to each node without weight, from the root down."""
    for node in range(len(left)):
        if left[node] >= 0:
            for child in range(left[node], left[node] + 2):
                if weight[child] == 0.0:
                    for q in range(values.shape[1]):
                        values[child, q] = values[node, q]


# A split decreases the loss of a tree and adds a leaf, which costs α.  A branch is kept if its
# splits decrease the loss by more than α each, on average; a split can only be kept with those
# above it. Weakest-link pruning (Breiman et al. 1984, section 3.3) gives the α at which each branch
# is cut. The same values are an isotonic regression of the decreases, which must not increase from
# the root down; the branches cut together are its pooled blocks.


@part
def _merged(first, second, alpha, low, high):
    """Merge two skew heaps of nodes, the largest α on top; return the top, -1 if both are empty."""
    if first < 0 or second < 0:
        return max(first, second)
    if alpha[first] < alpha[second]:
        first, second = second, first
    top = first
    while True:
        rest = high[first]
        high[first] = low[first]
        if rest < 0:
            low[first] = second
            return top
        if alpha[rest] < alpha[second]:
            rest, second = second, rest
        low[first] = rest
        first = rest


@kernel
def pool_branches(left, decrease, alpha, size, block, top, low, high):
    """Write to alpha (m,) the α at which each split is pruned; 0 at nodes without a split.

    `left` (m,): -1 at nodes without a split. The block of a split starts as the split alone. It
    absorbs the block below with the largest α as long as that is not lower than the mean decrease
    of the block. Blocks are kept on heaps, so that m nodes take O(m log m) steps. The last five are
    scratch.
    """
    m = len(left)
    for node in range(m - 1, -1, -1):
        alpha[node], block[node], top[node] = 0.0, node, -1
        if left[node] < 0:
            continue
        below = _merged(top[left[node]], top[left[node] + 1], alpha, low, high)
        total, number = decrease[node], 1
        while below >= 0 and alpha[below] * number >= total:
            total += alpha[below] * size[below]
            number += size[below]
            block[below] = node
            below = _merged(low[below], high[below], alpha, low, high)
        alpha[node], size[node] = total / number, number
        low[node], high[node] = -1, -1
        top[node] = _merged(node, below, alpha, low, high)
    for node in range(m):
        alpha[node] = alpha[block[node]]


def node_of_terms(forest: Forest) -> NDArray[np.int64]:
    """Return for each coefficient (z,) the number of the node that it belongs to."""
    return np.repeat(np.arange(forest.n_nodes), np.diff(forest.start))
