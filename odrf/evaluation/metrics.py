"""Metrics: how well predictions agree with the observed responses and times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from odrf.checks import is_word
from odrf.design.folds import fold_numbers, fold_of_rows, most_folds, rows_to_divide
from odrf.design.functions import EVENT, START, TIME
from odrf.design.survival_times import SurvivalTimes
from odrf.errors import InputError, allowed
from odrf.fits.fit import AnyFit, BoostedFit, Fit
from odrf.fits.responses import leaves_rows_out
from odrf.fits.scores import explained_part, out_of_bag_loss
from odrf.fits.survival.validation import OUT_OF_BAG_ROWS
from odrf.public import public
from odrf.results.boosted import ODBTResults
from odrf.results.forest import ODRFResults
from odrf.results.stack import AutoResults
from odrf.results.survival.base import SurvivalResults
from odrf.statistics.survival.discrimination import harrells_c, unos_c
from odrf.statistics.survival.observation import ObservationCurve, observation_curve
from odrf.statistics.survival.scores import EvaluatedTimes, brier_scores, conditional_survival

Floats = NDArray[np.float64]


@public
@dataclass(frozen=True, eq=False)
class TimesToScore:
    """The observed times of n rows of a table.

    Attributes
    ----------
    until : float
        Events up to this time count, of whatever fold of the table.
    at : (G,) float64
        The times of predicted curves, ascending to `until`.  The first is 0, or if rows enter late
        the time from which on they are evaluated, given no event before.
    observed : ObservationCurve
        That of all rows of the table, so that a fold of few rows has no large weights by chance.
    """

    times: SurvivalTimes
    until: float
    at: Floats
    observed: ObservationCurve

    def keeping(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> TimesToScore:
        """Return those of the `rows`, a mask (n,) or row numbers, alone."""
        return replace(self, times=self.times.keeping(rows))

    def frame(self) -> pd.DataFrame:
        """Return the columns "time", "event" (bool) and, if rows enter late, "start"."""
        columns = {TIME: self.times.time, EVENT: self.times.event > 0}
        if self.times.start is not None:
            columns[START] = self.times.start
        return pd.DataFrame(columns)


def times_to_score(times: SurvivalTimes) -> TimesToScore:
    """Return the observed times of all rows of a table."""
    rows = EvaluatedTimes(times.time, times.event, np.ones(len(times)), "of the table", times.start)
    if rows.start is not None:
        rows = rows.given_none_before(rows.first_time())
    until = rows.last_time()
    observed = observation_curve(rows.time, rows.event, start=rows.start)
    return TimesToScore(times, until, rows.grid(until), observed)


def harrell_of_risks(observed: TimesToScore, risk: Floats) -> float:
    """Return Harrell's C of the risks (n,)."""
    rows, used = _evaluated_rows(observed)
    return harrells_c(rows.time, rows.event, risk[used], start=rows.start).estimate


def uno_of_risks(observed: TimesToScore, risk: Floats) -> float:
    """Return Uno's C of the risks (n,)."""
    rows, used = _evaluated_rows(observed)
    # an event at the last time counts, too
    tau = float(np.nextafter(observed.until, np.inf))
    concordance = unos_c(
        rows.time, rows.event, risk[used], tau, observed=observed.observed, start=rows.start
    )
    return concordance.estimate


def integrated_brier_of_curves(observed: TimesToScore, survival: Floats) -> float:
    """Return the mean over time of the Brier score of the survival (n, G) at the times `at`."""
    rows, used = _evaluated_rows(observed)
    curves, at = survival[used], observed.at
    if rows.start is not None:
        later = conditional_survival(curves, curves[:, 0])
        curves = np.column_stack([np.ones(len(later)), later])
    scores = brier_scores(
        rows.time, rows.event, 1 - curves, at, observed=observed.observed, start=rows.start
    )
    return scores.integrated.estimate


def _evaluated_rows(observed: TimesToScore) -> tuple[SurvivalTimes, NDArray[np.bool_]]:
    """Return the rows that are evaluated, and which they are (n,)."""
    times, since = observed.times, float(observed.at[0])
    if times.start is None:
        return times, np.ones(len(times), dtype=np.bool_)
    used = times.time > since
    kept = times.keeping(used)
    return replace(kept, start=np.maximum(times.start[used], since)), used


AUTO = {"regression": "mse", "classification": "error", "survival": "integrated_brier"}
"""The default metric for each kind of response."""

Function = Callable[[Any, NDArray[Any]], float]


