"""Survival models of Python at their defaults, one function for each.

A function takes training rows (``time``, ``event`` as True or False, predictors; factors are
categorical), a seed and returns a function of new rows and times (R,), which returns risks (m,),
larger for earlier events, and survival probabilities (m, R).  Each runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

__all__ = ["LIBRARY_OF", "SYSTEMS", "structured"]

Predicting = Callable[[pd.DataFrame, NDArray], tuple[NDArray, NDArray]]
FORMULA = "Surv(time, event) ~ ."
RESPONSE = ["time", "event"]


def of_odrf(train: pd.DataFrame, seed: int, function: str) -> Predicting:
    """Fit a tree, a forest or boosted trees of odrf."""
    threads = {} if function == "odt" else {"n_jobs": 1}
    fit = getattr(import_module("odrf"), function)(FORMULA, train, seed=seed, **threads)

    def predicting(new: pd.DataFrame, times: NDArray) -> tuple[NDArray, NDArray]:
        risk = fit.predict(new, type="risk")
        return np.asarray(risk), np.asarray(fit.predict(new, type="survival", times=times))

    return predicting


def of_sksurv(train: pd.DataFrame, seed: int, module: str, name: str) -> Predicting:
    """Fit an ensemble of scikit-survival; indicators stand for factors."""
    model = getattr(import_module(f"sksurv.{module}"), name)(random_state=seed)
    model.fit(indicators(train).to_numpy(), structured(train))

    def predicting(new: pd.DataFrame, times: NDArray) -> tuple[NDArray, NDArray]:
        X = indicators(new).to_numpy()
        curves = model.predict_survival_function(X, return_array=True)
        return model.predict(X), stepped(curves, model.unique_times_, times)

    return predicting


def kaplan_meier(train: pd.DataFrame, seed: int) -> Predicting:
    """Estimate one curve for all rows, from which other systems have to be better."""
    time, event = train["time"].to_numpy(), train["event"].to_numpy()
    jumps, ended = np.unique(time[event], return_counts=True)
    at_risk = len(time) - np.searchsorted(np.sort(time), jumps)
    curve = np.cumprod(1 - ended / at_risk)

    def predicting(new: pd.DataFrame, times: NDArray) -> tuple[NDArray, NDArray]:
        curves = np.tile(curve, (len(new), 1))
        return np.zeros(len(new)), stepped(curves, jumps, times)

    return predicting


def xgb_cox(train: pd.DataFrame, seed: int) -> Predicting:
    """Boost Cox's partial likelihood; curves have Breslow's estimate of the baseline hazard."""
    time, event = train["time"].to_numpy(), train["event"].to_numpy()
    model = _boosted(train, seed, {"objective": "survival:cox"}, label=np.where(event, time, -time))
    own = model(train)

    def predicting(new: pd.DataFrame, times: NDArray) -> tuple[NDArray, NDArray]:
        risk = model(new)
        return risk, breslow(time, event, own, risk, times)

    return predicting


def xgb_aft(train: pd.DataFrame, seed: int) -> Predicting:
    """Boost the centre of log T, which is normal with a standard deviation of 1, the default."""
    time, event = train["time"].to_numpy(), train["event"].to_numpy()
    ends = {"label_lower_bound": time, "label_upper_bound": np.where(event, time, np.inf)}
    model = _boosted(train, seed, {"objective": "survival:aft"}, **ends)

    def predicting(new: pd.DataFrame, times: NDArray) -> tuple[NDArray, NDArray]:
        centre = model(new)
        return -centre, ndtr(centre[:, np.newaxis] - np.log(times))

    return predicting


def _boosted(
    train: pd.DataFrame, seed: int, parameters: dict[str, Any], **labels: NDArray
) -> Callable[[pd.DataFrame], NDArray]:
    """Return the sums of 100 boosted trees, the default of XGBoost's estimators."""
    xgboost = import_module("xgboost")
    rows = xgboost.DMatrix(indicators(train).to_numpy(), **labels)
    booster = xgboost.train({**parameters, "seed": seed, "nthread": 1}, rows, 100)
    return lambda new: booster.predict(
        xgboost.DMatrix(indicators(new).to_numpy()), output_margin=True
    )


def indicators(data: pd.DataFrame) -> pd.DataFrame:
    """Return predictors as numbers: an indicator for each level of a factor but the first."""
    X = data.drop(columns=RESPONSE, errors="ignore")
    return pd.get_dummies(X, drop_first=True, dtype=float)


def structured(data: pd.DataFrame) -> NDArray:
    """Return the response as scikit-survival wants it."""
    kinds = [("event", bool), ("time", float)]
    return np.array(list(zip(data["event"], data["time"], strict=True)), dtype=kinds)


def stepped(curves: NDArray, jumps: NDArray, times: NDArray) -> NDArray:
    """Return values at the times (R,) of curves (m, J) that jump at `jumps` (J,) from 1."""
    from_one = np.column_stack([np.ones(len(curves)), curves])
    return from_one[:, np.searchsorted(jumps, times, side="right")]


def breslow(time: NDArray, event: NDArray, own: NDArray, risk: NDArray, times: NDArray) -> NDArray:
    """Return survival (m, R) of log hazards `risk` (m,), given those of the training rows."""
    shift = own.max()
    order = np.argsort(time)
    at_risk = np.cumsum(np.exp(own - shift)[order][::-1])[::-1]
    jumps, ended = np.unique(time[event], return_counts=True)
    steps = ended / at_risk[np.searchsorted(time[order], jumps)]
    hazard = np.append(0.0, np.cumsum(steps))[np.searchsorted(jumps, times, side="right")]
    return np.exp(-np.exp(risk - shift)[:, np.newaxis] * hazard)


SYSTEMS: dict[str, Callable[[pd.DataFrame, int], Predicting]] = {
    "odrf": partial(of_odrf, function="odrf"),
    "odt": partial(of_odrf, function="odt"),
    "odbt": partial(of_odrf, function="odbt"),
    "kaplan_meier": kaplan_meier,
    "sksurv_rsf": partial(of_sksurv, module="ensemble", name="RandomSurvivalForest"),
    "sksurv_et": partial(of_sksurv, module="ensemble", name="ExtraSurvivalTrees"),
    "sksurv_gb": partial(of_sksurv, module="ensemble", name="GradientBoostingSurvivalAnalysis"),
    "xgb_cox": xgb_cox,
    "xgb_aft": xgb_aft,
}
LIBRARY_OF = {
    **dict.fromkeys(["odrf", "odt", "odbt"], "odrf"),
    "kaplan_meier": "numpy",
    **dict.fromkeys(["sksurv_rsf", "sksurv_et", "sksurv_gb"], "sksurv"),
    **dict.fromkeys(["xgb_cox", "xgb_aft"], "xgboost"),
}
