"""Averaged predictions, and contrasts of them, with their covariance over training samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.resamples import Draws
from odrf.engine.running import one_thread
from odrf.fits.averaged.averages import Averages, averages, trees_vary
from odrf.fits.averaged.grid_of_rows import GroupedRows, set_to
from odrf.fits.fit import AnyFit, Fit
from odrf.statistics.effects import FunctionalCovariance, functional_covariance
from odrf.statistics.jackknife import degrees_of_freedom

__all__ = ["DIFFERENCE", "RATIO", "Estimand", "Estimates", "estimated", "of_event"]

DIFFERENCE, RATIO = "difference", "ratio"


class Estimand(NamedTuple):
    """What is estimated over each group of rows: an average, or a contrast of two.

    Attributes
    ----------
    labels : dict
        What names it: columns of the table.
    low : dict or None
        Values of variables in the first average of a contrast; None for an average alone.
    high : dict
        Values of variables in the second average, or in the average alone.
    width : (n,) float64 or None
        For a slope, by what the difference is divided in each row.
    """

    labels: dict[str, Any]
    low: dict[str, Any] | None
    high: dict[str, Any]
    width: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What the covariance of M estimates is computed from.

    Attributes
    ----------
    of_trees : (B, M) float64
        The values of each tree, to first order.
    kinds : (B,) int64
        The kind of each tree.
    draws : Draws
        How the trees drew their rows.
    of_units : (k, M) float64 or None
        If the rows are a sample: the covariance of averages over it is the product of this matrix,
        transposed, with itself; None if the rows are fixed.
    """

    of_trees: NDArray[np.float64]
    kinds: NDArray[np.int64]
    draws: Draws
    of_units: NDArray[np.float64] | None

    def covariance(self, gradient: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the covariance (R, R) of linear combinations (R, M) of the estimates.

        By default that of the estimates themselves.  Each combination is a functional of the trees
        of its own: with few trees its variance is not too small, as one from a covariance could be.
        Squares beyond the range of floats are infinite.
        """
        covariance, unit = self.in_units(gradient)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(covariance * unit * unit[:, np.newaxis])

    @one_thread()
    def in_units(
        self, gradient: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return `covariance` with each combination measured in a unit, and these units (R,).

        They are powers of 2 near the size of what the trees say, whose squares may be beyond the
        range of floats.
        """
        found, of_units, unit = self._scaled(gradient)
        total = found.total
        return (total if of_units is None else total + of_units.T @ of_units), unit

    @one_thread()
    def errors(self) -> NDArray[np.float64]:
        """Return the standard errors (M,) of the estimates; NaN where they are not finite."""
        found, of_units, unit = self._scaled(None)
        variances = found.variances.total
        if of_units is not None:
            variances = variances + np.sum(of_units**2, axis=0)
        with np.errstate(over="ignore"):
            errors = np.sqrt(variances) * unit
        return np.where(np.isfinite(errors), errors, np.nan)

    def _scaled(
        self, gradient: NDArray[np.float64] | None
    ) -> tuple[FunctionalCovariance, NDArray[np.float64] | None, NDArray[np.float64]]:
        """Return the parts of `in_units`: over trees, over units of the sample, and the units."""
        values, of_units = self.of_trees, self.of_units
        if gradient is not None:
            values = values @ gradient.T
            of_units = None if of_units is None else of_units @ gradient.T
        unit = _power_of_two(np.abs(values).max(axis=0))
        found = functional_covariance(values / unit, self.kinds, self.draws)
        return found, None if of_units is None else of_units / unit, unit

    @property
    def deviations(self) -> NDArray[np.float64]:
        """By how much each tree, and each unit of a sample, is off: (B, M) or (B + k, M)."""
        off = self.of_trees - self.of_trees.mean(axis=0)
        return off if self.of_units is None else np.concatenate([off, self.of_units])

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances; ∞ where these are over many rows."""
        return degrees_of_freedom(self.draws)

    @property
    def trees_advised(self) -> int:
        """How many trees would estimate the variances well enough; 0 if these are enough."""
        unit = _power_of_two(np.abs(self.of_trees).max())
        return functional_covariance(self.of_trees / unit, self.kinds, self.draws).trees_advised


def _power_of_two(size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the power of 2 next to each size; 1 for what is 0 or infinite."""
    known = np.isfinite(size) & (size > 0)
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(known, size, 1.0))[1] - 1))


