"""Predicted curves and incidences of rows: as arrays, with bands, as series and data frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_list, is_number
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.memory import require_memory
from odrf.engine.running import in_blocks, row_blocks
from odrf.engine.survival.curve_numbers import mortality, restricted_mean_at, time_lost_at
from odrf.engine.survival.curves import (
    incidence_of_trees,
    mean_curves,
    mean_incidences,
    survival_of_trees,
)
from odrf.engine.trees.routing import EVERY_ROW, predict
from odrf.errors import InputError, warn_user
from odrf.fits.effects import kinds_of_trees
from odrf.fits.fit import AnyFit
from odrf.fits.intervals import quantile_levels
from odrf.fits.predicting import RowsToPredict, leaf_frame, out_of_bag_values, spread_numbers
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.hazards import cause_numbers
from odrf.public.progress import progress_bar
from odrf.statistics import jackknife
from odrf.statistics.curves import curve_covariances, simultaneous_width, typical_df
from odrf.statistics.effects import reach_in_errors
from odrf.statistics.survival.score_curves import CurvesOfScores, FailureTimes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Most numbers of the curves that are computed at a time.
AT_ONCE = 2**22
# A survival that rounding keeps above a bound has reached it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class PredictedRows:
    """Rows X (p, n) whose curves are predicted, by the trees `out_of_bag` (B, n), or by all."""

    fit: SurvivalFit
    X: Matrix
    out_of_bag: Mask | None = None

    def ranks(self, times: Floats) -> Integers:
        """Return how many event times are not later than each of the `times`."""
        return np.searchsorted(self.fit.event_times, times, side="right")

    def survival(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the survival (n, G) at ascending times (G,): the mean over the trees."""
        return self._at(times, True, advance)

    def hazard(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the cumulative hazard (n, G) at ascending times (G,): the mean over the trees."""
        return self._at(times, False, advance)

    def _at(self, times: Floats, survival: bool, advance: Callable[[int], object]) -> Floats:
        fit = self.fit
        return mean_curves(
            fit.forest, fit.curves, self.X, self.ranks(times), survival, fit.control.n_jobs,
            EVERY_ROW if self.out_of_bag is None else self.out_of_bag, advance,
        )  # fmt: skip

    def risk(self) -> Floats:
        """Return the mortality (n,): the cumulative hazard added up over all event times."""
        return self.means([mortality(self.fit.curves, len(self.fit.event_times))])[:, 0]

    def restricted_mean(self, horizons: Sequence[float]) -> Floats:
        """Return the restricted mean survival time (n, G) up to each of the horizons (G,)."""
        times = self.fit.event_times
        return self.means([restricted_mean_at(self.fit.curves, times, tau) for tau in horizons])

    def means(self, values: Sequence[Floats]) -> Floats:
        """Return the means (n, K) over the trees of K numbers (m,) of the nodes."""
        fit = self.fit
        forest = replace(fit.forest, value=np.column_stack(values))
        if self.out_of_bag is None:
            return predict(forest, self.X, fit.control.n_jobs)
        return out_of_bag_values(forest, self.X, self.out_of_bag, fit.control.n_jobs).value

    def quantiles(
        self, shares: Sequence[float], advance: Callable[[int], object] = lambda n: None
    ) -> Floats:
        """Return the time (n, G) by which each share (G,) has had the event; inf if it is never."""
        times, n = self.fit.event_times, self.X.shape[1]
        out = np.empty((n, len(shares)))
        for block in row_blocks(n, max(1, AT_ONCE // len(times))):
            mask = np.zeros(n, dtype=np.bool_)
            mask[block] = True
            trees = None if self.out_of_bag is None else self.out_of_bag[:, block]
            survival = PredictedRows(self.fit, with_rows(self.X, mask), trees).survival(
                times, advance
            )
            for g, share in enumerate(shares):
                reached = survival <= 1.0 - share + ROUNDING
                first = times[reached.argmax(axis=1)]
                out[block, g] = np.where(reached.any(axis=1), first, np.inf)
                out[block, g][np.isnan(survival[:, 0])] = np.nan
        return out


# Predicted incidences of causes, and the time lost by them: means over the trees.
def incidences(
    rows: PredictedRows,
    times: Floats,
    causes: Integers,
    advance: Callable[[int], object] = lambda n: None,
) -> Floats:
    """Return incidences (n, K, G) of causes (K,), from 0, at ascending times; NaN without trees."""
    fit = rows.fit
    return mean_incidences(
        fit.forest, fit.curves, rows.X, rows.ranks(times), causes, fit.control.n_jobs,
        EVERY_ROW if rows.out_of_bag is None else rows.out_of_bag, advance,
    )  # fmt: skip


def times_lost(rows: PredictedRows, horizons: Floats, causes: Integers) -> Floats:
    """Return the time (n, K, G) that is lost by each cause, from 0, up to each horizon."""
    curves, times = rows.fit.curves, rows.fit.event_times
    values = [time_lost_at(curves, k, times, tau) for k in causes.tolist() for tau in horizons]
    means = rows.means(values)
    return means.reshape(len(means), len(causes), len(horizons))


# Predicted curves of rows by their scores, and numbers of them.
@dataclass(frozen=True)
class PredictedScores:
    """Rows whose curves are predicted from scores (n,), NaN for rows without a prediction."""

    curves: CurvesOfScores
    scores: Floats

    @property
    def follow_a_law(self) -> bool:
        """Whether the curves follow a law where no training row was observed."""
        return isinstance(self.curves, FailureTimes)

    def risk(self) -> Floats:
        """Return numbers (n,) that are higher where events come earlier."""
        return self.curves.risks(self.scores)

    def survival(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the survival (n, G) at times (G,)."""
        self._require_memory(times)
        advance(len(self.scores))
        return self.curves.survivals(self.scores, times)

    def hazard(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the cumulative hazard (n, G) at times (G,)."""
        self._require_memory(times)
        advance(len(self.scores))
        return self.curves.hazards(self.scores, times)

    def restricted_mean(self, horizons: Sequence[float]) -> Floats:
        """Return the restricted mean survival time (n, G) up to each of the horizons (G,)."""
        return np.column_stack([self.curves.restricted_means(self.scores, tau) for tau in horizons])

    def quantiles(
        self, shares: Sequence[float], advance: Callable[[int], object] = lambda n: None
    ) -> Floats:
        """Return the time (n, G) by which each share (G,) has had the event; inf if it is never."""
        times = [self.curves.time_quantiles(self.scores, share) for share in shares]
        advance(len(self.scores))
        return np.where(np.isnan(self.scores)[:, None], np.nan, np.column_stack(times))

    def _require_memory(self, times: Floats) -> None:
        n, G = len(self.scores), len(times)
        require_memory(
            16.0 * n * G, f"curves of {n} rows at {G} times", "predict fewer rows, or fewer times="
        )


# The types of prediction of survival fits, as series and data frames.
RISK, QUANTILE, LEAF = "risk", "quantile", "leaf"
RMST, INCIDENCE, LOST = "rmst", "incidence", "lost"
OF_CAUSES = (INCIDENCE, LOST)
CURVE_PREDICTIONS = (RISK, "survival", "hazard", "time", RMST, QUANTILE, LEAF)
"""What is predicted of one curve of all causes."""
SURVIVAL_PREDICTIONS = (RISK, "survival", "hazard", INCIDENCE, "time", RMST, LOST, QUANTILE, LEAF)
"""What trees and forests predict, of causes too."""
AT_TIMES = ("survival", "hazard", INCIDENCE, RMST, LOST)
AREAS = (RMST, LOST)
QUARTILES = (0.25, 0.5, 0.75)


def predict_survival(
    rows: RowsToPredict,
    out_of_bag: Mask | None,
    type: str,
    times: Any,
    shares: Any,
    cause: Any,
    progress: bool,
) -> pd.Series | pd.DataFrame:
    """Return the predictions for the rows by the trees `out_of_bag` (B, n), None for all."""
    checked_choice("type", type, SURVIVAL_PREDICTIONS)
    require_use(type, times, shares, cause)
    fit = cast(SurvivalFit, rows.fit)
    causes = cause_numbers(cause, fit.design.response.causes)
    if type == LEAF:
        return leaf_frame(fit, rows)
    predicted = PredictedRows(fit, rows.X, out_of_bag)
    if type == RISK and cause is not None:
        return _series(times_lost(predicted, fit.event_times[-1:], causes)[:, 0, 0], rows, RISK)
    if type in OF_CAUSES:
        return _of_causes(predicted, rows, type, times, causes, progress)
    return curves_as_asked(predicted, fit.event_times, rows, type, times, shares, progress)


def curves_as_asked(
    predicted: PredictedRows | PredictedScores,
    event_times: Floats,
    rows: RowsToPredict,
    type: str,
    times: Any,
    shares: Any,
    progress: bool,
) -> pd.Series | pd.DataFrame:
    """Return the chosen type of prediction from the curves of rows, with event times (R,)."""
    if type == RISK:
        return _series(predicted.risk(), rows, RISK)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        if type == "time":
            return _series(predicted.quantiles([0.5], bar.update)[:, 0], rows, "time")
        if type == QUANTILE:
            levels = quantile_levels(QUARTILES if shares is None else shares)
            return _frame(predicted.quantiles(levels.tolist(), bar.update), rows, levels, "share")
        at = _times_of_type(type, times, event_times)
        if not isinstance(predicted, PredictedScores) or not predicted.follow_a_law:
            warn_of_later_times(at, rows.fit)
        if type == RMST:
            return _frame(predicted.restricted_mean(at.tolist()), rows, at, "horizon")
        curve = predicted.survival if type == "survival" else predicted.hazard
        values = _in_order(lambda ascending: curve(ascending, bar.update), at)
    return _frame(values, rows, at, "time")


def _of_causes(
    predicted: PredictedRows,
    rows: RowsToPredict,
    type: str,
    times: Any,
    causes: Integers,
    progress: bool,
) -> pd.DataFrame:
    """Return incidences of causes (K,), or times lost by them; of several, columns for each."""
    at = _times_of_type(type, times, predicted.fit.event_times)
    warn_of_later_times(at, rows.fit)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        values = (
            times_lost(predicted, at, causes)
            if type == LOST
            else _in_order(lambda times: incidences(predicted, times, causes, bar.update), at)
        )
    name = "horizon" if type in AREAS else "time"
    if len(causes) == 1:
        return _frame(values[:, 0], rows, at, name)
    names = [predicted.fit.design.response.causes[cause] for cause in causes]
    labels = pd.MultiIndex.from_product([names, at], names=["cause", name])
    return _frame(values.reshape(len(values), len(labels)), rows, labels, None)


def _times_of_type(type: str, times: Any, event_times: Floats) -> Floats:
    """Return the chosen times; by default all, or for an area the last one."""
    at = checked_times(times, event_times)
    return at[-1:] if times is None and type in AREAS else at


def _in_order(values_at: Callable[[Floats], Floats], at: Floats) -> Floats:
    """Return values (n, …, G) at times (G,) of any order, from a function of ascending times."""
    order = np.argsort(at, kind="stable")
    ascending = values_at(at[order])
    values = np.empty_like(ascending)
    values[..., order] = ascending
    return values


def checked_times(times: Any, event_times: Floats) -> Floats:
    """Return the times (G,) ≥ 0, by default all event times; else raise `InputError`."""
    if times is None:
        return event_times
    if is_number(times):
        times = [times]
    listed = is_list(times) or isinstance(times, pd.Series | pd.Index)
    if not listed or len(times) == 0 or not all(is_number(time) for time in list(times)):
        raise InputError(f"times={times!r}: use one or more numbers, in the unit of the response")
    at = np.asarray(list(times), dtype=np.float64)
    if not (np.isfinite(at) & (at >= 0)).all():
        raise InputError(f"times={times!r}: use finite numbers of at least 0")
    return at


def warn_of_later_times(at: Floats, fit: AnyFit) -> None:
    """Warn of times (G,) after the end of all observation, if the fit has its training rows."""
    if fit.rows is None:
        return
    latest, end = at.max(), fit.data.require_times().time.max()
    if latest > end:
        warn_user(
            f"times: {latest:.12g} is after {end:.12g}, the end of the observation of the training "
            "rows, and nothing is known of later times, where curves stay as they are: use earlier "
            "ones, in the unit of the response"
        )


def require_use(type: str, times: Any, shares: Any, cause: Any) -> None:
    """Raise `InputError` if an argument is given that this type does not use."""
    if times is not None and type not in AT_TIMES:
        raise InputError(f"times= is for the types {_listed(AT_TIMES)}, not {type!r}")
    if shares is not None and type != QUANTILE:
        raise InputError(f'quantiles= is for type="quantile", not {type!r}')
    if cause is not None and type not in (RISK, *OF_CAUSES):
        raise InputError(
            f"cause= is for the types {_listed((RISK, *OF_CAUSES))}, not {type!r}, which takes "
            "events of all causes together"
        )


def _listed(types: Sequence[str]) -> str:
    names = [f'"{name}"' for name in types]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _series(values: Floats, rows: RowsToPredict, name: str) -> pd.Series:
    return pd.Series(spread_numbers(values, rows.complete), index=rows.index, name=name)


def _frame(
    values: Floats, rows: RowsToPredict, columns: Floats | pd.MultiIndex, name: str | None
) -> pd.DataFrame:
    labels = columns if isinstance(columns, pd.MultiIndex) else pd.Index(columns, name=name)
    return pd.DataFrame(spread_numbers(values, rows.complete), index=rows.index, columns=labels)


# Most points of curves whose influences are computed at once, and most values of trees.
POINTS, VALUES_AT_ONCE = 2**11, 2**22


class CurveErrors(NamedTuple):
    """Curves (m, G), their errors, and how many these a curve is from its expectation."""

    estimate: Floats
    std_error: Floats
    alone: float
    reach: Floats
    trees_advised: int


def curve_errors(
    rows: PredictedRows,
    times: Floats,
    level: float,
    cause: int | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> CurveErrors:
    """Return curves with their errors over training samples, by the jackknife after bootstrap."""
    fit, grid = rows.fit, rows.ranks(times)
    m, G, B = rows.X.shape[1], len(times), fit.forest.n_trees
    kinds = kinds_of_trees(fit)
    drawn = jackknife.rows_of_trees(kinds, fit.draws, rows.out_of_bag is not None)
    estimate, raw, bias, of_trees = np.empty((4, m, G))
    reach, most_df = np.empty(m), jackknife.degrees_of_freedom(fit.draws)

    def run(block: slice) -> None:
        values = _of_trees(rows, grid, cause, block)
        used = None if rows.out_of_bag is None else rows.out_of_bag[:, block]
        number = np.full(block.stop - block.start, B) if used is None else used.sum(axis=0)
        with np.errstate(invalid="ignore"):
            estimate[block] = values.sum(axis=0) / number[:, None]
        for i, covariance in enumerate(curve_covariances(values, drawn, used), block.start):
            raw[i], bias[i], of_trees[i], _ = covariance.variances
            df = min(typical_df(covariance.variances.df), most_df)
            reach[i] = simultaneous_width(covariance.total, level, fit.control.seed, df)

    size = max(1, min(POINTS // G, VALUES_AT_ONCE // (B * G)))
    for _ in in_blocks(run, row_blocks(m, size), fit.control.n_jobs, advance):
        pass
    variance = jackknife.Variance(raw, bias, of_trees, drawn.out_of_bag.shape[1])
    std_error = np.sqrt(variance.total)
    by_one = jackknife.predicted_by_one(rows.out_of_bag, kinds, m)
    std_error[by_one], reach[by_one] = np.nan, np.nan
    raw, bias, of_trees = (part[~by_one].ravel() for part in (raw, bias, of_trees))
    known = jackknife.Variance(raw, bias, of_trees, variance.n)
    advised = 0 if by_one.all() else jackknife.enough_trees(known, B)
    return CurveErrors(estimate, std_error, reach_in_errors(level, most_df), reach, advised)


def _of_trees(rows: PredictedRows, grid: Integers, cause: int | None, block: slice) -> Floats:
    """Return the survival (B, m, G) of each tree, or the incidence of a cause."""
    fit, wanted = rows.fit, EVERY_ROW if rows.out_of_bag is None else rows.out_of_bag
    if cause is None:
        return survival_of_trees(fit.forest, fit.curves, rows.X, grid, block, wanted)
    return incidence_of_trees(fit.forest, fit.curves, rows.X, grid, cause, block, wanted)
