"""Guided trees: planes stored once, however many regions they divide."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import Forest

__all__ = ["GuidedForest"]


@dataclass(frozen=True)
class GuidedForest:
    """Guided trees as flat arrays: m regions, W planes on the columns of B trees.

    A row x (scaled predictors) of region i goes to ``left[i]`` when θᵀx on the columns of the
    tree, added in float32, is at most the threshold of plane ``plane[i]``, else to the next.

    Attributes
    ----------
    root : (B + 1,) int64
        Tree b owns the regions ``root[b]:root[b + 1]``; ``root[b]`` holds all rows.
    left : (m,) int64
        Number of the left part (right = left + 1); -1 for a leaf.
    plane : (m,) int64
        Number of the plane that divides the region, in these arrays; -1 for a leaf.
    count : (m,) int32
        Training rows.
    weight : (m,) float64
        Their case weights.
    impurity : (m,) float64
        Z of Gupta et al., equation (8), per unit of weight; of a regression the variance.
    value : (m, K) float64
        The region's vote: log₂(1 + h) of its class shares h, equations (18) to (22); of a
        regression the mean.
    first_plane : (B + 1,) int64
        Tree b has the planes ``first_plane[b]:first_plane[b + 1]``, in the order of its growth.
    threshold : (W,) float32
    first_column : (B + 1,) int64
        Tree b uses ``columns[first_column[b]:first_column[b + 1]]``.
    columns : int32
    first_coef : (B + 1,) int64
        Where in `coef` its planes begin, each as long as the tree has columns.
    coef : float32
        Unit vectors θ, plane by plane.
    """

    root: NDArray[np.int64]
    left: NDArray[np.int64]
    plane: NDArray[np.int64]
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

    @property
    def n_trees(self) -> int:
        """Number of trees B."""
        return len(self.root) - 1

    @property
    def n_planes(self) -> NDArray[np.int64]:
        """Planes of each tree (B,): TW."""
        return np.diff(self.first_plane)

    @property
    def n_columns(self) -> NDArray[np.int64]:
        """Columns that each tree uses (B,): M."""
        return np.diff(self.first_column)

    @property
    def n_inner(self) -> NDArray[np.int64]:
        """Regions of each tree that planes divide (B,): TNL."""
        return np.add.reduceat((self.left >= 0).astype(np.int64), self.root[:-1])

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Regions of each tree that are whole (B,): TL."""
        return self.n_inner + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Numbers that each tree needs to predict (B,): TW·(M + 1) + 3·TNL + TL, section 4.4."""
        planes = self.n_planes * (self.n_columns + 1)
        return planes + 3 * self.n_inner + self.n_leaves

    @property
    def rank(self) -> NDArray[np.int64]:
        """The rank, in the growth of its tree, of the plane that divides each region (m,).

        1 is the first; 0 for a leaf.
        """
        first = np.repeat(self.first_plane[:-1], np.diff(self.root))
        return np.where(self.plane >= 0, self.plane - first + 1, 0)

    @cached_property
    def unshared(self) -> Forest:
        """The same trees with a plane of its own for each region, as all else reads them."""
        split = self.left >= 0
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.root))
        width = np.where(split, self.n_columns[tree], 0)
        start = np.concatenate([[0], np.cumsum(width)])
        owner = np.repeat(np.arange(len(split)), width)
        at = np.arange(start[-1]) - start[owner]
        of = tree[owner]
        own_plane = self.plane[owner] - self.first_plane[of]
        threshold = np.full(len(split), np.nan, dtype=np.float32)
        threshold[split] = self.threshold[self.plane[split]]
        return Forest(
            root=self.root,
            left=self.left,
            threshold=threshold,
            start=start,
            index=self.columns[self.first_column[of] + at],
            coef=self.coef[self.first_coef[of] + own_plane * self.n_columns[of] + at],
            value=self.value,
            count=self.count,
            weight=self.weight,
            impurity=self.impurity,
            gain=self._gain(split),
            order=self.rank.astype(np.int32),
            ordered=np.False_,
        )

    def _gain(self, split: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return what each region's division takes off its impurity, per unit of weight.

        Where classes are not as frequent it can add some, other than Gupta et al. say.
        """
        total = self.weight * self.impurity
        left = self.left[split]
        gain = np.zeros(len(split))
        gain[split] = (total[split] - total[left] - total[left + 1]) / self.weight[split]
        return gain

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