@dataclass(frozen=True, eq=False)
class Estimates:
    """M estimates and what their covariance is computed from.

    Attributes
    ----------
    labels : DataFrame of M rows
        What names each of them: terms, contrasts, groups, classes.
    estimate : (M,) float64
    uncertainty : Uncertainty or None
        None if the fit's trees do not tell how it varies.
    """

    labels: pd.DataFrame
    estimate: NDArray[np.float64]
    uncertainty: Uncertainty | None


class _Estimated(NamedTuple):
    """Estimates (C, K) of an estimand, and what they are linear in.

    `of_trees` (B, C, K) are the values of each tree; `off_units` (u, C, K) what each unit of a
    sample adds to the means of the groups, None if the rows are fixed.
    """

    estimate: NDArray[np.float64]
    of_trees: NDArray[np.float64] | None
    off_units: NDArray[np.float64] | None


def estimated(
    fit: AnyFit,
    grouped: GroupedRows,
    estimands: Sequence[Estimand],
    comparison: str = DIFFERENCE,
    population: bool = False,
    advance: Callable[[int], object] = lambda n: None,
) -> Estimates:
    """Estimate every estimand over every group, for every class.

    Parameters
    ----------
    fit : AnyFit
    grouped : GroupedRows
    estimands : sequence of Estimand
    comparison : str
        For contrasts: "difference", or "ratio" of the two averages, whose covariance is by the
        delta method.
    population : bool
        Whether the rows are a sample, whose chance is added to the covariance.
    advance : callable
        Called with numbers of rows when they are done.
    """
    ready: dict[tuple[Any, ...], Averages] = {}
    names_ready: set[str] = set()
    offset = grouped.rows.offset

    def of(values: dict[str, Any], share: NDArray[np.float64]) -> Averages:
        # contrasts of a variable have levels in common; those of another variable do not
        if names_ready != set(values):
            ready.clear()
            names_ready.clear()
            names_ready.update(values)
        same = tuple((name, *_identity(value)) for name, value in values.items())
        if share is grouped.share and same in ready:
            advance(len(share))
            return ready[same]
        X = set_to(fit, grouped.rows, values)
        found = averages(fit, X, share, grouped.group, len(grouped.labels), offset, advance)
        if share is grouped.share:
            ready[same] = found
        return found

    units = _units(fit, grouped) if population else None
    parts = []
    for estimand in estimands:
        share = grouped.share if estimand.width is None else grouped.share / estimand.width
        high = of(estimand.high, share)
        low = None if estimand.low is None else of(estimand.low, share)
        parts.append(_part(high, low, estimand, grouped, comparison == RATIO, units))
    estimate = np.concatenate([part.estimate.ravel() for part in parts])
    uncertainty = _uncertainty(fit, parts, population)
    return Estimates(_labels(fit, grouped, estimands), estimate, uncertainty)


def of_event(estimates: Estimates) -> Estimates:
    """Return the estimates of the second of two classes: those of the first mirror them."""
    known, second = estimates.uncertainty, slice(1, None, 2)
    if known is not None:
        of_units = None if known.of_units is None else known.of_units[:, second]
        known = replace(known, of_trees=known.of_trees[:, second], of_units=of_units)
    labels = estimates.labels.iloc[second].reset_index(drop=True)
    return Estimates(labels, estimates.estimate[second], known)


