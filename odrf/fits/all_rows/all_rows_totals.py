"""What is summed up of all rows while they pass by for the first time as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.all_rows.sending_rows import NodeSums
from odrf.engine.chunks import RowBlock
from odrf.engine.running import one_thread
from odrf.engine.splits.impurity import impurity
from odrf.fits.chunks import column_sums

__all__ = ["Totals"]


@dataclass
class Totals:
    """Sums over rows of positive weight, added up block by block.

    Means and sums of squares are put together as Chan, Golub and LeVeque (1983) do.

    Parameters
    ----------
    design : Design
    """

    design: Design
    count: int = 0
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    low: float = np.inf
    high: float = -np.inf

    def __post_init__(self) -> None:
        self._columns = np.zeros(len(self.design.columns))
        self._classes = np.zeros(self.design.response.n_classes)

    @one_thread()
    def add(self, block: RowBlock) -> None:
        """Add the rows of a block, of which there may be none."""
        y, weights = block.y, block.weights
        if len(y) == 0:
            return
        of_block = float(weights.sum())
        mean = float(weights @ y) / of_block
        total, off = self.weight + of_block, mean - self.mean
        self.squares += float(weights @ (y - mean) ** 2) + off**2 * self.weight * of_block / total
        self.mean += off * of_block / total
        self.weight, self.count = total, self.count + len(y)
        self.low, self.high = min(self.low, float(y.min())), max(self.high, float(y.max()))
        self._columns += column_sums(self.design, block)
        if len(self._classes) > 1:
            self._classes += np.bincount(y.astype(np.int64), weights, len(self._classes))

    @property
    def column_means(self) -> NDArray[np.float64]:
        """Weighted means (p,) of the columns that hold numbers; 0 for indicators."""
        return self._columns / self.weight

    def as_root(self, criterion: int) -> NodeSums:
        """Return what is known of the root of a tree of these rows."""
        if len(self._classes) == 1:
            found = self.squares / self.weight if self.low < self.high else 0.0
            return NodeSums(self.count, self.weight, np.array([self.mean]), found)
        shares = self._classes / self.weight
        found = float(impurity(shares, criterion)) if self.low < self.high else 0.0
        return NodeSums(self.count, self.weight, shares, found)
