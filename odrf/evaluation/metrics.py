"""Measures of how well predictions meet what was observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from odrf.errors import InputError, allowed

__all__ = ["AUTO", "METRICS", "Metric", "metric_for"]

AUTO = {"regression": "mse", "classification": "error"}
"""The metric of each kind of response, unless another is asked for."""

Function = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True)
class Metric:
    """A measure of predictions.

    Attributes
    ----------
    name : str
    words : str
        What it is called in full.
    function : callable
        From what was observed, (n,), and the predictions, (n,), to a number: both are numbers, or
        labels of classes.  If it needs probabilities, from class codes 0 … K - 1, (n,), and the
        probabilities of the classes, (n, K).
    kind : str or None
        "regression" or "classification"; None for a function of the user's, which goes with both.
    greater_is_better, needs_probabilities, needs_two_classes : bool
    """

    name: str
    words: str
    function: Function
    kind: str | None
    greater_is_better: bool = False
    needs_probabilities: bool = False
    needs_two_classes: bool = False

    @property
    def sign(self) -> float:
        """What turns it into a loss, of which less is better: 1 or -1."""
        return -1.0 if self.greater_is_better else 1.0


def _mse(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean((y - predicted) ** 2))


def _rmse(y: NDArray, predicted: NDArray) -> float:
    return float(np.sqrt(_mse(y, predicted)))


def _mae(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean(np.abs(y - predicted)))


def _r2(y: NDArray, predicted: NDArray) -> float:
    variance = float(np.var(y))
    return 1.0 - _mse(y, predicted) / variance if variance > 0 else np.nan


def _error(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean(y != predicted))


def _accuracy(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean(y == predicted))


def _brier(codes: NDArray, shares: NDArray) -> float:
    """Return the mean squared distance of the probabilities from the class that came (Brier)."""
    came = np.arange(shares.shape[1]) == codes[:, np.newaxis]
    return float(np.mean(np.sum((shares - came) ** 2, axis=1)))


def _log_loss(codes: NDArray, shares: NDArray) -> float:
    own = shares[np.arange(len(codes)), codes]
    # what was held impossible and came would cost infinitely much, and one row decide all
    return float(-np.mean(np.log(np.clip(own, np.finfo(np.float64).eps, 1.0))))


def _auc(codes: NDArray, shares: NDArray) -> float:
    """Return how often a row of the second class gets more of it than one of the first."""
    second = codes == 1
    n, m = int(second.sum()), int((~second).sum())
    if n == 0 or m == 0:
        return np.nan
    # Mann and Whitney's statistic: tied rows count a half
    return float((rankdata(shares[:, 1])[second].sum() - n * (n + 1) / 2) / (n * m))


NUMBER, CLASS = "regression", "classification"
METRICS = {
    metric.name: metric
    for metric in (
        Metric("mse", "mean squared error", _mse, NUMBER),
        Metric("rmse", "root mean squared error", _rmse, NUMBER),
        Metric("mae", "mean absolute error", _mae, NUMBER),
        Metric("r2", "R²", _r2, NUMBER, greater_is_better=True),
        Metric("error", "error rate", _error, CLASS),
        Metric("accuracy", "share of right classes", _accuracy, CLASS, greater_is_better=True),
        Metric("brier", "Brier score", _brier, CLASS, needs_probabilities=True),
        Metric("log_loss", "log loss", _log_loss, CLASS, needs_probabilities=True),
        Metric("auc", "area under the ROC curve", _auc, CLASS, True, True, True),
    )
}
"""Those known by name."""


def metric_for(metric: str | Function, kind: str, n_classes: int) -> Metric:
    """Return the metric that is asked for.

    Parameters
    ----------
    metric : str or callable
        "auto", one of `METRICS`, or a function of the observed and the predicted, numbers or
        labels (n,), to a number, of which less is better.
    kind : {"regression", "classification"}
        What is predicted.
    n_classes : int
        How many classes there are at most; 1 for a regression.

    Raises
    ------
    InputError
        If there is no such metric, or it does not go with what is predicted.

    Examples
    --------
    >>> metric_for("auto", "regression", 1).words
    'mean squared error'
    >>> metric_for("log_loss", "classification", 3).function([0, 2], np.array([[1, 0, 0]] * 2))
    18.0...
    """
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        return Metric(name, name, metric, None)
    if metric == "auto":
        return METRICS[AUTO[kind]]
    if not isinstance(metric, str) or metric not in METRICS:
        raise allowed("metric", metric, ["auto", *METRICS])
    found = METRICS[metric]
    suited = [
        name
        for name, other in METRICS.items()
        if other.kind == kind and (n_classes == 2 or not other.needs_two_classes)
    ]
    if metric not in suited:
        what = "a regression" if kind == NUMBER else f"{n_classes} classes"
        listing = ", ".join(map(repr, suited))
        raise InputError(f"metric={found.name!r} does not go with {what}: use one of {listing}")
    return found
