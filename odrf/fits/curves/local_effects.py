"""Accumulated local effects of a fit, for the whole fit and for each of its trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.factors import with_rows
from odrf.errors import InputError
from odrf.fits.averaged.averages import averages, trees_vary
from odrf.fits.averaged.grid_of_rows import set_to
from odrf.fits.curves.choosing_points import points_of
from odrf.fits.curves.mean_curve import MeanCurve
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import RawRows
from odrf.statistics.curves import (
    VariablePoints,
    accumulated,
    accumulated_levels,
    accumulated_pairs,
    similarity_order,
)

__all__ = ["edges_of", "local_effects_of_levels", "local_effects_of_number", "local_effects_of_two"]


def edges_of(fit: AnyFit, rows: RawRows, name: str, points: int) -> VariablePoints:
    """Return the ends of intervals with about the same number of rows; of a factor its levels.

    Raises
    ------
    InputError
        As in `points_of`; or all rows of positive weight have the same value, or none.
    """
    axis = points_of(fit, rows, name, points, None)
    if axis.numeric:
        known = axis.observed[~np.isnan(axis.observed) & (rows.weights > 0)]
        if not len(known):
            raise InputError(
                f"{name!r} is empty in all rows of positive weight: give other rows as newdata="
            )
        ends = np.quantile(known, np.linspace(0, 1, points), method="inverted_cdf")
        distinct = np.unique(known)
        values = distinct if len(distinct) <= points else np.unique(ends)
        axis = VariablePoints(name, values, True, axis.observed)
    if len(axis.values) < 2:
        raise InputError(f"{name!r} has one value only, so that it has no effect to accumulate")
    return axis


def local_effects_of_number(
    fit: AnyFit, rows: RawRows, axis: VariablePoints, advance: Callable[[int], object]
) -> MeanCurve:
    """Return the accumulated local effects (G, K) at the G ends of intervals."""
    which = _used(rows, [axis])
    interval = _intervals(axis, which)
    J = len(axis.values) - 1
    weight = _sums(interval, rows.weights[which], J)
    changes = [
        (1.0, {axis.name: axis.values[interval + 1]}),
        (-1.0, {axis.name: axis.values[interval]}),
    ]
    found = _differences(fit, rows, which, changes, interval, weight, advance)
    return _along_last(found, lambda difference: accumulated(difference, weight))


def local_effects_of_two(
    fit: AnyFit, rows: RawRows, axes: Sequence[VariablePoints], advance: Callable[[int], object]
) -> MeanCurve:
    """Return the second-order effects (G·H, K) of two variables of numbers."""
    which = _used(rows, axes)
    first, second = (_intervals(axis, which) for axis in axes)
    J, M = (len(axis.values) - 1 for axis in axes)
    cell = first * M + second
    weight = _sums(cell, rows.weights[which], J * M)
    changes = [
        (
            1.0 if high == low else -1.0,
            {
                axes[0].name: axes[0].values[first + high],
                axes[1].name: axes[1].values[second + low],
            },
        )
        for high in (1, 0)
        for low in (1, 0)
    ]
    found = _differences(fit, rows, which, changes, cell, weight, advance)
    cells = weight.reshape(J, M)

    def surface(difference: NDArray[np.float64]) -> NDArray[np.float64]:
        shape = difference.shape[:-1]
        corners = accumulated_pairs(difference.reshape(*shape, J, M), cells)
        return corners.reshape(*shape, -1)

    return _along_last(found, surface)


def local_effects_of_levels(
    fit: AnyFit, rows: RawRows, axis: VariablePoints, advance: Callable[[int], object]
) -> MeanCurve:
    """Return the effects (L, K) of the levels of a factor, accumulated along an order of them.

    That of ordered categories and of False and True; else by similarity of the other variables.
    """
    which = _used(rows, [axis])
    level = axis.observed[which].astype(np.int64)
    order = _order(rows, axis, which, level)
    L, values = len(order), axis.values[order]
    at = np.argsort(order)[level]
    up, down = np.flatnonzero(at < L - 1), np.flatnonzero(at > 0)
    step = np.concatenate([at[up], at[down] - 1])
    of_rows = np.concatenate([which[up], which[down]])
    weight = _sums(step, rows.weights[of_rows], L - 1)
    changes = [(1.0, {axis.name: values[step + 1]}), (-1.0, {axis.name: values[step]})]
    found = _differences(fit, rows, of_rows, changes, step, weight, advance)
    of_levels = _sums(at, rows.weights[which], L)
    back = np.argsort(order)
    return _along_last(found, lambda step: accumulated_levels(step, of_levels)[..., back])


def _used(rows: RawRows, axes: Sequence[VariablePoints]) -> NDArray[np.int64]:
    """Return the rows of positive weight that have a value of each variable."""
    used = rows.weights > 0
    for axis in axes:
        used = used & ~np.isnan(axis.observed)
    return np.flatnonzero(used)


def _intervals(axis: VariablePoints, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the interval of each row: above its lower end, up to its upper end."""
    found = np.searchsorted(axis.values, axis.observed[which], side="left") - 1
    return np.clip(found, 0, len(axis.values) - 2)


def _sums(cell: NDArray[np.int64], weights: NDArray[np.float64], C: int) -> NDArray[np.float64]:
    """Return the weight (C,) of the rows of each cell."""
    return np.bincount(cell, weights, C).astype(np.float64)


def _differences(
    fit: AnyFit,
    rows: RawRows,
    which: NDArray[np.int64],
    changes: Sequence[tuple[float, dict[str, NDArray[Any]]]],
    cell: NDArray[np.int64],
    weight: NDArray[np.float64],
    advance: Callable[[int], object],
) -> MeanCurve:
    """Return the mean over the rows of each cell (C, K) of signed predictions, added up.

    Parameters
    ----------
    which : (m,) int64
        The rows.
    changes : sequence of (sign, values)
        The values of variables, one for each of the m rows.
    cell : (m,) int64
        The cell of each row.
    weight : (C,) float64
        The weight of the rows of each cell.
    """
    part = RawRows(
        rows.frame.iloc[which], with_rows(rows.X, which), rows.weights[which], rows.training,
        np.ones(len(which), dtype=np.bool_), rows.offset[which],
    )  # fmt: skip
    share = part.weights / weight[cell]
    mean: Any = 0.0
    of_trees: Any = 0.0
    for sign, values in changes:
        X = set_to(fit, part, values)
        found = averages(fit, X, share, cell, len(weight), part.offset, advance)
        mean = mean + sign * found.mean
        if found.of_trees is not None:
            of_trees = of_trees + sign * found.of_trees
    return MeanCurve(mean, of_trees if trees_vary(fit) else None)


def _order(
    rows: RawRows, axis: VariablePoints, which: NDArray[np.int64], level: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the numbers of the levels of positive weight, in their order."""
    column = rows.frame[axis.name]
    natural = pd.api.types.is_bool_dtype(column) or (
        isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    )
    L = len(axis.values)
    if natural or L < 3:
        return np.arange(L)
    others = [rows.frame[name].iloc[which] for name in rows.frame.columns if name != axis.name]
    return similarity_order(level, L, others)


def _along_last(found: MeanCurve, accumulate: Any) -> MeanCurve:
    """Return what `accumulate` makes of the last axis of differences (..., C, K), which is C."""

    def changed(difference: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.moveaxis(accumulate(np.moveaxis(difference, -1, -2)), -1, -2)

    of_trees = None if found.of_trees is None else changed(found.of_trees)
    return MeanCurve(changed(found.mean), of_trees)
