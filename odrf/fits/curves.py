"""Curves of a fit: mean and individual predictions, accumulated effects, interactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype

from odrf.design.new_rows import touched, with_levels, with_values
from odrf.engine.factors import Matrix, layout_of, stored, with_rows
from odrf.engine.partial_dependence import BlockCurves, OtherValues, curves_by_block
from odrf.engine.running import row_blocks
from odrf.errors import InputError
from odrf.fits.effects import averages, kinds_of_trees, set_to, trees_vary
from odrf.fits.estimands import require_exact, warn_of_values_beyond
from odrf.fits.fit import (
    AnyFit,
    BoostedFit,
    Fit,
    GuidedFit,
    RawRows,
    StreamedFit,
    grow_boosted_fit,
    grow_guided_fit,
)
from odrf.fits.growing import grow_fit
from odrf.fits.missing import empty_columns, reading_empty_cells
from odrf.fits.responses import expected_response
from odrf.fits.stack.fit import StackedFit
from odrf.fits.stack.growing import refit_stack
from odrf.statistics import curves
from odrf.statistics.effects import functional_covariance
from odrf.statistics.jackknife import degrees_of_freedom

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Points lie between these quantiles: beyond them there are too few rows.
ENDS = (0.01, 0.99)
# Whole numbers beyond are points as floats.
LARGEST = 2.0**63


def points_of(
    fit: AnyFit, rows: RawRows, name: str, points: int, values: Sequence[Any] | None
) -> curves.VariablePoints:
    """Return the points of a variable: the `values` given, or chosen ones.

    All of at most `points` numbers, else equally spaced ones between their 1 % and 99 % quantiles.
    Raises `InputError` for a variable without a curve, or `values` of another kind; warns of values
    beyond the training rows.
    """
    touched(fit.design, name)
    column = with_levels(fit.design, rows.frame[[name]])[name]
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column):
        raise InputError(
            f"{name!r} holds dates or times, which have no curve: fit with a number made of them, "
            "such as the day of the year"
        )
    if column.notna().sum() == 0:
        raise InputError(f"{name!r} is empty in all rows: give other rows as newdata=")
    if numeric:
        require_exact(name, column)
        axis = _of_numbers(name, column, points, values)
        if values is not None:
            warn_of_values_beyond(fit, {name: axis.values.tolist()})
        return axis
    return _of_levels(name, column, values)


def _of_numbers(
    name: str, column: pd.Series, points: int, values: Sequence[Any] | None
) -> curves.VariablePoints:
    observed = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = pd.api.types.is_integer_dtype(column)
    if values is not None:
        try:
            chosen = np.unique(np.asarray(values, dtype=np.float64).ravel())
        except (TypeError, ValueError):
            chosen = np.array([np.nan])
        if len(chosen) == 0 or not np.isfinite(chosen).all():
            raise InputError(f"values= of {name!r}: give one finite number or more")
    else:
        known = observed[~np.isnan(observed)]
        chosen = np.unique(known)
        if len(chosen) > points:
            ends = np.quantile(known, ENDS)
            # of a number that is nearly constant, the whole range
            ends = ends if ends[1] > ends[0] else chosen[[0, -1]]
            chosen = np.linspace(float(ends[0]), float(ends[1]), points)
            chosen = np.unique(np.rint(chosen)) if whole else chosen
    fits_type = whole and (chosen == np.rint(chosen)).all() and (np.abs(chosen) < LARGEST).all()
    return curves.VariablePoints(
        name, chosen.astype(np.int64) if fits_type else chosen, True, observed
    )


def _of_levels(name: str, column: pd.Series, values: Sequence[Any] | None) -> curves.VariablePoints:
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = column.cat.remove_unused_categories().cat.categories
    else:
        levels = pd.Index(column.dropna().astype(object).unique()).sort_values()
    known = pd.Index(levels.astype(object))
    chosen = known if values is None else pd.Index(list(values), dtype=object)
    if len(chosen) == 0 or chosen.isna().any() or not chosen.is_unique:
        raise InputError(f"values= of {name!r}: give one level or more, each once")
    at = chosen.get_indexer(pd.Index(column.astype(object))).astype(np.float64)
    return curves.VariablePoints(name, chosen.to_numpy(), False, np.where(at < 0, np.nan, at))


# Rows at points of a stack that are predicted together.
TOGETHER = 2**14
# Of probabilities: trees add changes along a curve up, which leaves some 1e-17 of 0, or below it.
DECIMALS = 12


class CurveBlock(NamedTuple):
    """The predictions (m, G, K) of a block of m rows at G points.

    `of_trees` (B, G, K) are steps of scores of boosted trees, votes of guided ones; B is 0 of a
    stack.
    """

    rows: slice
    predicted: Floats
    of_trees: Floats


def curves_of_rows(
    fit: AnyFit,
    rows: RawRows,
    points: Mapping[str, Any],
    advance: Callable[[int], object] = lambda n: None,
) -> Iterator[CurveBlock]:
    """Yield the predictions of blocks of rows at G points, each the values of some variables."""
    if isinstance(fit, StackedFit) or fit.forest.lines is not None:
        yield from _curves_point_by_point(fit, rows, points, advance)
        return
    values = _values_at(fit, rows, points)
    # cells of these variables that are missing in new rows need no imputation
    first = {name: _at(of_points, 0) for name, of_points in points.items()}
    X = with_values(fit.design, rows.frame, rows.X, first)
    reading, X, other = _read(fit, X, points, values)
    outputs = reading.control.n_outputs if isinstance(reading, BoostedFit) else 1
    blocks = curves_by_block(
        reading.forest, X, other, rows.weights, outputs, fit.control.n_jobs, advance
    )
    for block in blocks:
        yield CurveBlock(block.rows, _predicted(reading, block, rows.offset), block.of_trees)


def _curves_point_by_point(
    fit: AnyFit, rows: RawRows, points: Mapping[str, Any], advance: Callable[[int], object]
) -> Iterator[CurveBlock]:
    """Yield the predictions of blocks of rows at all points by a stack, or by a tree of lines."""
    n, G = len(rows.frame), len(next(iter(points.values())))
    for block in row_blocks(n, max(1, TOGETHER // G)):
        which, point = (
            each.ravel() for each in np.indices((block.stop - block.start, G), dtype=np.int64)
        )
        which += block.start
        frame = rows.frame.iloc[which].reset_index(drop=True)
        values = {
            name: of_points.iloc[point].reset_index(drop=True)
            if isinstance(of_points, pd.Series)
            else np.asarray(of_points)[point]
            for name, of_points in points.items()
        }
        X = with_values(fit.design, frame, with_rows(rows.X, which), values)
        predicted = expected_response(fit, X)
        K = predicted.shape[1]
        advance(block.stop - block.start)
        yield CurveBlock(block, predicted.reshape(-1, G, K), np.zeros((0, G, K)))


def _read(
    fit: AnyFit, X: Matrix, points: Mapping[str, Any], values: NDArray[np.float32]
) -> tuple[AnyFit, Matrix, OtherValues]:
    """Return the fit and matrix for reading rows X (p, n) at all points, and values at these."""
    columns, p = _columns(fit, X, points), len(X)
    at = np.flatnonzero(np.isnan(values).any(axis=(0, 2)))
    empty = np.union1d(empty_columns(X), columns[at])
    reading, X = reading_empty_cells(fit, X, empty)
    if not len(at):
        return reading, X, OtherValues(_places(X, columns), values)
    missing = np.isnan(values[:, at])
    if isinstance(fit, StreamedFit) and fit.fills is not None:
        fills = fit.fills[columns[at]].astype(np.float32)[:, np.newaxis]
        values[:, at] = np.where(missing, fills, values[:, at])
        return reading, X, OtherValues(_places(X, columns), values)
    marks = p + np.searchsorted(empty, columns[at])
    values = np.concatenate([np.nan_to_num(values, nan=0.0), missing], axis=1, dtype=np.float32)
    return reading, X, OtherValues(_places(X, np.concatenate([columns, marks])), values)


def _values_at(fit: AnyFit, rows: RawRows, points: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return the changed columns at each point: (1, T, G), or (n, T, G) for products."""
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


