"""Out-of-bag errors of a forest on rows in chunks, summed up block by block.

What a block adds is computed from the block alone (`judged_block`), so that it can be done
anywhere, and is added up in the order of the blocks (`total_of_blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import INDICATORS, Design
from odrf.design.chunks import BlockReader, StreamedRows
from odrf.engine.chunks import HashedDraw, LeafScale, RowBlock, add_to_leaves, leaf_scale
from odrf.engine.factors import layout_of, stored
from odrf.engine.oob import OutOfBag, predict_out_of_bag
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.fits.fit import Fit
from odrf.fits.streamed.streamed_fit import RowSums
from odrf.statistics.importance import importance_of_sums

__all__ = [
    "BlockSums",
    "Judging",
    "column_sums",
    "judged_block",
    "judged_by_blocks",
    "judging_of",
    "total_of_blocks",
]

# What a probability of 0 counts as in the log loss.
LEAST = 2.0**-52


class BlockSums(NamedTuple):
    """What a block of rows adds.

    Attributes
    ----------
    path : (B, 2) float64
        Weighted losses, and weights, by the number of trees.
    n_judged : int
        Rows of positive weight with an out-of-bag prediction, whose weights are `judged`.
    judged, log_loss, brier : float
        Sums for class probabilities; 0 for a regression.
    confusion : (K, K) float64
        Weights by observed and predicted class.
    weight, mean, squares : float
        Of the response: sum of weights, weighted mean, and weighted sum of squares around it.
    columns : (p,) float64
        Weighted sums of the columns that hold numbers, 0 for indicators.
    classes : (K,) float64
        Weights of the classes; the sum of weights for a regression.
    """

    path: NDArray[np.float64]
    n_judged: int
    judged: float
    log_loss: float
    brier: float
    confusion: NDArray[np.float64]
    weight: float
    mean: float
    squares: float
    columns: NDArray[np.float64]
    classes: NDArray[np.float64]


class Judging(NamedTuple):
    """What judges a block of rows.  It can be pickled.

    Attributes
    ----------
    forest : Forest
    reader : BlockReader
    draw : HashedDraw
        Which rows the trees have drawn.
    scale : LeafScale
        What the sums of leaves stand for.
    """

    forest: Forest
    reader: BlockReader
    draw: HashedDraw
    scale: LeafScale

    def no_sums(self) -> NDArray[np.int64]:
        """Return sums (m, K + 1) of the leaves before any row is added."""
        return np.zeros((self.forest.n_nodes, self.forest.value.shape[1] + 1), dtype=np.int64)


def judging_of(fit: Fit, rows: StreamedRows, draw: HashedDraw) -> Judging:
    """Return what judges the blocks of these rows."""
    scale = leaf_scale(rows.n, rows.span, rows.heaviest, fit.forest.value.shape[1] > 1)
    return Judging(fit.forest, rows.reader, draw, scale)


def judged_by_blocks(
    fit: Fit, rows: StreamedRows, draw: HashedDraw, advance: Callable[[int], object]
) -> RowSums:
    """Predict each row by the trees that did not draw it; sum up the losses, and the columns.

    `advance` is told the rows of each block.
    """
    judging = judging_of(fit, rows, draw)
    leaf_sums = judging.no_sums()

    def judged() -> Iterator[BlockSums]:
        for block in rows.blocks():
            yield judged_block(judging, block, fit.control.n_jobs, leaf_sums)
            advance(len(block.y))

    return total_of_blocks(judged(), judging, leaf_sums)


def judged_block(
    judging: Judging, block: RowBlock, n_jobs: int, leaf_sums: NDArray[np.int64]
) -> BlockSums:
    """Return what one block adds; what it adds to the leaves is added to `leaf_sums` (m, K + 1)."""
    forest, draw, scale = judging.forest, judging.draw, judging.scale
    m, K = len(block.y), forest.value.shape[1]
    unseen = ~draw.drawn(block.numbers, block.weights, n_jobs)
    found = OutOfBag(np.zeros((m, K)), np.zeros(m, dtype=np.int64), np.empty(0))

    def see(begin: int, leaves: NDArray[np.int32]) -> None:
        add_to_leaves(leaves, unseen, begin, block.y, block.weights, K > 1, scale, leaf_sums)

    path = predict_out_of_bag(forest, block.X, block.y, block.weights, unseen, n_jobs, found, see)
    known = (found.votes > 0) & (block.weights > 0)
    weight = float(block.weights.sum())
    # not by BLAS, whose sums may depend on the number of its threads
    mean = float((block.weights * block.y).sum()) / weight if weight else 0.0
    squares = float((block.weights * (block.y - mean) ** 2).sum())
    scores = 0.0, 0.0, 0.0, np.zeros((K, K))
    if K > 1:
        codes, weights = block.y[known].astype(np.int64), block.weights[known]
        scores = _scores(codes, weights, found.value[known], bool(forest.ordered))
    columns, classes = column_sums(judging.reader.design, block), np.array([weight])
    if K > 1:
        classes = np.bincount(block.y.astype(np.int64), block.weights, K).astype(np.float64)
    return BlockSums(path, int(known.sum()), *scores, weight, mean, squares, columns, classes)


def _scores(
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
    ordered: bool,
) -> tuple[float, float, float, NDArray[np.float64]]:
    """Return weight, log loss, Brier score and confusion of class probabilities (m, K), summed."""
    K = shares.shape[1]
    cell = codes * K + predicted_classes(shares, ordered)
    confusion = np.bincount(cell, weights, K * K).reshape(K, K).astype(np.float64)
    of_class = shares[np.arange(len(codes)), codes]
    log_loss = -float((weights * np.log(np.maximum(of_class, LEAST))).sum())
    brier = float((weights * ((shares**2).sum(axis=1) - 2 * of_class + 1)).sum())
    return float(weights.sum()), log_loss, brier, confusion


def column_sums(design: Design, block: RowBlock) -> NDArray[np.float64]:
    """Return the weighted sums (p,) of the columns that hold numbers, 0 for indicators."""
    numbers = np.flatnonzero(np.repeat(design.types != INDICATORS, np.diff(design.first)))
    layout = layout_of(block.X)
    rows = numbers if layout is None else layout.place[numbers]
    sums = np.zeros(len(design.columns))
    for column, row in zip(numbers, rows, strict=True):
        sums[column] = (stored(block.X)[row] * block.weights).sum()
    return sums


def total_of_blocks(
    blocks: Iterable[BlockSums], judging: Judging, leaf_sums: NDArray[np.int64]
) -> RowSums:
    """Return the means over all blocks, of which there is one at least, added in their order.

    Means and sums of squares of the response are put together as Chan, Golub and LeVeque (1983)
    do.  `leaf_sums` are complete when the blocks are at their end.
    """
    blocks = iter(blocks)
    total = next(blocks)
    for block in blocks:
        weight = total.weight + block.weight
        share, off = (block.weight / weight if weight else 0.0), block.mean - total.mean
        total = BlockSums(
            path=total.path + block.path,
            n_judged=total.n_judged + block.n_judged,
            judged=total.judged + block.judged,
            log_loss=total.log_loss + block.log_loss,
            brier=total.brier + block.brier,
            confusion=total.confusion + block.confusion,
            weight=weight,
            mean=total.mean + off * share,
            squares=total.squares + block.squares + off**2 * total.weight * share,
            columns=total.columns + block.columns,
            classes=total.classes + block.classes,
        )
    classes = len(total.confusion) > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        error_path = total.path[:, 0] / total.path[:, 1]
        means = np.array([total.log_loss, total.brier]) / np.float64(total.judged)
    reader = judging.reader
    mean = total.classes / total.weight if classes else np.array([total.mean])
    return RowSums(
        error_path=error_path,
        n_judged=total.n_judged,
        variance=np.nan if classes else total.squares / total.weight,
        log_loss=float(means[0]) if classes else np.nan,
        brier=float(means[1]) if classes else np.nan,
        confusion=total.confusion * reader.unit if classes else None,
        column_means=total.columns / total.weight,
        importance=importance_of_sums(
            judging.forest, leaf_sums, judging.scale, mean, reader.design.first
        ),
    )
