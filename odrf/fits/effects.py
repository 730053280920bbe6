"""Averaged predictions, and contrasts of them, with their covariance over training samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_list
from odrf.design.new_rows import with_values
from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.resamples import Draws
from odrf.engine.running import in_blocks, one_thread, row_blocks
from odrf.engine.trees.routing import leaves_of
from odrf.errors import InputError, nearest
from odrf.fits.fit import AnyFit, Fit, RawRows, raw_rows
from odrf.fits.missing import reading_empty_cells
from odrf.fits.responses import expected_response
from odrf.statistics.effects import NUMBERS, FunctionalCovariance, functional_covariance
from odrf.statistics.jackknife import degrees_of_freedom, distinguishes_rows
from odrf.text.names import free_name

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A node is visited once for all rows of a block: most rows of one, fewest, and most predictions.
MOST_ROWS, FEWEST_ROWS, ROOM = 8192, 1024, 2**21


class Averages(NamedTuple):
    """Sums of predictions over C groups of n rows: (C, K), of trees (B, C, K), of rows (n, K)."""

    mean: Floats
    of_trees: Floats | None
    of_rows: Floats


def why_no_errors(fit: AnyFit) -> str | None:
    """Return why the trees do not show how means of them vary; None if they do."""
    if not isinstance(fit, Fit):
        return "only forests of odrf() tell how estimates vary: their trees leave rows out"
    if fit.forest.n_trees < 2:
        return "one tree does not tell how estimates vary: use a forest of odrf()"
    if fit.rows is None:
        return "the fit has no training rows, and which of them the trees sampled is not known"
    if not distinguishes_rows(fit.draws):
        return (
            'every tree samples all rows: fit with resample="bootstrap", or fewer rows for a tree'
        )
    return None


def trees_vary(fit: AnyFit) -> TypeGuard[Fit]:
    """Return whether the trees show how means of them vary."""
    return why_no_errors(fit) is None


def kinds_of_trees(fit: Fit) -> Integers:
    """Return the kind (B,) of each tree, from 0."""
    if fit.blend is None:
        return np.zeros(fit.forest.n_trees, dtype=np.int64)
    return fit.blend.of_tree


@one_thread()
def averages(
    fit: AnyFit,
    X: Matrix,
    share: Floats,
    group: Integers,
    n_groups: int,
    offset: Floats | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> Averages:
    """Return Σ share_i · prediction_i over the rows X (p, n) of each group (n,), from 0."""
    if not trees_vary(fit):
        of_rows = expected_response(fit, X, offset, advance)
        return Averages(weights_in_groups(share, group, n_groups).T @ of_rows, None, of_rows)
    reading, X = reading_empty_cells(fit, X)
    forest = reading.forest
    B, K = forest.n_trees, forest.value.shape[1]
    packed, value = forest.packed_for(X), np.ascontiguousarray(forest.value.T)
    require_memory(
        16.0 * B * n_groups * K, f"the means of {B} trees in {n_groups} groups", "use fewer groups"
    )
    of_rows, of_trees = np.empty((X.shape[1], K)), np.zeros((B, n_groups, K))

    def sums(block: slice) -> Floats:
        leaves = leaves_of(packed, X, block)
        weights = weights_in_groups(share[block], group[block], n_groups)
        part = np.empty((B, n_groups, K))
        for k in range(K):
            predicted = value[k][leaves]
            of_rows[block, k] = predicted.mean(axis=0)
            part[:, :, k] = predicted @ weights
        return part

    size = max(FEWEST_ROWS, min(MOST_ROWS, ROOM // B))
    for part in in_blocks(sums, row_blocks(X.shape[1], size), fit.control.n_jobs, advance):
        of_trees += part
    return Averages(of_trees.mean(axis=0), of_trees, of_rows)


def weights_in_groups(share: Floats, group: Integers, n_groups: int) -> Floats:
    """Return the weight (n, C) of each row in each group."""
    weights = np.zeros((len(share), n_groups))
    weights[np.arange(len(share)), group] = share
    return weights


# Rows over which predictions are averaged: their values, groups and shares.
MOST_GROUPS = 100


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows in groups (n,), with a `share` (n,) of each in the average of its group."""

    rows: RawRows
    group: Integers
    labels: pd.DataFrame
    share: Floats