def _columns(fit: AnyFit, X: Matrix, names: Mapping[str, Any]) -> Integers:
    """Return the columns that the variables change; of a factor that is stored as codes, one."""
    columns = fit.design.recipe.columns_of(touched(fit.design, *names))
    return columns[np.sort(np.unique(_places(X, columns), return_index=True)[1])]


def _places(X: Matrix, columns: Integers) -> Integers:
    """Return the rows of the stored array that hold these columns."""
    layout = layout_of(X)
    return columns if layout is None else layout.place[columns].astype(np.int64)


def _predicted(fit: AnyFit, block: BlockCurves, offset: Floats) -> Floats:
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


# The mean of the predictions over rows at each point, and its covariance over training samples.
@dataclass(frozen=True, eq=False)
class MeanCurve:
    """Mean predictions (G, K) at G points, and those of the trees (B, G, K) if known."""

    mean: Floats
    of_trees: Floats | None


def mean_curve(
    fit: AnyFit, rows: RawRows, points: Mapping[str, Any], advance: Callable[[int], object]
) -> MeanCurve:
    """Return the weighted mean over the rows of the predictions at each of the points (G,)."""
    total: Any = 0.0
    of_trees: Any = 0.0
    for block in curves_of_rows(fit, rows, points, advance):
        total = total + np.einsum("m,mgk->gk", rows.weights[block.rows], block.predicted)
        of_trees = of_trees + block.of_trees
    weight = rows.weights.sum()
    mean = np.asarray(total) / weight
    varying = np.asarray(of_trees) / weight if trees_vary(fit) else None
    if varying is not None and fit.design.response.classes is not None:
        varying = np.round(varying, DECIMALS)
    return MeanCurve(mean, varying)


