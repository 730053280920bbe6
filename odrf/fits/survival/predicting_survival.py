"""The types of prediction of survival fits, as series and data frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_list, is_number
from odrf.errors import InputError, warn_user
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.labels import spread_numbers
from odrf.fits.prediction.predicting import RowsToPredict, leaf_frame
from odrf.fits.survival.cause_numbers import cause_numbers
from odrf.fits.survival.curves_of_boosted import PredictedScores
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.fits.survival.incidence_of_rows import incidences, times_lost
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.public.progress import progress_bar

__all__ = [
    "CURVE_PREDICTIONS",
    "INCIDENCE",
    "QUARTILES",
    "SURVIVAL_PREDICTIONS",
    "checked_times",
    "curves_as_asked",
    "predict_survival",
    "require_use",
    "warn_of_later_times",
]

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
    unseen: NDArray[np.bool_] | None,
    type: str,
    times: Any,
    shares: Any,
    cause: Any,
    progress: bool,
) -> pd.Series | pd.DataFrame:
    """Return the predictions for the rows.

    Parameters
    ----------
    rows : RowsToPredict
    unseen : (B, n) bool or None
        The trees that predict each row; None: all.
    type, times, shares, cause, progress
        As in `odrf.results.survival.survival_results.SurvivalResults.predict`, as are the errors.
    """
    checked_choice("type", type, SURVIVAL_PREDICTIONS)
    require_use(type, times, shares, cause)
    fit = cast(SurvivalFit, rows.fit)
    causes = cause_numbers(cause, fit.design.response.causes)
    if type == LEAF:
        return leaf_frame(fit, rows)
    predicted = PredictedRows(fit, rows.X, unseen)
    if type == RISK and cause is not None:
        return _series(times_lost(predicted, fit.event_times[-1:], causes)[:, 0, 0], rows, RISK)
    if type in OF_CAUSES:
        return _of_causes(predicted, rows, type, times, causes, progress)
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
    if type == RISK:
        return _series(predicted.risk(), rows, RISK)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        if type == "time":
            return _series(predicted.quantiles([0.5], bar.update)[:, 0], rows, "time")
        if type == QUANTILE:
            asked = _checked_shares(shares)
            return _frame(predicted.quantiles(asked.tolist(), bar.update), rows, asked, "share")
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
    causes: NDArray[np.int64],
    progress: bool,
) -> pd.DataFrame:
    """Return incidences of causes (K,), or times lost by them; of several, columns for each."""
    at = _times_of_type(type, times, predicted.fit.event_times)
    warn_of_later_times(at, rows.fit)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        if type == LOST:
            values = times_lost(predicted, at, causes)
        else:
            values = _in_order(
                lambda ascending: incidences(predicted, ascending, causes, bar.update), at
            )
    name = "horizon" if type in AREAS else "time"
    if len(causes) == 1:
        return _frame(values[:, 0], rows, at, name)
    names = [predicted.fit.design.response.causes[cause] for cause in causes]
    labels = pd.MultiIndex.from_product([names, at], names=["cause", name])
    return _frame(values.reshape(len(values), len(labels)), rows, labels, None)


def _times_of_type(type: str, times: Any, event_times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the times that are asked for; by default all, or for an area the last one."""
    at = checked_times(times, event_times)
    return at[-1:] if times is None and type in AREAS else at


def _in_order(
    values_at: Callable[[NDArray[np.float64]], NDArray[np.float64]], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return values (n, …, G) at times (G,) of any order, from a function of ascending times."""
    order = np.argsort(at, kind="stable")
    found = values_at(at[order])
    values = np.empty_like(found)
    values[..., order] = found
    return values


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
    listed = is_list(times) or isinstance(times, pd.Series | pd.Index)
    if not listed or len(times) == 0 or not all(is_number(time) for time in list(times)):
        raise InputError(f"times={times!r}: use one or more numbers, in the unit of the response")
    at = np.asarray(list(times), dtype=np.float64)
    if not (np.isfinite(at) & (at >= 0)).all():
        raise InputError(f"times={times!r}: use finite numbers of at least 0")
    return at


def warn_of_later_times(at: NDArray[np.float64], fit: AnyFit) -> None:
    """Warn of times (G,) after the end of all observation, if the fit has its training rows."""
    if not fit.data.has_rows:
        return
    latest, end = at.max(), fit.data.require_times().time.max()
    if latest > end:
        warn_user(
            f"times: {latest:.12g} is after {end:.12g}, the end of the observation of the training "
            "rows, and nothing is known of later times, where curves stay as they are: use earlier "
            "ones, in the unit of the response"
        )


def _checked_shares(shares: Any) -> NDArray[np.float64]:
    if shares is None:
        return np.array(QUARTILES)
    asked = [shares] if is_number(shares) else shares
    listed = is_list(asked) or isinstance(asked, pd.Series | pd.Index)
    if not (listed and len(asked)) or not all(
        is_number(share) and 0 < share < 1 for share in asked
    ):
        raise InputError(f"quantiles={shares!r}: use numbers above 0 and below 1")
    return np.asarray(asked, dtype=np.float64)


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


def _series(values: NDArray[np.float64], rows: RowsToPredict, name: str) -> pd.Series:
    return pd.Series(spread_numbers(values, rows.complete), index=rows.index, name=name)


def _frame(
    values: NDArray[np.float64],
    rows: RowsToPredict,
    columns: NDArray[np.float64] | pd.MultiIndex,
    name: str | None,
) -> pd.DataFrame:
    labels = columns if isinstance(columns, pd.MultiIndex) else pd.Index(columns, name=name)
    return pd.DataFrame(spread_numbers(values, rows.complete), index=rows.index, columns=labels)
