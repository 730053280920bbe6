"""Metrics: how well predictions agree with the observed responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from odrf.checks import is_word
from odrf.errors import InputError, allowed
from odrf.evaluation.survival.times_to_score import (
    TimesToScore,
    harrell_of_risks,
    integrated_brier_of_curves,
    uno_of_risks,
)
from odrf.fits.scores import explained_part

__all__ = ["AUTO", "METRICS", "Metric", "metric_for"]

AUTO = {"regression": "mse", "classification": "error", "survival": "integrated_brier"}
"""The default metric for each kind of response."""

Function = Callable[[Any, NDArray[Any]], float]


@dataclass(frozen=True)
class Metric:
    """A metric of predictions.

    Attributes
    ----------
    name : str
        As users type it.
    words : str
        Its full name.
    function : callable
        Takes the observed responses (n,) and the predictions (n,), both numbers or both labels,
        and returns a number.  If `needs_probabilities`, it takes class codes 0 … K - 1, (n,), and
        probabilities (n, K).  Of times to an event it takes a `TimesToScore` and risks (n,) or, if
        `needs_curves`, survival (n, G).
    kind : str or None
        "regression", "classification" or "survival"; None for a user's function, which may be used
        for all; of times to an event it takes a data frame with the columns "time" and "event".
    greater_is_better, needs_probabilities, needs_two_classes, needs_curves : bool
    """

    name: str
    words: str
    function: Function
    kind: str | None
    greater_is_better: bool = False
    needs_probabilities: bool = False
    needs_two_classes: bool = False
    needs_curves: bool = False

    @property
    def sign(self) -> float:
        """Factor that turns a score into a loss: 1, or -1 if greater scores are better."""
        return -1.0 if self.greater_is_better else 1.0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out a user's function: it may not pickle, and is not needed any more."""
        return {**vars(self), "function": None if self.kind is None else self.function}

    def score(self, observed: NDArray[Any] | TimesToScore, predicted: NDArray[Any]) -> float:
        """Return what the function gives; raise `InputError` if it fails, or gives no number."""
        if self.kind is None and isinstance(observed, TimesToScore):
            return self._called(observed.frame(), predicted)
        return self._called(observed, predicted)

    def _called(self, observed: Any, predicted: NDArray[Any]) -> float:
        try:
            return float(self.function(observed, predicted))
        except InputError:
            raise
        except Exception as error:  # a user's function may raise anything
            raise InputError(
                f"metric={self.name} fails: {type(error).__name__}: {error}: it must take observed "
                "and predicted values, two arrays, and return a number"
            ) from error


def _mse(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean((y - predicted) ** 2))


def _rmse(y: NDArray, predicted: NDArray) -> float:
    return float(np.sqrt(_mse(y, predicted)))


def _mae(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean(np.abs(y - predicted)))


def _r2(y: NDArray, predicted: NDArray) -> float:
    variance = float(np.var(y))
    return explained_part(_mse(y, predicted), variance)


def _error(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean(y != predicted))


def _accuracy(y: NDArray, predicted: NDArray) -> float:
    return float(np.mean(y == predicted))


def _brier(codes: NDArray, shares: NDArray) -> float:
    """Return Brier's score: mean squared distance of probabilities and 0/1 class indicators."""
    observed = np.arange(shares.shape[1]) == codes[:, np.newaxis]
    return float(np.mean(np.sum((shares - observed) ** 2, axis=1)))


def _log_loss(codes: NDArray, shares: NDArray) -> float:
    of_observed = shares[np.arange(len(codes)), codes]
    # clipped, because a single row with probability 0 would make the mean infinite
    return float(-np.mean(np.log(np.clip(of_observed, np.finfo(np.float64).eps, 1.0))))


def _auc(codes: NDArray, shares: NDArray) -> float:
    """Return how often a row of class 1 has a larger probability of it than a row of class 0."""
    second = codes == 1
    n, m = int(second.sum()), int((~second).sum())
    if n == 0 or m == 0:
        return np.nan
    # Mann and Whitney's statistic; tied pairs count one half
    return float((rankdata(shares[:, 1])[second].sum() - n * (n + 1) / 2) / (n * m))


NUMBER, CLASS, TIMES = "regression", "classification", "survival"
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
        Metric(
            "integrated_brier",
            "integrated Brier score",
            integrated_brier_of_curves,
            TIMES,
            needs_curves=True,
        ),
        Metric("uno_c", "Uno's C", uno_of_risks, TIMES, greater_is_better=True),
        Metric("harrell_c", "Harrell's C", harrell_of_risks, TIMES, greater_is_better=True),
    )
}
"""Metrics by name."""


def metric_for(metric: str | Function, kind: str, n_classes: int) -> Metric:
    """Return the metric of a name or a function.

    Parameters
    ----------
    metric : str or callable
        "auto", one of `METRICS`, or a function of observed and predicted values (n,), numbers or
        labels, that returns a number; smaller is better.
    kind : {"regression", "classification", "survival"}
        Kind of the response.
    n_classes : int
        Largest number of classes of any table; 1 if there are none.

    Raises
    ------
    InputError
        If the metric is not known, or cannot be used for the response.

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
    if is_word(metric, "auto"):
        return METRICS[AUTO[kind]]
    if not isinstance(metric, str) or metric not in METRICS:
        raise allowed("metric", metric, ["auto", *METRICS])
    suitable = [
        name
        for name, other in METRICS.items()
        if other.kind == kind and (n_classes == 2 or not other.needs_two_classes)
    ]
    if metric not in suitable:
        words = {NUMBER: "a regression", TIMES: "a time to an event"}
        response = words.get(kind, f"{n_classes} classes")
        listing = ", ".join(map(repr, suitable))
        raise InputError(f"metric={metric!r} does not go with {response}: use one of {listing}")
    return METRICS[metric]
