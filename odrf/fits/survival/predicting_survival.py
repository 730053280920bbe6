"""The types of prediction of survival fits, as series and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_list, is_number
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.fits.prediction.labels import spread_codes, spread_numbers
from odrf.fits.prediction.predicting import RowsToPredict
from odrf.fits.survival.curves_of_boosted import PredictedScores
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.public.progress import progress_bar

__all__ = [
    "SURVIVAL_PREDICTIONS",
    "checked_times",
    "curves_as_asked",
    "predict_survival",
    "require_use",
]

SURVIVAL_PREDICTIONS = ("risk", "survival", "hazard", "time", "rmst", "quantile", "leaf")
CURVES, RMST, QUANTILE = ("survival", "hazard"), "rmst", "quantile"
QUARTILES = (0.25, 0.5, 0.75)


def predict_survival(
    rows: RowsToPredict,
    unseen: NDArray[np.bool_] | None,
    type: str,
    times: Any,
    shares: Any,
    progress: bool,
) -> pd.Series | pd.DataFrame:
    """Return the predictions for the rows.

    Parameters
    ----------
    rows : RowsToPredict
    unseen : (B, n) bool or None
        The trees that predict each row; None: all.
    type, times, shares, progress
        As in `odrf.results.survival.survival_results.SurvivalResults.predict`, as are the errors.
    """
    checked_choice("type", type, SURVIVAL_PREDICTIONS)
    require_use(type, times, shares)
    fit = cast(SurvivalFit, rows.fit)
    if type == "leaf":
        leaves = leaf_nodes(fit.forest, rows.X, fit.control.n_jobs) - fit.forest.root[:-1]
        leaves = spread_codes(leaves, rows.complete)
        return pd.DataFrame(leaves, index=rows.index, columns=pd.RangeIndex(leaves.shape[1]))
    predicted = PredictedRows(fit, rows.X, unseen)
    return curves_as_asked(predicted, fit.event_times, rows, type, times, shares, progress)


def curves_as_asked(
    predicted: PredictedRows | PredictedScores,
    event_times: NDArray[np.float64],
    rows: RowsToPredict,
    type: str,
    times: Any,
    shares: Any,
    progress: bool,
) -> pd.Series | pd.DataFrame:
    """Return what is asked of the predicted curves of the rows, with event times (R,)."""
    if type == "risk":
        return _series(predicted.risk(), rows, "risk")
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        if type == "time":
            return _series(predicted.quantiles([0.5], bar.update)[:, 0], rows, "time")
        if type == QUANTILE:
            asked = _checked_shares(shares)
            return _frame(predicted.quantiles(asked.tolist(), bar.update), rows, asked, "share")
        at = checked_times(times, event_times)
        if type == RMST:
            at = at if times is not None else at[-1:]
            return _frame(predicted.restricted_mean(at.tolist()), rows, at, "horizon")
        curve = predicted.survival if type == "survival" else predicted.hazard
        order = np.argsort(at, kind="stable")
        values = np.empty((rows.X.shape[1], len(at)))
        values[:, order] = curve(at[order], bar.update)
        return _frame(values, rows, at, "time")


def checked_times(times: Any, event_times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the times (G,) that are asked for; by default all event times.

    Raises
    ------
    InputError
        They are no numbers, negative, or there are none.
    """
    if times is None:
        return event_times
    if is_number(times):
        times = [times]
    listed = is_list(times) or isinstance(times, np.ndarray | pd.Series | pd.Index | range)
    if not listed or len(times) == 0 or not all(is_number(time) for time in list(times)):
        raise InputError(f"times={times!r}: use one or more numbers, in the unit of the response")
    at = np.asarray(list(times), dtype=np.float64)
    if not (np.isfinite(at) & (at >= 0)).all():
        raise InputError(f"times={times!r}: use finite numbers of at least 0")
    return at


def _checked_shares(shares: Any) -> NDArray[np.float64]:
    if shares is None:
        return np.array(QUARTILES)
    asked = [shares] if is_number(shares) else shares
    if not (is_list(asked) and len(asked)) or not all(
        is_number(share) and 0 < share < 1 for share in asked
    ):
        raise InputError(f"quantiles={shares!r}: use numbers above 0 and below 1")
    return np.asarray(asked, dtype=np.float64)


def require_use(type: str, times: Any, shares: Any) -> None:
    """Raise `InputError` if an argument is given that this type does not use."""
    if times is not None and type not in (*CURVES, RMST):
        raise InputError(f'times= is for the types "survival", "hazard" and "rmst", not {type!r}')
    if shares is not None and type != QUANTILE:
        raise InputError(f'quantiles= is for type="quantile", not {type!r}')


def _series(values: NDArray[np.float64], rows: RowsToPredict, name: str) -> pd.Series:
    return pd.Series(spread_numbers(values, rows.complete), index=rows.index, name=name)


def _frame(
    values: NDArray[np.float64],
    rows: RowsToPredict,
    columns: Sequence[float] | NDArray[np.float64],
    name: str,
) -> pd.DataFrame:
    labels = pd.Index(columns, name=name)
    return pd.DataFrame(spread_numbers(values, rows.complete), index=rows.index, columns=labels)
