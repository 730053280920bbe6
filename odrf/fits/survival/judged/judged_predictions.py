"""Predicted risks and curves of rows beside their observed times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.errors import AbsentError
from odrf.fits.judging.groups_of_rows import groups_of_rows
from odrf.fits.prediction.predicting import rows_of
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.fits.survival.boosted_survival_fit import BoostedSurvivalFit
from odrf.fits.survival.cause_numbers import cause_numbers
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.fits.survival.incidence_of_rows import incidences, times_lost
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.statistics.survival.curves import StepCurve, cumulative_incidence, product_limit
from odrf.statistics.survival.pseudo_values import RowwiseEstimate
from odrf.statistics.survival.scores import (
    EvaluatedTimes,
    concordances,
    conditional_survival,
    scores_of_curves,
)

__all__ = [
    "NEW",
    "OUT_OF_BAG_ROWS",
    "TRAINING",
    "JudgedPredictions",
    "NoJudgesError",
    "PredictedCause",
    "judged_new_rows",
    "judged_rows",
    "judged_training_rows",
]

Floats = NDArray[np.float64]
OUT_OF_BAG_ROWS, TRAINING, NEW = "out of bag", "training", "new"


class NoJudgesError(AbsentError):
    """None of the rows that judge has an event."""


class PredictedCurves(Protocol):
    """Rows whose risks and curves are predicted."""

    def risk(self) -> Floats:
        """Return the risks (m,)."""

    def survival(self, times: Floats, advance: Callable[[int], object] = ...) -> Floats:
        """Return the survival (m, G) at ascending times (G,)."""


@dataclass(frozen=True)
class PredictedCause:
    """Rows whose risk of one cause is predicted.

    Attributes
    ----------
    rows : PredictedRows
    cause : int
        From 0.
    """

    rows: PredictedRows
    cause: int

    def risk(self) -> Floats:
        """Return the time (m,) lost by the cause up to the last event time."""
        last = self.rows.fit.event_times[-1:]
        return times_lost(self.rows, last, np.array([self.cause]))[:, 0, 0]

    def survival(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the probability (m, G) not to have had an event of the cause by the times."""
        return 1 - incidences(self.rows, times, np.array([self.cause]), advance)[:, 0]


