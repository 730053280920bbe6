"""Confidence and prediction intervals of a forest, and conditional quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, checked_part, is_number, is_word
from odrf.engine.oob import OutOfBag
from odrf.engine.trees.routing import predict
from odrf.errors import InputError, warn_user
from odrf.fits.effects import kinds_of_trees
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.predicting import PREDICTIONS, RowsToPredict, spread_numbers
from odrf.fits.responses import require_out_of_bag
from odrf.public.progress import progress_bar
from odrf.statistics import conformal, jackknife
from odrf.statistics.effects import limits_of_predicted_share, reach_in_errors

Floats = NDArray[np.float64]

# Advice starts here: so many end the warning of most tables of 500 rows.
FEWEST_ADVISED = 2000


def warn_of_few_trees(fit: AnyFit, advised: int) -> None:
    """Warn that standard errors need more trees, as many as `advised`, if this is not 0.

    The trees that are wanted differ a little from one estimate to the next; so the advice is one of
    few numbers.  Forests that were not grown for inference may want tens of thousands.
    """
    if not advised:
        return
    n_trees, way = fit.forest.n_trees, "use inference=True, which needs far fewer trees"
    if isinstance(fit, Fit) and fit.control.inference:
        enough = FEWEST_ADVISED
        while enough < max(advised, n_trees + 1):
            enough *= 2
        way = f"use n_trees={enough}, or the forest's grow({enough - n_trees})"
    warn_user(
        f"{n_trees} trees are few for standard errors: their Monte Carlo error is large, and too "
        f"few trees make them too large on average; {way}"
    )


# Confidence and prediction intervals of a forest, and conditional quantiles.
QUANTILE = "quantile"
QUANTILES = (0.05, 0.5, 0.95)
PROBABILITIES = 'type="prob" for their probabilities'
AVERAGED = (
    'type="prob" for their probabilities, without intervals, or predictions(newdata=one_row) of a '
    "forest, whose probabilities have them"
)
LEVEL = 0.95

CONFIDENCE, PREDICTION = "confidence", "prediction"
JACKKNIFE, CONFORMAL, AUTO = "jackknife", "conformal", "auto"
# The first method of each is the default.
METHODS = {CONFIDENCE: (JACKKNIFE,), PREDICTION: (CONFORMAL, QUANTILE)}


class Interval(NamedTuple):
    """An interval with nominal coverage `level`, by "jackknife", "conformal" or "quantile"."""

    level: float
    method: str


def type_with_quantiles(type: str, quantiles: Any, interval: Any) -> str:
    """Return the type of prediction by the arguments of `predict`."""
    if quantiles is None or type not in (*PREDICTIONS, QUANTILE):
        return type
    if interval is not None:
        raise InputError(
            "quantiles= and interval= ask for two things: leave one of them out; for the coverage "
            "of an interval use level="
        )
    if type not in ("response", QUANTILE):
        raise InputError(f"quantiles= and type={type!r} ask for two things: leave one of them out")
    return QUANTILE


def requested_interval(
    fit: Fit, type: str, interval: Any, level: Any, method: Any
) -> Interval | None:
    """Return the interval by the arguments of `predict`, or None; `InputError` for invalid ones."""
    checked_choice("type", type, (*PREDICTIONS, QUANTILE))
    if interval is None:
        for name, value, left_out in (
            ("level", level, is_number(level) and level == LEVEL),
            ("method", method, is_word(method, AUTO)),
        ):
            if not left_out:
                raise InputError(
                    f'{name}={value!r} needs interval=: use interval="confidence" or '
                    f'"prediction" with it, or leave {name}= out'
                )
        return None
    checked_choice("interval", interval, METHODS)
    require_number(fit, f"interval={interval!r}", AVERAGED)
    if type != "response":
        raise InputError(f'interval={interval!r} is for type="response": leave type={type!r} out')
    others = [name for name in METHODS if isinstance(method, str) and method in METHODS[name]]
    if others and interval not in others:
        raise InputError(
            f"method={method!r} is for interval={others[0]!r}: for interval={interval!r} use "
            + " or ".join(repr(name) for name in METHODS[interval])
        )
    checked_choice("method", method, (AUTO, *METHODS[interval]))
    return Interval(
        checked_part("level", level), METHODS[interval][0] if method == AUTO else method
    )


def require_number(fit: Fit, what: str, instead: str = PROBABILITIES) -> None:
    """Raise `InputError` if the response has classes: `what` is for numbers."""
    response = fit.design.response
    if response.classes is not None:
        raise InputError(
            f"{what} needs a regression, but {response.name!r} was fitted as classes: use {instead}"
        )


def interval_frame(
    fit: Fit,
    rows: RowsToPredict,
    interval: Interval,
    out_of_bag: Callable[[], OutOfBag],
    progress: bool = False,
) -> pd.DataFrame:
    """Return a table of predictions with their intervals, by the jackknife with ``std_error``."""
    if interval.method == CONFORMAL:
        require_out_of_bag(fit, "Prediction intervals", f', or use method="{QUANTILE}"')
    elif interval.method == JACKKNIFE:
        require_out_of_bag(fit, "Confidence intervals")
    means = predict(fit.forest, rows.X, fit.control.n_jobs) if rows.oob is None else rows.oob
    mean, std_error = means[:, 0], None
    if interval.method == JACKKNIFE:
        std_error = _standard_errors(fit, rows, progress)
        half_width = (
            reach_in_errors(interval.level, jackknife.degrees_of_freedom(fit.draws)) * std_error
        )
        low, high = mean - half_width, mean + half_width
        if fit.design.response.in_probabilities:
            low, high = limits_of_predicted_share(mean, half_width)
    elif interval.method == CONFORMAL:
        low, high = _conformal(fit, rows, interval.level, out_of_bag().value[:, 0], progress)
        # at levels near 0 the quantiles of the jackknife+ can cross: it leaves no value inside
        crossed = low > high
        low[crossed] = high[crossed] = 0.5 * low[crossed] + 0.5 * high[crossed]
    else:
        tail = (1 - interval.level) / 2
        low, high = _quantiles(fit, rows, np.array([tail, 1 - tail]), progress).T
    columns = {"estimate": mean, "conf_low": low, "conf_high": high}
    if std_error is not None:
        columns["std_error"] = std_error
    return pd.DataFrame(
        {name: spread_numbers(values, rows.complete) for name, values in columns.items()},
        index=rows.index,
    )


def quantile_frame(
    fit: Fit, rows: RowsToPredict, quantiles: Any, progress: bool = False
) -> pd.DataFrame:
    """Return a column for each of the conditional `quantiles` of the response."""
    require_number(fit, f"type={QUANTILE!r}")
    levels = quantile_levels(quantiles)
    value = spread_numbers(_quantiles(fit, rows, levels, progress), rows.complete)
    return pd.DataFrame(value, index=rows.index, columns=pd.Index(levels, name=QUANTILE))


def quantile_levels(quantiles: Any) -> Floats:
    """Return the `quantiles` (q,); `InputError` if they are not numbers above 0 and below 1."""
    listed = [quantiles] if np.ndim(quantiles) == 0 else list(quantiles)
    if not listed:
        raise InputError(f"quantiles={quantiles!r} is empty: use numbers such as {QUANTILES}")
    return np.array([checked_part("quantiles", level) for level in listed])


def _quantiles(fit: Fit, rows: RowsToPredict, levels: Floats, progress: bool) -> Floats:
    data, predicting = fit.data, _predicting(fit, rows)
    with _bar(rows, progress) as bar:
        return conformal.conditional_quantiles(
            fit.forest, rows.X, levels, data.X, data.y, fit.draws, predicting, bar.update
        )


def _bar(rows: RowsToPredict, progress: bool) -> Any:
    return progress_bar(total=rows.X.shape[1], unit="row", progress=progress)


def _predicting(fit: Fit, rows: RowsToPredict) -> NDArray[np.bool_] | None:
    """Return which trees (B, n) predict each row: out of bag those that did not sample it."""
    return None if rows.oob is None else fit.draws.all_unseen()


def _conformal(
    fit: Fit, rows: RowsToPredict, level: float, value: Floats, progress: bool
) -> tuple[Floats, Floats]:
    """Return the ends from the residuals of the out-of-bag predictions `value` (n,)."""
    data, n_jobs = fit.data, fit.control.n_jobs
    out_of_bag = fit.draws.all_unseen()
    at = conformal.calibrating(out_of_bag, data.weights)
    groups = None if data.structure is None else data.structure.groups
    known, counted = len(at), "training rows"
    if groups is not None:
        known, counted = len(np.unique(groups[at])), "groups"
    needed = conformal.fewest_rows(level)
    if known < needed:
        raise InputError(
            f"level={level!r} needs {needed} {counted} that are out of bag for "
            f"some tree, and there are {known}: use a lower level, more trees, or "
            'method="quantile"'
        )
    with _bar(rows, progress) as bar:
        if rows.oob is not None:
            return conformal.leave_one_out(
                fit.forest, data.X, data.y, data.weights, out_of_bag, at, level, n_jobs, bar.update,
                groups,
            )  # fmt: skip
        residuals, weights = np.abs(data.y - value)[at], data.weights[at]
        return conformal.jackknife_plus(
            fit.forest, rows.X, out_of_bag[:, at], residuals, weights, level, n_jobs, bar.update,
            None if groups is None else groups[at],
        )  # fmt: skip


def _standard_errors(fit: Fit, rows: RowsToPredict, progress: bool) -> Floats:
    """Return the standard error of each prediction, NaN without two trees; warn if they are few."""
    n, B = int((fit.data.weights > 0).sum()), fit.forest.n_trees
    if B < 2:
        raise InputError(
            'interval="confidence" compares trees, and this forest has one: fit with n_trees=500'
        )
    structure = fit.data.structure
    if structure is not None and structure.order is not None:
        raise InputError(
            'interval="confidence" supposes that trees sample all rows alike, and with order= they '
            'sample early rows more often: use interval="prediction", or fit without order='
        )
    if not jackknife.distinguishes_rows(fit.draws, rows.oob is not None):
        raise InputError(
            'interval="confidence" compares trees that sampled a row with trees that did not, but '
            f"every subsample has all but one of {n} rows: fit with a lower sample_fraction"
        )
    kinds, predicting = kinds_of_trees(fit), _predicting(fit, rows)
    with _bar(rows, progress) as bar:
        variance = jackknife.jackknife_after_bootstrap(
            fit.forest, rows.X, kinds, fit.draws, predicting, bar.update
        )
    warn_of_few_trees(fit, jackknife.enough_trees(variance, B) if len(variance.raw) else 0)
    std_error = np.sqrt(variance.total)
    std_error[jackknife.predicted_by_one(predicting, kinds, len(std_error))] = np.nan
    return std_error
