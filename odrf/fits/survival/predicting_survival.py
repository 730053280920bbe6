"""The types of prediction of survival fits, as series and data frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_list, is_number
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.fits.prediction.labels import spread_codes, spread_numbers
from odrf.fits.prediction.predicting import RowsToPredict
from odrf.fits.survival.asked_causes import asked_causes
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.fits.survival.incidence_of_rows import incidences, times_lost
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.public.progress import progress_bar

__all__ = ["SURVIVAL_PREDICTIONS", "checked_times", "predict_survival"]

RISK, QUANTILE = "risk", "quantile"
RMST, INCIDENCE, LOST = "rmst", "incidence", "lost"
SURVIVAL_PREDICTIONS = (
    RISK, "survival", "hazard", INCIDENCE, "time", RMST, LOST, QUANTILE, "leaf",
)  # fmt: skip
AT_TIMES = ("survival", "hazard", INCIDENCE, RMST, LOST)
AREAS = (RMST, LOST)
OF_CAUSES = (INCIDENCE, LOST)
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
    _require_use(type, times, shares, cause)
    fit = cast(SurvivalFit, rows.fit)
    causes = asked_causes(cause, fit.design.response.causes)
    predicted = PredictedRows(fit, rows.X, unseen)
    if type == "leaf":
        leaves = leaf_nodes(fit.forest, rows.X, fit.control.n_jobs) - fit.forest.root[:-1]
        leaves = spread_codes(leaves, rows.complete)
        return pd.DataFrame(leaves, index=rows.index, columns=pd.RangeIndex(leaves.shape[1]))
    if type == RISK and cause is None:
        return _series(predicted.risk(), rows, RISK)
    if type == RISK:
        return _series(times_lost(predicted, fit.event_times[-1:], causes)[:, 0, 0], rows, RISK)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        if type == "time":
            return _series(predicted.quantiles([0.5], bar.update)[:, 0], rows, "time")
        if type == QUANTILE:
            asked = _checked_shares(shares)
            return _frame(predicted.quantiles(asked.tolist(), bar.update), rows, asked, "share")
        at = checked_times(times, fit.event_times)
        if times is None and type in AREAS:
            at = at[-1:]
        values = _at_times(predicted, type, at, causes, bar.update)
    name = "horizon" if type in AREAS else "time"
    if type not in OF_CAUSES or len(causes) == 1:
        return _frame(values.reshape(len(values), len(at)), rows, at, name)
    labels = pd.MultiIndex.from_product([fit.design.response.causes, at], names=["cause", name])
    return _frame(values.reshape(len(values), len(labels)), rows, labels, None)


def _at_times(
    predicted: PredictedRows,
    type: str,
    at: NDArray[np.float64],
    causes: NDArray[np.int64],
    advance: Callable[[int], object],
) -> NDArray[np.float64]:
    """Return what is predicted at times (G,), or up to them: (n, G), of causes (n, K, G)."""
    if type == RMST:
        return predicted.restricted_mean(at.tolist())
    if type == LOST:
        return times_lost(predicted, at, causes)
    order = np.argsort(at, kind="stable")
    if type == INCIDENCE:
        found = incidences(predicted, at[order], causes, advance)
    else:
        curve = predicted.survival if type == "survival" else predicted.hazard
        found = curve(at[order], advance)
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


def _require_use(type: str, times: Any, shares: Any, cause: Any) -> None:
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