@dataclass(frozen=True, eq=False)
class JudgedPredictions:
    """Predictions of n rows that their observed times judge.

    Attributes
    ----------
    rows : EvaluatedTimes
    risk : (n,) float64
    predicted : PredictedCurves
        Of m rows, the n among them.
    used : (m,) bool
        Which of them judge.
    reference : StepCurve
        The probability of no event that is predicted without predictors, from the training rows.

    If rows enter late, all curves are those given no event by ``rows.since``.
    """

    rows: EvaluatedTimes
    risk: Floats
    predicted: PredictedCurves
    used: NDArray[np.bool_]
    reference: StepCurve

    def survival(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the predicted survival (n, G) at ascending times (G,)."""
        if self.rows.since == 0:
            return self.predicted.survival(times, advance)[self.used]
        since = np.array([self.rows.since])
        spared = self.predicted.survival(np.concatenate([since, times]), advance)[self.used]
        alive = spared
        if isinstance(self.predicted, PredictedCause):
            alive = self.predicted.rows.survival(since)[self.used]
        return conditional_survival(spared, alive[:, 0])

    def scores(
        self, until: float | None = None, advance: Callable[[int], object] = lambda n: None
    ) -> dict[str, RowwiseEstimate]:
        """Return the scores by name; see `scores_of_curves`."""
        until = self.rows.last_time() if until is None else until
        curves = partial(self.survival, advance=advance)
        return scores_of_curves(self.rows, self.risk, curves, self.reference, until)

    def concordances(self) -> dict[str, RowwiseEstimate]:
        """Return those of the scores that risks alone have."""
        return concordances(self.rows, self.risk, self.rows.last_time())


def judged_training_rows(
    fit: SurvivalFit, unseen: NDArray[np.bool_], cause: str | None
) -> JudgedPredictions:
    """Return the training rows, predicted by the trees that `unseen` (B, n) names, else by all.

    A `cause` alone is the event; None: every cause is.

    Raises
    ------
    InputError
        There is no such cause; or no row with a prediction has an event.
    """
    out_of_bag = leaves_rows_out(fit)
    predicted = PredictedRows(fit, fit.data.X, unseen if out_of_bag else None)
    source = OUT_OF_BAG_ROWS if out_of_bag else TRAINING
    asked = _of_cause(predicted, cause)
    return judged_rows(fit, asked, fit.times, fit.data.weights, source, None, cause)


def judged_new_rows(
    fit: SurvivalFit, newdata: pd.DataFrame, cause: str | None
) -> JudgedPredictions:
    """Return new rows with their times, each of weight 1, predicted by all trees.

    Raises
    ------
    InputError
        `newdata` lacks a column or the response; there is no such cause; or no row has an event.
    """
    rows = rows_of(fit, newdata)
    complete = newdata[rows.complete]
    times = fit.design.response.times(complete)
    reading = cast(SurvivalFit, rows.fit)  # it knows the fills of empty cells
    asked, weights = _of_cause(PredictedRows(reading, rows.X), cause), np.ones(len(times))
    return judged_rows(fit, asked, times, weights, NEW, complete, cause)


def judged_rows(
    fit: SurvivalFit | BoostedSurvivalFit,
    predicted: PredictedCurves,
    times: SurvivalTimes,
    weights: Floats,
    source: str,
    newdata: pd.DataFrame | None,
    cause: str | None = None,
) -> JudgedPredictions:
    """Return predictions of rows with their times (m,), judged by those of positive weight (m,).

    The `source` says in words which rows they are; `newdata` has them if they are new.  A `cause`
    is the one whose risk is `predicted`.

    Raises
    ------
    NoJudgesError
        None of them has a prediction and an event.
    """
    risk = predicted.risk()
    used = (weights > 0) & ~np.isnan(risk)
    kept, code = times.keeping(used), _code(fit, cause)
    groups = groups_of_rows(fit, newdata, used)
    rows = EvaluatedTimes(kept.time, kept.event, weights[used], source, kept.start, groups, code)
    if not rows.happened.any():
        of_cause = "" if cause is None else f" of the cause {cause!r}"
        raise NoJudgesError(
            f"none of the {len(kept)} rows that judge has an event{of_cause}: give rows with events"
        )
    if rows.start is not None:
        since = rows.first_time()
        used[used] = rows.time > since
        rows = rows.given_none_before(since)
    return JudgedPredictions(rows, risk[used], predicted, used, _reference(fit, rows))


def _reference(fit: SurvivalFit | BoostedSurvivalFit, rows: EvaluatedTimes) -> StepCurve:
    """Return the curve of the training rows by which the rows that judge are predicted."""
    trained, weights = fit.times, fit.data.weights
    lives = trained.time, trained.event
    known = cumulative_incidence(*lives, rows.cause, weights, trained.start)
    if rows.since == 0:
        return StepCurve(known.times, 1 - known.incidence, 1.0)
    later = known.times[known.times > rows.since]
    spared = 1 - known.curve(np.concatenate([[rows.since], later]))
    alive = product_limit(known.sets).curve(rows.since)
    return StepCurve(later, conditional_survival(spared, alive), 1.0)


def _of_cause(rows: PredictedRows, cause: str | None) -> PredictedCurves:
    code = _code(rows.fit, cause)
    return rows if code is None else PredictedCause(rows, code - 1)


def _code(fit: SurvivalFit | BoostedSurvivalFit, cause: str | None) -> int | None:
    """Return the number of a cause from 1; None: all causes."""
    if cause is None:
        return None
    return int(cause_numbers(cause, fit.design.response.causes)[0]) + 1