def grouped_rows(fit: AnyFit, newdata: pd.DataFrame | None, by: Any) -> GroupedRows:
    """Return the training rows or new rows, in groups `by` the values of some columns."""
    rows = raw_rows(fit, newdata)
    n = len(rows.frame)
    if by is None:
        group, labels = np.zeros(n, dtype=np.int64), pd.DataFrame(index=range(1))
    else:
        names = [by] if isinstance(by, str) else list(by) if is_list(by) else None
        if not names:
            raise InputError(f"by={by!r} names no column: use a name, or a list of names")
        group, labels = _groups(_columns(names, rows, newdata))
        labels = labels.rename(columns={name: shown_name(fit, name) for name in labels})
    weights = rows.weights
    total = np.bincount(group, weights, len(labels))
    if not (total > 0).all():
        raise InputError(
            "by= makes a group of training rows that all have the weight 0: give the rows of the "
            "other groups as newdata="
        )
    return GroupedRows(rows, group, labels, weights / total[group])


def shown_name(fit: AnyFit, name: Any) -> str:
    """Return what a column of the data is called in tables of estimates, which have their own."""
    of_classes = () if fit.design.response.classes is None else ("class",)
    return free_name(name, ("term", "contrast", *of_classes, *NUMBERS))


def values_at(at: Any) -> list[dict[str, Any]]:
    """Return the combinations of the values of `at`, a mapping of names to values or lists."""
    if at is None:
        return [{}]
    if not isinstance(at, Mapping) or not at:
        raise InputError(
            f"at={at!r} is no mapping of variables to values: write at={{'age': [30, 60]}}"
        )
    lists = [list(value) if is_list(value) else [value] for value in at.values()]
    empty = [name for name, values in zip(at, lists, strict=True) if not values]
    if empty:
        raise InputError(f"at= has no value for {empty[0]!r}: give one or more")
    return [dict(zip(at, values, strict=True)) for values in product(*lists)]


def set_to(fit: AnyFit, rows: RawRows, values: Mapping[str, Any]) -> Matrix:
    """Return the matrix of the rows with some variables set to other values."""
    return with_values(fit.design, rows.frame, rows.X, values) if values else rows.X


def _columns(
    names: Sequence[str], rows: RawRows, newdata: pd.DataFrame | None
) -> dict[str, pd.Series]:
    """Return the columns of these names, of the rows."""
    frame = rows.frame if newdata is None else newdata[rows.complete]
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        where = "a column of newdata" if newdata is not None else "a variable of the fit"
        raise InputError(
            f"by={unknown[0]!r} is not {where}{nearest(str(unknown[0]), frame.columns)}"
            + ("" if newdata is not None else ": give the rows with such a column as newdata=")
        )
    return {name: frame[name] for name in names}


def _groups(columns: Mapping[str, pd.Series]) -> tuple[Integers, pd.DataFrame]:
    frame = pd.DataFrame({name: column.to_numpy() for name, column in columns.items()})
    for name, column in columns.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            frame[name] = pd.Categorical(frame[name], column.cat.categories)
        elif column.dtype == np.float16:  # which pandas does not group by
            frame[name] = frame[name].astype(np.float32)
    grouped = frame.groupby(list(frame), dropna=False, observed=True, sort=True)
    group = grouped.ngroup().to_numpy().astype(np.int64)
    if grouped.ngroups > MOST_GROUPS:
        raise InputError(
            f"by={list(columns)} makes {grouped.ngroups} groups, more than {MOST_GROUPS}: cut "
            "numbers into classes first, such as pd.cut(data['age'], 4)"
        )
    first = np.unique(group, return_index=True)[1]
    return group, frame.iloc[first].reset_index(drop=True)


# Averaged predictions, and contrasts of them, with their covariance over training samples.
DIFFERENCE, RATIO = "difference", "ratio"


