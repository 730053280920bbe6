"""Predictions of rows at points where some of their variables have other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.new_rows import touched, with_values
from odrf.engine.factors import Matrix, layout_of, stored, with_rows
from odrf.engine.partial_dependence import BlockCurves, OtherValues, curves_by_block
from odrf.engine.running import row_blocks
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.empty_cells import empty_columns, reading_empty_cells
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.raw_rows import RawRows
from odrf.fits.stacked.stacked_fit import StackedFit
from odrf.fits.streamed.streamed_fit import StreamedFit

__all__ = ["DECIMALS", "CurveBlock", "curves_of_rows"]

# Rows at points of a stack that are predicted together.
TOGETHER = 2**14
# Of probabilities: trees add changes along a curve up, which leaves some 1e-17 of 0, or below it.
DECIMALS = 12


class CurveBlock(NamedTuple):
    """The predictions of a block of m rows at G points.

    Attributes
    ----------
    rows : slice
        Which rows these are.
    predicted : (m, G, K) float64
        Mean responses (K = 1), or class probabilities.
    of_trees : (B, G, K) float64
        For each tree the sum over the rows of weight times predicted value.  For boosted trees
        these are steps of scores, for guided forests votes.  For a stack B is 0.
    """

    rows: slice
    predicted: NDArray[np.float64]
    of_trees: NDArray[np.float64]


def curves_of_rows(
    fit: AnyFit,
    rows: RawRows,
    points: Mapping[str, Any],
    advance: Callable[[int], object] = lambda n: None,
) -> Iterator[CurveBlock]:
    """Yield the predictions of blocks of rows, in their order.

    Parameters
    ----------
    fit : AnyFit
    rows : RawRows
        n rows.
    points : mapping of str to (G,) values
        For each variable its value at each point.
    advance : callable
        Told the rows that are done.
    """
    if isinstance(fit, StackedFit):
        yield from _curves_of_stack(fit, rows, points, advance)
        return
    values = _values_at(fit, rows, points)
    # cells of these variables that are empty in new rows need no fill
    first = {name: _first(of_points) for name, of_points in points.items()}
    X = with_values(fit.design, rows.frame, rows.X, first)
    reading, X, other = _read(fit, X, points, values)
    outputs = reading.control.n_outputs if isinstance(reading, BoostedFit) else 1
    blocks = curves_by_block(
        reading.forest, X, other, rows.weights, outputs, fit.control.n_jobs, advance
    )
    for block in blocks:
        yield CurveBlock(block.rows, _predicted(reading, block, rows.offset), block.of_trees)


def _curves_of_stack(
    fit: StackedFit, rows: RawRows, points: Mapping[str, Any], advance: Callable[[int], object]
) -> Iterator[CurveBlock]:
    """Yield the predictions of blocks of rows by all models of a stack."""
    n, G = len(rows.frame), len(next(iter(points.values())))
    for block in row_blocks(n, max(1, TOGETHER // G)):
        which, point = (
            each.ravel() for each in np.indices((block.stop - block.start, G), dtype=np.int64)
        )
        which += block.start
        frame = rows.frame.iloc[which].reset_index(drop=True)
        values = {name: _all_at(of_points, point) for name, of_points in points.items()}
        X = with_values(fit.design, frame, with_rows(rows.X, which), values)
        predicted = expected_response(fit, X)
        K = predicted.shape[1]
        advance(block.stop - block.start)
        yield CurveBlock(block, predicted.reshape(-1, G, K), np.zeros((0, G, K)))


def _read(
    fit: AnyFit, X: Matrix, points: Mapping[str, Any], values: NDArray[np.float32]
) -> tuple[AnyFit, Matrix, OtherValues]:
    """Return the fit and the matrix that read rows X (p, n) at all points, and values at these.

    Cells of the `values` of `_values_at` may be empty at some points: levels that no training row
    has are, and products with empty cells of other variables.
    """
    columns, p = _columns(fit, X, points), len(X)
    at = np.flatnonzero(np.isnan(values).any(axis=(0, 2)))
    empty = np.union1d(empty_columns(X), columns[at])
    reading, X = reading_empty_cells(fit, X, empty)
    if not len(at):
        return reading, X, OtherValues(_places(X, columns), values)
    holes = np.isnan(values[:, at])
    if isinstance(fit, StreamedFit) and fit.fills is not None:
        fills = fit.fills[columns[at]].astype(np.float32)[:, np.newaxis]
        values[:, at] = np.where(holes, fills, values[:, at])
        return reading, X, OtherValues(_places(X, columns), values)
    marks = p + np.searchsorted(empty, columns[at])
    values = np.concatenate([np.nan_to_num(values, nan=0.0), holes], axis=1, dtype=np.float32)
    return reading, X, OtherValues(_places(X, np.concatenate([columns, marks])), values)


def _values_at(fit: AnyFit, rows: RawRows, points: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return what the changed columns hold at each point: (1, T, G), or (n, T, G) for products.

    A predictor that is computed from one of the variables and from others as well has different
    values in each row.  NaN for empty cells.
    """
    design, G = fit.design, len(next(iter(points.values())))
    which = touched(design, *points)
    used = {
        name
        for j in which
        for v in design.recipe.terms[j]
        for name in design.recipe.variables[v].columns
    }
    if used <= set(points):
        repeated = np.zeros(G, dtype=np.int64)
        frame = rows.frame.iloc[repeated].reset_index(drop=True)
        X = with_values(design, frame, with_rows(rows.X, repeated), points)
        return stored(X)[_places(X, _columns(fit, X, points))][np.newaxis]
    columns = _columns(fit, rows.X, points)
    out = np.empty((len(rows.frame), len(columns), G), dtype=np.float32)
    for point in range(G):
        at_point = {name: _at(of_points, point) for name, of_points in points.items()}
        X = with_values(design, rows.frame, rows.X, at_point)
        out[:, :, point] = stored(X)[_places(X, columns)].T
    return out


def _at(values: Any, point: int) -> Any:
    return values.iloc[point] if isinstance(values, pd.Series) else values[point]


def _all_at(values: Any, point: NDArray[np.int64]) -> Any:
    if isinstance(values, pd.Series):
        return values.iloc[point].reset_index(drop=True)
    return np.asarray(values)[point]


def _first(values: Any) -> Any:
    return _at(values, 0)


def _columns(fit: AnyFit, X: Matrix, names: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the columns that the variables change; of a factor that is stored as codes, one."""
    columns = fit.design.recipe.columns_of(touched(fit.design, *names))
    return columns[np.sort(np.unique(_places(X, columns), return_index=True)[1])]


def _places(X: Matrix, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the stored array that hold these columns."""
    layout = layout_of(X)
    return columns if layout is None else layout.place[columns].astype(np.int64)


def _predicted(fit: AnyFit, block: BlockCurves, offset: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the predictions (m, G, K) from the sums of the trees."""
    sums = block.of_rows
    if isinstance(fit, BoostedFit):
        starts = fit.boosted.starts
        scores = (sums + starts.sum(axis=0)) / len(starts)
        scores += offset[block.rows][:, np.newaxis, np.newaxis]
        means = fit.loss.means(scores.reshape(-1, scores.shape[2]).T)
        return np.asarray(means).reshape(*sums.shape[:2], -1)
    means = np.asarray(sums / fit.forest.n_trees)
    if fit.design.response.classes is None:
        return means
    if fit.votes:
        means /= means.sum(axis=2, keepdims=True)
    return np.round(means, DECIMALS)
