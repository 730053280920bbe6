"""Guided trees as flat arrays: each plane is stored once, however many regions it divides."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import in_fewer_bits, require_memory
from odrf.engine.trees.forest import Forest, LazyArrays

# Bytes that a coefficient of a region takes while planes are copied for all regions.
COPIED = 40.0


@dataclass(frozen=True)
class GuidedForest(LazyArrays):
    """Guided trees as flat arrays: m regions, W planes on the columns of B trees.

    A row x (scaled predictors) of region i goes to ``left[i]`` if θᵀx on the columns of the tree,
    added in float32, is at most the threshold of plane ``plane[i]``, else to ``left[i] + 1``.

    `root` (B + 1,): tree b owns the regions ``root[b]:root[b + 1]``; ``root[b]`` holds all rows.
    `left` (m,): number of the left part (the right part is left + 1); -1 for a leaf.
    `plane` (m,): number of the plane that divides the region, in these arrays; -1 for a leaf.
    `count` (m,): number of training rows.
    `weight` (m,): sum of their case weights.
    `impurity` (m,): Z of Gupta et al., equation (8), per unit of weight; for a regression the
      variance.
    `value` (m, K): the region's vote: log₂(1 + h) of its class shares h, equations (18) to (22);
      for a regression the mean.
    `first_plane` (B + 1,): tree b has the planes ``first_plane[b]:first_plane[b + 1]``, in the
      order of its growth.
    `threshold` (W,): threshold of each plane.
    `first_column` (B + 1,): tree b uses ``columns[first_column[b]:first_column[b + 1]]``.
    `columns`: columns of the design, tree by tree.
    `first_coef` (B + 1,): where the planes of tree b begin in `coef`; each has a coefficient for
      every column of the tree.
    `coef`: unit vectors θ, plane by plane.
    """

    root: NDArray[np.int64]
    left: NDArray[np.integer]
    plane: NDArray[np.integer]
    count: NDArray[np.int32]
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    value: NDArray[np.float64]
    first_plane: NDArray[np.int64]
    threshold: NDArray[np.float32]
    first_column: NDArray[np.int64]
    columns: NDArray[np.int32]
    first_coef: NDArray[np.int64]
    coef: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Keep whole numbers in 32 bits where these suffice, as in files of earlier versions."""
        self.__dict__.update(left=in_fewer_bits(self.left), plane=in_fewer_bits(self.plane))

    @property
    def n_trees(self) -> int:
        """Number of trees B."""
        return len(self.root) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    @property
    def n_planes(self) -> NDArray[np.int64]:
        """Number of planes of each tree (B,): TW."""
        return np.diff(self.first_plane)

    @property
    def n_columns(self) -> NDArray[np.int64]:
        """Number of columns that each tree uses (B,): M."""
        return np.diff(self.first_column)

    @property
    def n_inner(self) -> NDArray[np.int64]:
        """Number of divided regions of each tree (B,): TNL."""
        return np.add.reduceat((self.left >= 0).astype(np.int64), self.root[:-1])

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree (B,): TL."""
        return self.n_inner + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Numbers stored for prediction, per tree (B,): TW·(M + 1) + 3·TNL + TL, section 4.4."""
        planes = self.n_planes * (self.n_columns + 1)
        return planes + 3 * self.n_inner + self.n_leaves

    @property
    def rank(self) -> NDArray[np.int64]:
        """Rank in growth of the plane that divides each region (m,), from 1; 0 for a leaf."""
        first = np.repeat(self.first_plane[:-1], np.diff(self.root))
        return np.where(self.plane >= 0, self.plane - first + 1, 0)

    @cached_property
    def unshared(self) -> Forest:
        """The same trees as a `Forest`, which stores a plane for every region that it divides."""
        split = self.left >= 0
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.root))
        width = np.where(split, self.n_columns[tree], 0)
        start = np.concatenate([[0], np.cumsum(width)])
        require_memory(
            COPIED * float(start[-1]),
            f"{self.n_trees} guided trees with a plane for each region",
            "use fewer trees (n_trees=) of fewer predictors",
        )
        owner = np.repeat(np.arange(len(split)), width)
        column = np.arange(start[-1]) - start[owner]
        of = tree[owner]
        plane_of_tree = self.plane[owner] - self.first_plane[of]
        threshold = np.full(len(split), np.nan, dtype=np.float32)
        threshold[split] = self.threshold[self.plane[split]]
        return Forest(
            root=self.root, left=self.left, threshold=threshold, start=start,
            index=self.columns[self.first_column[of] + column],
            coef=self.coef[self.first_coef[of] + plane_of_tree * self.n_columns[of] + column],
            value=self.value, count=self.count, weight=self.weight, impurity=self.impurity,
            gain=self._gain(split), order=self.rank.astype(np.int32), ordered=np.False_,
        )  # fmt: skip

    def _gain(self, split: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the impurity decrease per weight of each division, sometimes below 0."""
        total = self.weight * self.impurity
        left = self.left[split]
        gain = np.zeros(len(split))
        gain[split] = (total[split] - total[left] - total[left + 1]) / self.weight[split]
        return gain

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
