"""Averages of the truth: the forest's, corrected by its out-of-bag residuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.design.new_rows import touched
from odrf.engine.factors import Matrix, indicated
from odrf.engine.running import one_thread
from odrf.fits.effects import (
    RATIO,
    Estimand,
    Estimates,
    GroupedRows,
    Uncertainty,
    few_units,
    kinds_of_trees,
    labels_of,
    set_to,
    units_of_rows,
    weights_in_groups,
)
from odrf.fits.estimands import deviation_of
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.missing import reading_empty_cells
from odrf.fits.predicting import out_of_bag_values
from odrf.fits.responses import leaves_rows_out
from odrf.statistics.importance import effective_number, response_columns
from odrf.statistics.representers import (
    ROWS_A_COLUMN,
    Dictionary,
    Regression,
    learned_dictionary,
    regression_on,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Most columns of predictors, and fewest rows.
MOST_COLUMNS, FEWEST_ROWS = 300, 30
# A number is set in all rows only to what this share of the rows has.
LEAST_SHARE = 0.05
# Shifted numbers may leave the range by half a standard deviation, so many rows further.
HALF, MOST_BEYOND = 0.5, 0.2
# Averages that are smaller parts of the largest response are rounding of 0.
ROUNDING = 1e-13


def why_not_of_truth(
    fit: AnyFit, grouped: GroupedRows, estimands: Sequence[Estimand]
) -> str | None:
    """Return why averages are of the fit, not of the truth; None if the bias can be corrected."""
    if not isinstance(fit, Fit) or fit.forest.n_trees < 2:
        return "only forests of odrf() have out-of-bag residuals, which tell the bias"
    if not grouped.rows.training:
        return "new rows have no out-of-bag residuals, which tell the bias"
    if not leaves_rows_out(fit):
        return "every tree sampled all rows, and out-of-bag residuals tell the bias"
    structure, weights = fit.data.structure, fit.data.weights
    if structure is not None and structure.order is not None:
        return "with order= residuals of early rows are of few trees"
    if not fit.draws.all_unseen().any(axis=0).all():
        return "every tree sampled some rows, which have no out-of-bag residuals: use more trees"
    if effective_number(weights, 2) < FEWEST_ROWS:
        return f"the bias cannot be estimated from fewer than {FEWEST_ROWS} rows"
    if grouped.rows.X.shape[0] > MOST_COLUMNS:
        return f"the bias cannot be estimated with more than {MOST_COLUMNS} columns of predictors"
    for estimand in estimands:
        for values in (estimand.low or {}, estimand.high):
            for name, value in values.items():
                if not _are_seen(grouped.rows.frame[name], value, weights):
                    return (
                        f"{name!r} is set to values that few training rows have, where the truth "
                        "has no average of its own"
                    )
    return None


def _are_seen(column: pd.Series, value: Any, weights: Floats) -> bool:
    """Return whether enough training rows have the value, or for shifts (n,) are in the range."""
    of_numbers = pd.api.types.is_numeric_dtype(column.dtype)
    if of_numbers and np.ndim(value) == 1:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        to = np.asarray(value, dtype=np.float64)
        reach = HALF * deviation_of(column, weights) * (1 + ROUNDING)
        low, high = np.nanmin(numbers) - reach, np.nanmax(numbers) + reach
        return float(weights @ ((to < low) | (to > high))) <= MOST_BEYOND * weights.sum()
    here = float(weights @ (column == value).fillna(False).to_numpy(dtype=bool))
    if not of_numbers or not is_number(value):
        return here > 0
    return here >= LEAST_SHARE * weights.sum()


def estimated_of_truth(
    fit: Fit,
    grouped: GroupedRows,
    estimands: Sequence[Estimand],
    comparison: str,
    population: bool,
    advance: Callable[[int], object] = lambda n: None,
) -> Estimates:
    """Estimate every estimand of the truth over every group, for every class.

    Arguments are those of `odrf.fits.effects.estimated`, to whose averages the bias is corrected.
    """
    rows = _rows_of(fit, grouped)
    units, ready = units_of_rows(fit, grouped), dict[tuple[Any, ...], _Average]()
    n_units, regressed, regression = int(units.max()) + 1, None, None
    estimates, of_units = [], []
    for estimand in estimands:
        names = {**(estimand.low or {}), **estimand.high}
        changed = _columns_of(fit, names)
        if regression is None or changed != regressed:
            # estimands of a variable follow each other; what is kept of one is not small
            ready.clear()
            own = rows.columns(grouped.rows.X, changed)
            regressed, regression = changed, regression_on(own, fit.data.weights)
        share = grouped.share if estimand.width is None else grouped.share / estimand.width
        parts = []
        for values in (estimand.high, estimand.low):
            if values is None:
                continue
            # contrasts of a factor have levels in common
            same = (estimand.width is None, *map(_key_of, values.items()))
            if same not in ready:
                X = set_to(fit, grouped.rows, values)
                ready[same] = rows.average(X, share, changed, advance)
            else:
                advance(len(share))
            parts.append(ready[same])
        if len(parts) == 2 and comparison != RATIO:
            high, low = parts
            parts = [_Average(*(first - second for first, second in zip(high, low, strict=True)))]
        means, off = zip(
            *(rows.corrected(part, regression, population) for part in parts), strict=True
        )
        estimate, of_rows = means[0], off[0]
        if len(parts) == 2:  # to first order the ratio changes by this
            with np.errstate(divide="ignore", invalid="ignore"):
                estimate = means[0] / means[1]
                of_rows = (off[0] - estimate * off[1]) / means[1]
        sums = np.zeros((n_units, estimate.size))
        with np.errstate(invalid="ignore"):
            np.add.at(sums, units, of_rows.reshape(len(units), -1))
        estimates.append(estimate.ravel())
        of_units.append(sums)
    # n - 1 in place of n units divides the squares
    every = few_units(np.concatenate(of_units, axis=1)) * np.sqrt(n_units / max(n_units - 1, 1))
    uncertainty = Uncertainty(None, kinds_of_trees(fit), fit.draws, every)
    return Estimates(labels_of(fit, grouped, estimands), np.concatenate(estimates), uncertainty)


def _key_of(item: tuple[str, Any]) -> tuple[Any, ...]:
    """Return what two settings of a variable have in common if they are the same."""
    name, value = item
    return name, type(value), id(value) if isinstance(value, np.ndarray) else value


def _columns_of(fit: Fit, names: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of the columns that are computed from some variables."""
    which = touched(fit.design, *names) if names else []
    return tuple(int(j) for j in fit.design.recipe.columns_of(which)) if which else ()