class Estimand(NamedTuple):
    """What is estimated over each group of rows: an average, or a contrast over a `width` (n,)."""

    labels: dict[str, Any]
    low: dict[str, Any] | None
    high: dict[str, Any]
    width: Floats | None = None


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What the covariance of M estimates is made of: trees (B, M), and units (k, M) of a sample.

    `of_trees` is None if the units alone make it, as of averages of the truth.
    """

    of_trees: Floats | None
    kinds: Integers
    draws: Draws
    of_units: Floats | None

    def covariance(self, gradient: Floats | None = None) -> Floats:
        """Return the covariance (R, R) of linear combinations (R, M) of the estimates."""
        covariance, unit = self.in_units(gradient)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(covariance * unit * unit[:, np.newaxis])

    @one_thread()
    def in_units(self, gradient: Floats | None = None) -> tuple[Floats, Floats]:
        """Return `covariance` with each combination measured in a unit, and these units (R,)."""
        of_trees, of_units, unit = self._scaled(gradient)
        total = np.zeros((len(unit), len(unit))) if of_trees is None else of_trees.total
        return (total if of_units is None else total + of_units.T @ of_units), unit

    @one_thread()
    def errors(self) -> Floats:
        """Return the standard errors (M,) of the estimates; NaN where they are not finite."""
        of_trees, of_units, unit = self._scaled(None)
        variances = np.zeros(len(unit)) if of_trees is None else of_trees.variances.total
        if of_units is not None:
            variances = variances + np.sum(of_units**2, axis=0)
        with np.errstate(over="ignore"):
            errors = np.sqrt(variances) * unit
        return np.where(np.isfinite(errors), errors, np.nan)

    def _scaled(
        self, gradient: Floats | None
    ) -> tuple[FunctionalCovariance | None, Floats | None, Floats]:
        """Return the parts of `in_units`: over trees, over units of the sample, and the units."""
        values, of_units = self.of_trees, self.of_units
        if gradient is not None:
            values = None if values is None else values @ gradient.T
            of_units = None if of_units is None else of_units @ gradient.T
        if values is None:
            assert of_units is not None
            unit = _power_of_two(np.abs(of_units).max(axis=0))
            return None, of_units / unit, unit
        unit = _power_of_two(np.abs(values).max(axis=0))
        of_trees = functional_covariance(values / unit, self.kinds, self.draws)
        return of_trees, None if of_units is None else of_units / unit, unit

    @property
    def deviations(self) -> Floats:
        """The deviation of each tree, and each unit of a sample: (B, M) or (B + k, M)."""
        parts = [] if self.of_trees is None else [self.of_trees - self.of_trees.mean(axis=0)]
        return np.concatenate(parts if self.of_units is None else [*parts, self.of_units])

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances; ∞ where these are over many rows."""
        return degrees_of_freedom(self.draws)

    @property
    def trees_advised(self) -> int:
        """How many trees would estimate the variances well enough; 0 if these are enough."""
        if self.of_trees is None:
            return 0
        unit = _power_of_two(np.abs(self.of_trees).max())
        return functional_covariance(self.of_trees / unit, self.kinds, self.draws).trees_advised


def _power_of_two(size: Floats) -> Floats:
    """Return the power of 2 next to each size; 1 for what is 0 or infinite."""
    known = np.isfinite(size) & (size > 0)
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(known, size, 1.0))[1] - 1))


@dataclass(frozen=True, eq=False)
class Estimates:
    """M estimates, a row of `labels` (term, contrast, group, class) for each, their uncertainty."""

    labels: pd.DataFrame
    estimate: Floats
    uncertainty: Uncertainty | None


class _Estimated(NamedTuple):
    """Estimates (C, K), those of trees (B, C, K), and what units of a sample add (u, C, K)."""

    estimate: Floats
    of_trees: Floats | None
    off_units: Floats | None


def estimated(
    fit: AnyFit,
    grouped: GroupedRows,
    estimands: Sequence[Estimand],
    comparison: str = DIFFERENCE,
    population: bool = False,
    advance: Callable[[int], object] = lambda n: None,
) -> Estimates:
    """Estimate every estimand over every group, for every class.

    `comparison` is "difference", or "ratio" with the delta method. With `population` the rows are a
    sample, whose chance is added.
    """
    ready: dict[tuple[Any, ...], Averages] = {}
    names_ready: set[str] = set()
    offset = grouped.rows.offset

    def of(values: dict[str, Any], share: Floats) -> Averages:
        # contrasts of a variable have levels in common; those of another variable do not
        if names_ready != set(values):
            ready.clear()
            names_ready.clear()
            names_ready.update(values)
        # arrays are equal if they are the same
        same = tuple(
            (name, type(value), id(value) if isinstance(value, np.ndarray) else value)
            for name, value in values.items()
        )
        if share is grouped.share and same in ready:
            advance(len(share))
            return ready[same]
        X = set_to(fit, grouped.rows, values)
        average = averages(fit, X, share, grouped.group, len(grouped.labels), offset, advance)
        if share is grouped.share:
            ready[same] = average
        return average

    units = units_of_rows(fit, grouped) if population else None
    parts = []
    for estimand in estimands:
        share = grouped.share if estimand.width is None else grouped.share / estimand.width
        high = of(estimand.high, share)
        low = None if estimand.low is None else of(estimand.low, share)
        parts.append(_part(high, low, estimand, grouped, comparison == RATIO, units))
    estimate, uncertainty = np.concatenate([part.estimate.ravel() for part in parts]), None
    if trees_vary(fit):
        of_trees = [part.of_trees.reshape(fit.forest.n_trees, -1)
                    for part in parts if part.of_trees is not None]  # fmt: skip
        of_units, kinds = units_together(parts) if population else None, kinds_of_trees(fit)
        uncertainty = Uncertainty(np.concatenate(of_trees, axis=1), kinds, fit.draws, of_units)
    return Estimates(labels_of(fit, grouped, estimands), estimate, uncertainty)