@dataclass(frozen=True)
class Metric:
    """A metric of predictions.

    `name`, `words`: as users type it; and its full name.  `function`: takes the observed responses
    (n,) and the predictions (n,), both numbers or both labels, and returns a number.  If
    `needs_probabilities`, it takes class codes 0 … K - 1, (n,), and probabilities (n, K).  Of
    survival times it takes a `TimesToScore` and risks (n,) or, if `needs_curves`, survival (n, G).
    `kind`: "regression", "classification" or "survival"; None for a user's function, which may be
    used for all; of survival times it takes a data frame with the columns "time" and "event".
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

    `metric` is "auto", one of `METRICS`, or a function of observed and predicted values (n,),
    numbers or labels, that returns a number; smaller is better.  `n_classes` is the largest number
    of classes of any table, 1 if there are none.  Raises `InputError` if the metric is not known,
    or cannot be used for the response.

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
        words = {NUMBER: "a regression", TIMES: "a survival time"}
        response = words.get(kind, f"{n_classes} classes")
        listing = ", ".join(map(repr, suitable))
        raise InputError(f"metric={metric!r} does not go with {response}: use one of {listing}")
    return METRICS[metric]


OutOfBagResults = ODRFResults | ODBTResults | AutoResults
"""Results for numbers and classes that may have rows out of bag."""


def out_of_bag_score_of_times(fit: SurvivalResults, metric: Metric) -> tuple[float, float]:
    """Return the score of the out-of-bag predictions, and its standard error, as `score()` does."""
    table = fit.score()
    if table.index.name != OUT_OF_BAG_ROWS:
        raise InputError(
            'method="oob" needs out-of-bag rows, which only forests of odrf.odrf and boosted trees '
            'with several runs have: use method="cv"'
        )
    if metric.kind is None:
        raise InputError(
            f'metric={metric.name} is a function, and method="oob" of survival times takes '
            '"integrated_brier", "uno_c" or "harrell_c": use one of them, or method="cv"'
        )
    return table["estimate"].to_dict()[metric.name], table["std_error"].to_dict()[metric.name]


# Groups of the jackknife; with more of them the standard error hardly changes.
GROUPS = 20


def out_of_bag_score(fit: Any, metric: Metric, seed: int) -> tuple[float, float]:
    """Return the score of the out-of-bag predictions, and its standard error.

    By the default metric, rows of forests of `odrf` count by their case weights, and results for
    survival times have those of their ``score()``.  By another metric, and in other fits, every
    row of positive weight counts once.  Then the standard error is that of the jackknife that
    leaves out one of at most 20 parts of the rows at a time.  The parts are random, by `seed`; or
    whole groups, or blocks of time, if the fit was made with `groups` or `order`.  Raises
    `InputError` if the fit has no out-of-bag rows.
    """
    if isinstance(fit, SurvivalResults):
        return out_of_bag_score_of_times(fit, metric)
    if not isinstance(fit, OutOfBagResults) or _is_one_run(fit.fit):
        raise InputError(
            'method="oob" needs out-of-bag rows, which only forests of odrf.odrf, boosted trees '
            'with several runs and stacks of odrf.auto have: use method="cv"'
        )
    # a function of the user may have the name of a metric
    if isinstance(fit.fit, Fit) and metric == METRICS[AUTO[fit.kind]]:
        return out_of_bag_loss(fit.fit)
    known, y, predicted = _observed_and_predicted(fit, metric)
    rows = rows_to_divide(fit.fit.design, fit.fit.data)
    if rows.groups is None and rows.order is None:
        group = fold_of_rows(y, 1, min(GROUPS, len(y)), seed)
    else:
        group = fold_numbers(rows, min(GROUPS, most_folds(rows)), seed)[known]
    without = [_score(fit, metric, y[group != k], predicted[group != k]) for k in np.unique(group)]
    spread = np.array(without) - np.mean(without)
    std_error = np.sqrt((len(without) - 1) / len(without) * np.sum(spread**2))
    return _score(fit, metric, y, predicted), float(std_error)


def _is_one_run(fit: AnyFit) -> bool:
    return isinstance(fit, BoostedFit) and not leaves_rows_out(fit)


def _observed_and_predicted(
    fit: OutOfBagResults, metric: Metric
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[Any]]:
    """Return which rows have out-of-bag predictions, and responses or class codes, and these."""
    probabilities = metric.needs_probabilities
    predicted = fit.oob_prob if probabilities else fit.oob_prediction.to_frame()
    data = fit.fit.data
    if data.apart is not None:
        predicted = predicted[~data.apart.where]
    known = predicted.notna().all(axis=1).to_numpy() & (data.weights > 0)
    values = predicted[known].to_numpy()
    return known, data.y[known], values if probabilities else values[:, 0]


def _score(
    fit: OutOfBagResults, metric: Metric, y: NDArray[np.float64], predicted: NDArray[Any]
) -> float:
    if fit.classes is None:
        return metric.score(y, predicted.astype(np.float64))
    codes = y.astype(np.int64)
    observed = codes if metric.needs_probabilities else fit.classes.to_numpy()[codes]
    return metric.score(observed, predicted)
