"""Intervals around a forest's predictions, and quantiles in their place."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.checks import checked_part
from odrf.engine.trees.out_of_bag_losses import OutOfBag
from odrf.engine.trees.routing import predict
from odrf.errors import InputError, allowed
from odrf.fits.fit import Fit
from odrf.fits.prediction.labels import spread_numbers
from odrf.fits.prediction.predicting import PREDICTIONS, RowsToPredict
from odrf.statistics.conformal import calibrating, fewest_rows, jackknife_plus
from odrf.statistics.jackknife import enough_trees, infinitesimal_jackknife, tells_rows_apart
from odrf.statistics.quantiles import conditional_quantiles

__all__ = [
    "LEVEL",
    "QUANTILES",
    "Interval",
    "asked_interval",
    "interval_frame",
    "quantile_frame",
]

QUANTILE = "quantile"
QUANTILES = (0.05, 0.5, 0.95)
LEVEL = 0.95

CONFIDENCE, PREDICTION = "confidence", "prediction"
JACKKNIFE, CONFORMAL, AUTO = "jackknife", "conformal", "auto"
# The first one is the default.
METHODS = {CONFIDENCE: (JACKKNIFE,), PREDICTION: (CONFORMAL, QUANTILE)}


class Interval(NamedTuple):
    """Which interval is asked for.

    Attributes
    ----------
    level : float
    method : str
        ``"jackknife"``, ``"conformal"`` or ``"quantile"``.
    """

    level: float
    method: str


def asked_interval(fit: Fit, type: str, interval: Any, level: Any, method: Any) -> Interval | None:
    """Return the interval that the arguments of a prediction ask for; None where they do not.

    Raises
    ------
    InputError
        Naming the argument at fault.
    """
    if type not in (*PREDICTIONS, QUANTILE):
        raise allowed("type", type, (*PREDICTIONS, QUANTILE))
    if interval is None:
        for name, value, default in (("level", level, LEVEL), ("method", method, AUTO)):
            if value != default:
                raise InputError(
                    f"{name}={value!r} goes with intervals: "
                    'use interval="confidence" or "prediction" with it, or leave it out'
                )
        return None
    if interval not in METHODS:
        raise allowed("interval", interval, METHODS)
    _require_number(fit, f"interval={interval!r}")
    if type != "response":
        raise InputError(f"interval={interval!r} goes around the response: leave type={type!r} out")
    if method not in (AUTO, *METHODS[interval]):
        other = next((name for name, methods in METHODS.items() if method in methods), None)
        if other is not None:
            raise InputError(
                f"method={method!r} goes with interval={other!r}: for interval={interval!r} use "
                + " or ".join(repr(name) for name in METHODS[interval])
            )
        raise allowed("method", method, (AUTO, *METHODS[interval]))
    return Interval(
        checked_part("level", level), METHODS[interval][0] if method == AUTO else method
    )


def _require_number(fit: Fit, what: str) -> None:
    response = fit.design.response
    if response.classes is not None:
        raise InputError(
            f"{what} needs a regression, but {response.name!r} was fitted as classes: their "
            'probabilities, type="prob", say how sure a prediction is'
        )


def _require_unseen(fit: Fit, method: str) -> None:
    if fit.control.resample == "none" and method != QUANTILE:
        other = ', or use method="quantile"' if method == CONFORMAL else ""
        raise InputError(
            f"method={method!r} needs trees that have not seen all rows, and "
            f'resample="none" leaves none: fit with resample="bootstrap" or "subsample"{other}'
        )


def interval_frame(
    fit: Fit, rows: RowsToPredict, interval: Interval, unseen: Callable[[], OutOfBag]
) -> pd.DataFrame:
    """Return prediction, ends of the interval, and a standard error where there is one.

    `unseen` gives the out-of-bag results, for the method that starts from them.
    """
    _require_unseen(fit, interval.method)
    mean = predict(fit.forest, rows.X, fit.control.n_jobs)[:, 0]
    if interval.method == JACKKNIFE:
        se = _standard_errors(fit, rows)
        reach = float(scipy.special.ndtri((1 + interval.level) / 2)) * se
        columns = {"lower": mean - reach, "upper": mean + reach, "se": se}
    elif interval.method == CONFORMAL:
        lower, upper = _conformal(fit, rows, interval.level, unseen().value[:, 0])
        columns = {"lower": lower, "upper": upper}
    else:
        tail = (1 - interval.level) / 2
        ends = _quantiles(fit, rows, np.array([tail, 1 - tail]))
        columns = {"lower": ends[:, 0], "upper": ends[:, 1]}
    columns = {"prediction": mean} | columns
    return pd.DataFrame(
        {name: spread_numbers(values, rows.complete) for name, values in columns.items()},
        index=rows.index,
    )


def quantile_frame(fit: Fit, rows: RowsToPredict, quantiles: Any) -> pd.DataFrame:
    """Return a column for each of the `quantiles` of the response.

    Raises
    ------
    InputError
        If they are not levels, or the response is not a number.
    """
    _require_number(fit, f"type={QUANTILE!r}")
    given = [quantiles] if np.ndim(quantiles) == 0 else list(quantiles)
    if not given:
        raise InputError(f"quantiles={quantiles!r} is empty: use levels such as {QUANTILES}")
    levels = np.array([checked_part("quantiles", level) for level in given])
    value = spread_numbers(_quantiles(fit, rows, levels), rows.complete)
    return pd.DataFrame(value, index=rows.index, columns=pd.Index(levels, name=QUANTILE))


def _quantiles(fit: Fit, rows: RowsToPredict, levels: NDArray[np.float64]) -> NDArray[np.float64]:
    data = fit.data
    return conditional_quantiles(
        fit.forest,
        rows.X,
        levels,
        data.X,
        data.y,
        fit.draws,
    )


def _conformal(
    fit: Fit, rows: RowsToPredict, level: float, value: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ends from the residuals of the out-of-bag predictions `value` (n,)."""
    data, n_jobs = fit.data, fit.control.n_jobs
    unseen = fit.draws.all_unseen()
    some = calibrating(unseen, data.weights)
    if len(some) < fewest_rows(level):
        raise InputError(
            f"level={level!r} needs {fewest_rows(level)} training rows that some tree has not "
            f"drawn, and there are {len(some)}: use a lower level, more trees, or "
            'method="quantile"'
        )
    return jackknife_plus(
        fit.forest,
        rows.X,
        unseen[:, some],
        np.abs(data.y - value)[some],
        data.weights[some],
        level,
        n_jobs,
    )


def _standard_errors(fit: Fit, rows: RowsToPredict) -> NDArray[np.float64]:
    """Return the standard error of each mean; NaN where too few trees leave it unknown."""
    n, B = int((fit.data.weights > 0).sum()), fit.forest.n_trees
    if not tells_rows_apart(fit.draws):
        raise InputError(
            'interval="confidence" compares trees that drew a row with trees that did not, and '
            f"here subsamples are of all {n} rows: fit with a lower sample_fraction"
        )
    kinds = np.zeros(B, dtype=np.int64) if fit.blend is None else fit.blend.of_tree
    variance = infinitesimal_jackknife(fit.forest, rows.X, kinds, fit.draws)
    corrected = variance.corrected
    unknown = int((corrected <= 0).sum())
    if unknown:
        warnings.warn(
            f"{B} trees are too few for standard errors: those of {unknown} of "
            f"{len(corrected)} rows are missing, and the others rough; fit with "
            f"n_trees={enough_trees(variance, B, n)}",
            UserWarning,
            stacklevel=4,
        )
    return np.sqrt(np.where(corrected > 0, corrected, np.nan))