def spread_of(fit: AnyFit, of_trees: Floats | None) -> curves.CurveSpread | None:
    """Return how the means over the trees of values (B, M) vary over samples; None if unknown."""
    if of_trees is None or not isinstance(fit, Fit):
        return None
    covariance = functional_covariance(of_trees, kinds_of_trees(fit), fit.draws)
    return curves.CurveSpread(
        covariance.total, covariance.raw, covariance.n_rows, degrees_of_freedom(fit.draws)
    )


# Accumulated local effects of a fit, for the whole fit and for each of its trees.
def edges_of(fit: AnyFit, rows: RawRows, name: str, points: int) -> curves.VariablePoints:
    """Return the ends of intervals with about the same number of rows; of a factor its levels."""
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
        # whole numbers stay whole
        values = values.astype(axis.values.dtype)
        axis = curves.VariablePoints(name, values, True, axis.observed)
    if len(axis.values) < 2:
        raise InputError(f"{name!r} has one value only, so that it has no effect to accumulate")
    return axis


def local_effects_of_number(
    fit: AnyFit, rows: RawRows, axis: curves.VariablePoints, advance: Callable[[int], object]
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
    differences = _differences(fit, rows, which, changes, interval, weight, advance)
    return _along_last(differences, lambda difference: curves.accumulated(difference, weight))


def local_effects_of_two(
    fit: AnyFit,
    rows: RawRows,
    axes: Sequence[curves.VariablePoints],
    advance: Callable[[int], object],
) -> MeanCurve:
    """Return the second-order effects (G·H, K) of two variables of numbers."""
    which = _used(rows, axes)
    first, second = (_intervals(axis, which) for axis in axes)
    J, M = (len(axis.values) - 1 for axis in axes)
    cell = first * M + second
    weight = _sums(cell, rows.weights[which], J * M)
    (a, at), (b, up_to) = ((axis.name, axis.values) for axis in axes)
    changes = [
        (1.0 if high == low else -1.0, {a: at[first + high], b: up_to[second + low]})
        for high in (1, 0)
        for low in (1, 0)
    ]
    differences = _differences(fit, rows, which, changes, cell, weight, advance)
    cells = weight.reshape(J, M)

    def surface(difference: Floats) -> Floats:
        shape = difference.shape[:-1]
        corners = curves.accumulated_pairs(difference.reshape(*shape, J, M), cells)
        return corners.reshape(*shape, -1)

    return _along_last(differences, surface)


def local_effects_of_levels(
    fit: AnyFit, rows: RawRows, axis: curves.VariablePoints, advance: Callable[[int], object]
) -> MeanCurve:
    """Return the effects (L, K) of the levels of a factor, accumulated along an order of them."""
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
    differences = _differences(fit, rows, of_rows, changes, step, weight, advance)
    of_levels = _sums(at, rows.weights[which], L)
    back = np.argsort(order)
    return _along_last(
        differences, lambda step: curves.accumulated_levels(step, of_levels)[..., back]
    )


def _used(rows: RawRows, axes: Sequence[curves.VariablePoints]) -> Integers:
    """Return the rows of positive weight that have a value of each variable."""
    used = rows.weights > 0
    for axis in axes:
        used = used & ~np.isnan(axis.observed)
    return np.flatnonzero(used)


def _intervals(axis: curves.VariablePoints, which: Integers) -> Integers:
    """Return the interval of each row: above its lower end, up to its upper end."""
    interval = np.searchsorted(axis.values, axis.observed[which], side="left") - 1
    return np.clip(interval, 0, len(axis.values) - 2)


def _sums(cell: Integers, weights: Floats, C: int) -> Floats:
    """Return the weight (C,) of the rows of each cell."""
    return np.bincount(cell, weights, C).astype(np.float64)


def _differences(
    fit: AnyFit,
    rows: RawRows,
    which: Integers,
    changes: Sequence[tuple[float, dict[str, NDArray[Any]]]],
    cell: Integers,
    weight: Floats,
    advance: Callable[[int], object],
) -> MeanCurve:
    """Return the mean over the rows of each cell (C, K) of signed predictions, added up."""
    part = RawRows(
        rows.frame.iloc[which], with_rows(rows.X, which), rows.weights[which], rows.training,
        np.ones(len(which), dtype=np.bool_), rows.offset[which],
    )  # fmt: skip
    share = part.weights / weight[cell]
    mean: Any = 0.0
    of_trees: Any = 0.0
    for sign, values in changes:
        X = set_to(fit, part, values)
        average = averages(fit, X, share, cell, len(weight), part.offset, advance)
        mean = mean + sign * average.mean
        if average.of_trees is not None:
            of_trees = of_trees + sign * average.of_trees
    return MeanCurve(mean, of_trees if trees_vary(fit) else None)


def _order(
    rows: RawRows, axis: curves.VariablePoints, which: Integers, level: Integers
) -> Integers:
    """Return the numbers of the levels of positive weight, in their order."""
    column = rows.frame[axis.name]
    natural = pd.api.types.is_bool_dtype(column) or (
        isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    )
    L = len(axis.values)
    if natural or L < 3:
        return np.arange(L)
    others = [rows.frame[name].iloc[which] for name in rows.frame.columns if name != axis.name]
    return curves.similarity_order(level, L, others)


def _along_last(differences: MeanCurve, accumulate: Any) -> MeanCurve:
    """Return the result of `accumulate` on the last axis of differences (..., C, K), which is C."""

    def changed(difference: Floats) -> Floats:
        return np.moveaxis(accumulate(np.moveaxis(difference, -1, -2)), -1, -2)

    of_trees = None if differences.of_trees is None else changed(differences.of_trees)
    return MeanCurve(changed(differences.mean), of_trees)


# The interactions of the variables of a fit, and of the same fit to permuted responses.
class Interacting(NamedTuple):
    """Interactions of each of P variables with all others, and of `itertools.combinations`."""

    overall: list[curves.Interaction]
    pairs: list[curves.Interaction]


def interacting(
    fit: AnyFit, rows: RawRows, names: Sequence[str], advance: Callable[[], object]
) -> Interacting:
    """Return the interactions of the variables, of averages over s rows at their own values."""
    values = {name: _values(rows, name) for name in names}
    alone: dict[str, Floats] = {}
    overall = []
    for name in names:
        predicted = _at_all(fit, rows, {name: values[name]})
        alone[name] = predicted.mean(axis=0)
        own = np.arange(len(predicted))
        overall.append(
            curves.overall_interaction(predicted[own, own], alone[name], predicted.mean(axis=1))
        )
        advance()
    pairs = []
    for first, second in combinations(names, 2):
        both = _at_all(fit, rows, {name: values[name] for name in (first, second)}).mean(axis=0)
        pairs.append(curves.pair_interaction(both, alone[first], alone[second]))
        advance()
    return Interacting(overall, pairs)


def some_rows(rows: RawRows, which: Integers) -> RawRows:
    """Return some of the rows, all with the same weight."""
    every = np.ones(len(which), dtype=np.bool_)
    frame, X = rows.frame.iloc[which], with_rows(rows.X, which)
    return RawRows(frame, X, np.ones(len(which)), False, every, rows.offset[which])


def grown_on_permuted(fit: AnyFit, seed: int) -> AnyFit:
    """Grow the fit again on responses that are permuted among the rows, with their weights."""
    data = fit.data
    order = np.random.default_rng(seed).permutation(data.n_rows)
    permuted = replace(data, y=data.y[order], weights=data.weights[order])
    if isinstance(fit, BoostedFit):
        return grow_boosted_fit(fit.call, fit.design, permuted, fit.offset, fit.control, False)
    if isinstance(fit, GuidedFit):
        return grow_guided_fit(fit.call, fit.design, permuted, fit.frame, fit.control, False)
    if isinstance(fit, StackedFit):
        return refit_stack(fit, permuted)
    assert isinstance(fit, Fit)
    return grow_fit(fit.call, fit.design, permuted, fit.request)


def _values(rows: RawRows, name: str) -> NDArray[Any]:
    column = rows.frame[name]
    # as objects, large whole numbers would become floats
    kept = column if is_integer_dtype(column.dtype) else column.astype(object)
    return np.asarray(kept.to_numpy())


def _at_all(fit: AnyFit, rows: RawRows, values: dict[str, Any]) -> Floats:
    """Return the predictions (s, s, K) of each row at the values of each row."""
    return np.concatenate([block.predicted for block in curves_of_rows(fit, rows, values)])
