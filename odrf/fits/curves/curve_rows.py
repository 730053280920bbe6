"""Predictions of rows at points where some of their variables have other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.replacing import touched, with_values
from odrf.engine.curves.grid_walk import BlockCurves, OtherValues, curves_by_block
from odrf.engine.parallel import row_blocks
from odrf.engine.rows.coded import Matrix, layout_of, stored, with_rows
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.raw_rows import RawRows
from odrf.fits.stacked.stacked_fit import StackedFit

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
    reading, X = reading_empty_cells(fit, X)
    other = OtherValues(_places(fit, X, points), values)
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


def _values_at(fit: AnyFit, rows: RawRows, points: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return what the changed columns hold at each point: (1, T, G), or (n, T, G) for products.

    A predictor that is computed from one of the variables and from others as well has different
    values in each row.
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
        return stored(X)[_places(fit, X, points)][np.newaxis]
    out = np.empty((len(rows.frame), len(_places(fit, rows.X, points)), G), dtype=np.float32)
    for point in range(G):
        at_point = {name: _at(of_points, point) for name, of_points in points.items()}
        X = with_values(design, rows.frame, rows.X, at_point)
        out[:, :, point] = stored(X)[_places(fit, X, points)].T
    # an empty cell of another variable in a product: 0, and marked in a column of its own
    return np.nan_to_num(out, copy=False, nan=0.0)


def _at(values: Any, point: int) -> Any:
    return values.iloc[point] if isinstance(values, pd.Series) else values[point]


def _all_at(values: Any, point: NDArray[np.int64]) -> Any:
    if isinstance(values, pd.Series):
        return values.iloc[point].reset_index(drop=True)
    return np.asarray(values)[point]


def _first(values: Any) -> Any:
    return _at(values, 0)


def _places(fit: AnyFit, X: Matrix, names: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the rows of the stored array that the variables change, each once."""
    columns = fit.design.recipe.columns_of(touched(fit.design, *names))
    layout = layout_of(X)
    if layout is None:
        return columns
    place = layout.place[columns].astype(np.int64)
    return place[np.sort(np.unique(place, return_index=True)[1])]


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