def of_event(estimates: Estimates) -> Estimates:
    """Return the estimates of the second of two classes: those of the first mirror them."""
    known, second = estimates.uncertainty, slice(1, None, 2)
    if known is not None:
        of_units = None if known.of_units is None else known.of_units[:, second]
        of_trees = None if known.of_trees is None else known.of_trees[:, second]
        known = replace(known, of_trees=of_trees, of_units=of_units)
    labels = estimates.labels.iloc[second].reset_index(drop=True)
    return Estimates(labels, estimates.estimate[second], known)


def _part(
    high: Averages,
    low: Averages | None,
    estimand: Estimand,
    grouped: GroupedRows,
    ratio: bool,
    units: Integers | None,
) -> _Estimated:
    """Return an estimand's estimates from its averages: `high`, high - low, or high / low."""
    if low is None or not ratio:
        mean, of_rows, trees = high.mean, high.of_rows, high.of_trees
        if low is not None:
            mean, of_rows = mean - low.mean, of_rows - low.of_rows
            trees = None if trees is None or low.of_trees is None else trees - low.of_trees
        each = of_rows if estimand.width is None else of_rows / estimand.width[:, None]
        return _Estimated(mean, trees, sums_by_unit(each - mean[grouped.group], grouped, units))
    # to first order the ratio changes by (change of high - ratio · change of low) / low
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = high.mean / low.mean
        trees, group = high.of_trees, grouped.group
        if trees is not None and low.of_trees is not None:
            trees = (trees - quotient * low.of_trees) / low.mean
        off = (high.of_rows - quotient[group] * low.of_rows) / low.mean[group]
    return _Estimated(quotient, trees, sums_by_unit(off, grouped, units))


def units_of_rows(fit: AnyFit, grouped: GroupedRows) -> Integers:
    """Return the unit (n,) of each row of a sample: training rows of one group are one unit."""
    structure = fit.data.structure if grouped.rows.training else None
    if structure is None or structure.groups is None:
        return np.arange(len(grouped.share))
    return structure.groups


def sums_by_unit(off: Floats, grouped: GroupedRows, units: Integers | None) -> Floats | None:
    """Return the sums (u, C, K) over each unit of what rows (n, K) add to means of groups."""
    if units is None:
        return None
    sums = np.zeros((int(units.max()) + 1, len(grouped.labels), off.shape[1]))
    np.add.at(sums, (units, grouped.group), grouped.share[:, None] * off)
    return sums


def units_together(parts: Sequence[_Estimated]) -> Floats:
    """Return `Uncertainty.of_units` of averages over rows that are a sample."""
    sums = [part.off_units for part in parts if part.off_units is not None]
    return few_units(np.concatenate([each.reshape(len(each), -1) for each in sums], axis=1))


@one_thread()
def few_units(sums: Floats) -> Floats:
    """Return sums (k, M) of units that have the same products as `sums` (u, M), with k ≤ M, u.

    A column that is not finite is NaN, and the others are as without it.
    """
    if len(sums) <= sums.shape[1]:
        return sums
    finite = np.isfinite(sums).all(axis=0)
    few = np.linalg.qr(np.where(finite, sums, 0.0), mode="r")
    return np.asarray(np.where(finite, few, np.nan))


def labels_of(fit: AnyFit, grouped: GroupedRows, estimands: Sequence[Estimand]) -> pd.DataFrame:
    """Return the labels of each estimate: the estimand, the group of rows, the class."""
    classes = fit.design.response.classes
    K = 1 if classes is None else len(classes)
    C = len(grouped.labels)
    of_plans = pd.DataFrame([estimand.labels for estimand in estimands])
    labels = of_plans.loc[np.repeat(np.arange(len(estimands)), C * K)].reset_index(drop=True)
    of_groups = grouped.labels.loc[np.tile(np.repeat(np.arange(C), K), len(estimands))]
    labels = pd.concat([labels, of_groups.reset_index(drop=True)], axis=1)
    if classes is not None:
        labels["class"] = np.tile(np.asarray(classes, dtype=object), len(estimands) * C)
    return labels
