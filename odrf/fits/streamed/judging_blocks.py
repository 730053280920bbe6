"""Out-of-bag errors of a forest on rows in chunks, summed up block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design import INDICATORS
from odrf.design.streamed.streamed_rows import StreamedRows
from odrf.engine.rows.coded import layout_of, stored
from odrf.engine.streamed.gathering import RowBlock
from odrf.engine.streamed.hashed_draws import HashedDraw
from odrf.engine.trees.out_of_bag_losses import OutOfBag, predict_unseen
from odrf.engine.trees.prediction_rule import predicted_classes
from odrf.fits.fit import Fit
from odrf.fits.streamed.streamed_fit import RowSums

__all__ = ["judged_by_blocks"]

# What a probability of 0 counts as in the log loss.
LEAST = 2.0**-52


def judged_by_blocks(
    fit: Fit, rows: StreamedRows, draw: HashedDraw, advance: Callable[[int], object]
) -> RowSums:
    """Predict each row by the trees that did not draw it; sum up the losses, and the columns.

    `advance` is told the rows of each block.
    """
    K = fit.design.response.n_classes
    sums = _Sums(K, np.zeros((fit.forest.n_trees, 2)), np.zeros((K, K)), fit.ordered)
    design, weight, columns = fit.design, 0.0, np.zeros(0)
    numbers = np.flatnonzero(np.repeat(design.types != INDICATORS, np.diff(design.first)))
    for block in rows.blocks():
        layout = layout_of(block.X)
        rows_of_numbers = numbers if layout is None else layout.place[numbers]
        columns = columns if weight else np.zeros(len(numbers))
        unseen = ~draw.drawn(block.numbers, block.weights, fit.control.n_jobs)
        m = len(block.y)
        found = OutOfBag(np.zeros((m, K)), np.zeros(m, dtype=np.int64), np.empty(0))
        sums.path += predict_unseen(
            fit.forest, block.X, block.y, block.weights, unseen, fit.control.n_jobs, found
        )
        sums.add(block, found.value)
        columns = columns + stored(block.X)[rows_of_numbers] @ block.weights
        weight += float(block.weights.sum())
        advance(m)
    means = np.zeros(len(design.columns))
    means[numbers] = columns / weight
    return sums.found(rows.unit, means)


@dataclass
class _Sums:
    """Sums over the blocks so far.

    `path` (B, 2) are losses and weights by the number of trees, `confusion` (K, K) weights.
    """

    K: int
    path: NDArray[np.float64]
    confusion: NDArray[np.float64]
    ordered: bool
    n_judged: int = 0
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    judged_weight: float = 0.0
    log_loss: float = 0.0
    brier: float = 0.0

    def add(self, block: RowBlock, value: NDArray[np.float64]) -> None:
        """Add a block with its out-of-bag values (m, K), NaN for rows that all trees drew."""
        known = ~np.isnan(value[:, 0]) & (block.weights > 0)
        self.n_judged += int(known.sum())
        if self.K == 1:
            self._add_responses(block)
            return
        weights, shares = block.weights[known], value[known]
        codes = block.y[known].astype(np.int64)
        self.judged_weight += float(weights.sum())
        cell = codes * self.K + predicted_classes(shares, self.ordered)
        self.confusion += np.bincount(cell, weights, self.K**2).reshape(self.K, self.K)
        of_class = shares[np.arange(len(codes)), codes]
        self.log_loss -= float(weights @ np.log(np.maximum(of_class, LEAST)))
        squares = (shares**2).sum(axis=1) - 2 * of_class + 1
        self.brier += float(weights @ squares)

    def _add_responses(self, block: RowBlock) -> None:
        """Update weighted mean and sum of squares of the response (Chan et al. 1983)."""
        weight = float(block.weights.sum())
        if weight == 0:
            return
        mean = float(block.weights @ block.y) / weight
        squares = float(block.weights @ (block.y - mean) ** 2)
        total, off = self.weight + weight, mean - self.mean
        self.squares += squares + off**2 * self.weight * weight / total
        self.mean += off * weight / total
        self.weight = total

    def found(self, unit: float, column_means: NDArray[np.float64]) -> RowSums:
        """Return the means; confusion in the `unit` of the case weights."""
        with np.errstate(invalid="ignore", divide="ignore"):
            path = self.path[:, 0] / self.path[:, 1]
            variance = float(np.float64(self.squares) / self.weight) if self.K == 1 else np.nan
            log_loss, brier = (
                np.array([self.log_loss, self.brier]) / self.judged_weight
                if self.K > 1
                else (np.nan, np.nan)
            )
        confusion = self.confusion * unit if self.K > 1 else None
        scores = variance, float(log_loss), float(brier)
        return RowSums(path, self.n_judged, *scores, confusion, column_means)