def _identity(value: Any) -> tuple[type, Any]:
    """Return what two equal values have in common, and only they; arrays are equal if the same."""
    return type(value), id(value) if isinstance(value, np.ndarray) else value


def _uncertainty(fit: AnyFit, parts: Sequence[_Estimated], population: bool) -> Uncertainty | None:
    if not (isinstance(fit, Fit) and trees_vary(fit)):
        return None
    B = fit.forest.n_trees
    kinds = np.zeros(B, dtype=np.int64) if fit.blend is None else fit.blend.of_tree
    values = [part.of_trees.reshape(B, -1) for part in parts if part.of_trees is not None]
    of_units = _of_units(parts) if population else None
    return Uncertainty(np.concatenate(values, axis=1), kinds, fit.draws, of_units)


def _part(
    high: Averages,
    low: Averages | None,
    estimand: Estimand,
    grouped: GroupedRows,
    ratio: bool,
    units: NDArray[np.int64] | None,
) -> _Estimated:
    """Return an estimand's estimates from its averages: `high`, high - low, or high / low."""
    if low is None:
        off = _off(high.of_rows, high.mean, estimand, grouped)
        return _Estimated(high.mean, high.of_trees, _by_unit(off, grouped, units))
    if not ratio:
        mean, of_rows = high.mean - low.mean, high.of_rows - low.of_rows
        trees = _combined(high.of_trees, low.of_trees, np.ones_like(mean))
        off = _off(of_rows, mean, estimand, grouped)
        return _Estimated(mean, trees, _by_unit(off, grouped, units))
    # to first order the ratio changes by (change of high - ratio · change of low) / low
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = high.mean / low.mean
        trees = _combined(high.of_trees, low.of_trees, quotient)
        trees = None if trees is None else trees / low.mean
        group = grouped.group
        off = (high.of_rows - quotient[group] * low.of_rows) / low.mean[group]
    return _Estimated(quotient, trees, _by_unit(off, grouped, units))


def _combined(
    high: NDArray[np.float64] | None, low: NDArray[np.float64] | None, times: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    return None if high is None or low is None else high - times * low


def _off(
    of_rows: NDArray[np.float64],
    mean: NDArray[np.float64],
    estimand: Estimand,
    grouped: GroupedRows,
) -> NDArray[np.float64]:
    each = of_rows if estimand.width is None else of_rows / estimand.width[:, None]
    return np.asarray(each - mean[grouped.group])


def _units(fit: AnyFit, grouped: GroupedRows) -> NDArray[np.int64]:
    """Return the unit (n,) of each row of a sample: training rows of one group are one unit."""
    structure = fit.data.structure if grouped.rows.training else None
    if structure is None or structure.groups is None:
        return np.arange(len(grouped.share))
    return structure.groups


def _by_unit(
    off: NDArray[np.float64], grouped: GroupedRows, units: NDArray[np.int64] | None
) -> NDArray[np.float64] | None:
    """Return the sums (u, C, K) over each unit of what rows (n, K) add to means of groups."""
    if units is None:
        return None
    sums = np.zeros((int(units.max()) + 1, len(grouped.labels), off.shape[1]))
    np.add.at(sums, (units, grouped.group), grouped.share[:, None] * off)
    return sums


@one_thread()
def _of_units(parts: Sequence[_Estimated]) -> NDArray[np.float64]:
    """Return what `Uncertainty.of_units` says of averages over rows that are a sample."""
    sums = [part.off_units for part in parts if part.off_units is not None]
    every = np.concatenate([each.reshape(len(each), -1) for each in sums], axis=1)
    return np.asarray(np.linalg.qr(every, mode="r")) if len(every) > every.shape[1] else every


def _labels(fit: AnyFit, grouped: GroupedRows, estimands: Sequence[Estimand]) -> pd.DataFrame:
    """Return what names each estimate: the estimand, the group of rows, the class."""
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
