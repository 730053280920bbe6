"""The grown trees: one structure of flat arrays for a tree and a forest alike."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.packing import Packed, pack

__all__ = ["Forest", "concatenate"]


@dataclass(frozen=True)
class Forest:
    """Trees as flat arrays over the m nodes of all B trees.

    A row x (scaled predictors) goes from node i to ``left[i]`` when Σ coef·x[index] over
    ``start[i]:start[i + 1]``, added in float32 in this order, is at most ``threshold[i]``,
    otherwise to ``left[i] + 1``.  Within a tree, nodes are numbered in breadth-first order, so
    a child's number is above its parent's.

    Attributes
    ----------
    root : (B + 1,) int64
        Tree b owns the nodes ``root[b]:root[b + 1]``; ``root[b]`` is its root.
    left : (m,) int64
        Number of the left child in these arrays (right = left + 1); -1 for a leaf.
    threshold : (m,) float32
        Split point s on the projected, scaled predictors; NaN for a node never split.
    start : (m + 1,) int64
        Where each node's direction begins in `index` and `coef`; empty for a node never split.
    index : (z,) int32
        Columns with a nonzero coefficient.
    coef : (z,) float32
        Their coefficients θ, ‖θ‖₂ = 1, for predictors scaled to [0, 1].
    value : (m, K) float64
        Mean response (K = 1) or class proportions of the node's training rows.
    count : (m,) int32
        Training rows N(A), a row drawn twice counted twice.
    weight : (m,) float64
        Sum of their case weights.
    impurity : (m,) float64
        Impurity of the node before any split.
    gain : (m,) float64
        Impurity decrease Δ_A of the node's split, per unit of weight in the node; 0 where
        never split.
    order : (m,) int32
        Rank τ of the node's split in the growth of its tree (1 = the root's): after it the
        tree has τ + 1 leaves; 0 where never split.

    A pruned tree is the same arrays with ``left`` set to -1 at the cuts: nodes under a cut stay
    in the arrays but no row reaches them.
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

    @property
    def n_trees(self) -> int:
        """Number of trees B."""
        return len(self.root) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes m of all trees, those under a cut included."""
        return len(self.left)

    @cached_property
    def packed(self) -> Packed:
        """The same trees as routing reads them."""
        return pack(self.root, self.left, self.threshold, self.start, self.index, self.coef)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def tree(self, b: int) -> Forest:
        """Return tree `b` (0-based) as a forest of one."""
        lo, hi = int(self.root[b]), int(self.root[b + 1])
        first, last = int(self.start[lo]), int(self.start[hi])
        left = self.left[lo:hi]
        return Forest(
            root=np.array([0, hi - lo]),
            left=np.where(left < 0, -1, left - lo),
            threshold=self.threshold[lo:hi],
            start=self.start[lo : hi + 1] - first,
            index=self.index[first:last],
            coef=self.coef[first:last],
            value=self.value[lo:hi],
            count=self.count[lo:hi],
            weight=self.weight[lo:hi],
            impurity=self.impurity[lo:hi],
            gain=self.gain[lo:hi],
            order=self.order[lo:hi],
        )

    def keeping(self, splits: NDArray[np.bool_]) -> Forest:
        """Return the forest with every split outside the mask `splits` (m,) switched off."""
        return replace(self, left=np.where(splits, self.left, -1))

    def depth(self) -> NDArray[np.int64]:
        """Return each node's depth (m,): 0 at a root, -1 where no row can reach it."""
        depth = np.full(self.n_nodes, -1)
        level = self.root[:-1]
        at = 0
        while len(level):
            depth[level] = at
            split = self.left[level]
            split = split[split >= 0]
            level = np.concatenate([split, split + 1])
            at += 1
        return depth

    def is_leaf(self) -> NDArray[np.bool_]:
        """Return the mask (m,) of nodes where rows end."""
        return (self.left < 0) & (self.depth() >= 0)

    def leaves(self) -> NDArray[np.int64]:
        """Return the number of leaves of each tree (B,)."""
        return np.add.reduceat(self.is_leaf().astype(np.int64), self.root[:-1])


def concatenate(trees: list[Forest]) -> Forest:
    """Join forests of the same design into one, trees in the given order, and empty the list.

    Field by field, and each given up when it is joined: memory never holds the trees twice.
    """
    roots = np.cumsum([0] + [tree.n_nodes for tree in trees])
    terms = np.cumsum([0] + [len(tree.index) for tree in trees])
    parts = [{field.name: getattr(tree, field.name) for field in fields(tree)} for tree in trees]
    trees.clear()
    for part, nodes_before, terms_before in zip(parts, roots, terms, strict=False):
        part["root"] = part["root"][:-1] + nodes_before
        part["left"] = np.where(part["left"] < 0, -1, part["left"] + nodes_before)
        part["start"] = part["start"][:-1] + terms_before
    parts.append({"root": roots[-1:], "start": terms[-1:]})
    joined = {}
    for field in fields(Forest):
        some = [part.pop(field.name) for part in parts if field.name in part]
        joined[field.name] = np.concatenate(some)
        del some
    return Forest(**joined)