class _Average(NamedTuple):
    """An average over C groups: of the forest (C, K), its rows (n, K), of D columns, of 1."""

    mean: Floats
    of_rows: Floats
    of_columns: Floats
    of_one: Floats


@dataclass(frozen=True, eq=False)
class _Rows:
    """The training rows, with what averages of the truth over C groups of them need.

    `residuals` (n, K) are out of bag; `unseen` (B, n): which trees did not sample a row;
    `indicators` (n, C - 1) of the groups but the first; `largest`: the size of the responses.
    """

    fit: Fit
    grouped: GroupedRows
    unseen: Mask
    dictionary: Dictionary
    residuals: Floats
    indicators: Floats
    largest: float

    def columns(self, X: Matrix, changed: tuple[int, ...]) -> Floats:
        """Return the columns (n, D) of rows X on which residuals are regressed.

        They are the dictionary; the groups, and their products with the columns that are `changed`;
        and products of these with all others, if there are enough rows for so many.
        """
        Z = _dense(X)
        linear, of_groups = self.dictionary.linear(Z), self.indicators
        parts = [self.dictionary.columns(Z), of_groups]
        if of_groups.size:
            within = linear[:, list(changed)] - self._means_in_groups(changed)[self.grouped.group]
            parts += [of_group[:, None] * within for of_group in of_groups.T]
        others = np.setdiff1d(np.arange(Z.shape[1]), changed)
        room = effective_number(self.fit.data.weights, 2) / ROWS_A_COLUMN
        if sum(part.shape[1] for part in parts) + len(changed) * len(others) <= room:
            parts += [linear[:, others] * linear[:, [j]] for j in changed]
        return np.column_stack(parts)

    def _means_in_groups(self, changed: tuple[int, ...]) -> Floats:
        """Return the means (C, c) of the `changed` columns in the groups of training rows."""
        weights = weights_in_groups(
            self.fit.data.weights, self.grouped.group, len(self.grouped.labels)
        )
        linear = self.dictionary.linear(_dense(self.grouped.rows.X))[:, list(changed)]
        return np.asarray((weights.T @ linear) / weights.sum(axis=0)[:, None])

    def average(
        self, X: Matrix, share: Floats, changed: tuple[int, ...], advance: Callable[[int], object]
    ) -> _Average:
        """Return the averages of rows X, each with a `share` in that of its group."""
        weights = weights_in_groups(share, self.grouped.group, len(self.grouped.labels))
        of_rows = out_of_bag_means(self.fit, X, self.unseen)
        advance(len(share))
        factor = np.divide(
            share, self.grouped.share, out=np.zeros_like(share), where=self.grouped.share > 0
        )[:, None]
        of_columns = weights.T @ self.columns(X, changed)
        return _Average(weights.T @ of_rows, of_rows * factor, of_columns, weights.sum(axis=0))

    @one_thread()
    def corrected(
        self, average: _Average, regression: Regression, population: bool
    ) -> tuple[Floats, Floats]:
        """Return the averages of the truth (C, K), and what each row adds to them (n, C, K)."""
        alpha = regression.representers(average.of_columns, average.of_one)
        alpha = alpha * regression.weights[:, None]
        mean = average.mean + alpha.T @ self.residuals
        mean = np.where(np.abs(mean) > ROUNDING * self.largest, mean, 0.0)
        off = alpha[:, :, None] * regression.residuals(self.residuals)[:, None, :]
        if population:
            group, share = self.grouped.group, self.grouped.share[:, None]
            chance = share * (average.of_rows - average.mean[group])
            off[np.arange(len(group)), group] += chance
        return mean, off


def _rows_of(fit: Fit, grouped: GroupedRows) -> _Rows:
    X, data, unseen = grouped.rows.X, fit.data, fit.draws.all_unseen()
    n_groups = len(grouped.labels)
    indicators = (grouped.group[:, None] == np.arange(1, n_groups)).astype(np.float64)
    y = response_columns(data.y, fit.design.response.n_classes)
    residuals = y - out_of_bag_means(fit, X, unseen)
    dictionary = learned_dictionary(_dense(X), data.weights)
    return _Rows(fit, grouped, unseen, dictionary, residuals, indicators, np.abs(y).max())


def _dense(X: Matrix) -> Floats:
    """Return the columns (n, p) of rows X (p, n), with an indicator for each level."""
    return np.asarray(indicated(X).T, dtype=np.float64)


def out_of_bag_means(fit: Fit, X: Matrix, unseen: Mask) -> Floats:
    """Return the means (n, K) of rows X (p, n) over trees that did not sample each, `unseen`."""
    reading, X = reading_empty_cells(fit, X)
    return out_of_bag_values(reading.forest, X, unseen, fit.control.n_jobs).value
