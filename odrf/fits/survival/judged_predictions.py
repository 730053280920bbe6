"""Predicted risks and curves of rows beside their observed times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.survival.survival_times import SurvivalTimes
from odrf.errors import InputError
from odrf.fits.judging.groups_of_rows import groups_of_rows
from odrf.fits.prediction.predicting import rows_of
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.fits.survival.boosted_survival_fit import BoostedSurvivalFit
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.statistics.survival.kaplan_meier import KaplanMeier, kaplan_meier
from odrf.statistics.survival.of_curves.judged_lifetimes import JudgedLifetimes
from odrf.statistics.survival.of_curves.scores_of_curves import concordances, scores_of_curves
from odrf.statistics.survival.rowwise_errors import RowwiseEstimate

__all__ = [
    "NEW",
    "OUT_OF_BAG_ROWS",
    "TRAINING",
    "JudgedPredictions",
    "judged_new_rows",
    "judged_rows",
    "judged_training_rows",
    "kaplan_meier_of",
]

Floats = NDArray[np.float64]
OUT_OF_BAG_ROWS, TRAINING, NEW = "out of bag", "training", "new"


class PredictedCurves(Protocol):
    """Rows whose risks and curves are predicted."""

    def risk(self) -> Floats:
        """Return the risks (m,)."""

    def survival(self, times: Floats, advance: Callable[[int], object] = ...) -> Floats:
        """Return the survival (m, G) at ascending times (G,)."""


@dataclass(frozen=True, eq=False)
class JudgedPredictions:
    """Predictions of n rows that their observed times judge.

    Attributes
    ----------
    rows : JudgedLifetimes
    risk : (n,) float64
    predicted : PredictedCurves
        Of m rows, the n among them.
    used : (m,) bool
        Which of them judge.
    reference : KaplanMeier
        The curve of the training rows.
    """

    rows: JudgedLifetimes
    risk: Floats
    predicted: PredictedCurves
    used: NDArray[np.bool_]
    reference: KaplanMeier

    def survival(self, times: Floats) -> Floats:
        """Return the predicted survival (n, G) at ascending times (G,)."""
        return self.predicted.survival(times)[self.used]

    def scores(self, until: float | None = None) -> dict[str, RowwiseEstimate]:
        """Return the scores by name; see `scores_of_curves`."""
        until = self.rows.last_time() if until is None else until
        return scores_of_curves(self.rows, self.risk, self.survival, self.reference.curve, until)

    def concordances(self) -> dict[str, RowwiseEstimate]:
        """Return those of the scores that risks alone have."""
        return concordances(self.rows, self.risk, self.rows.last_time())


def judged_training_rows(fit: SurvivalFit, unseen: NDArray[np.bool_]) -> JudgedPredictions:
    """Return the training rows, predicted by the trees that `unseen` (B, n) names, else by all.

    Raises
    ------
    InputError
        No row with a prediction has an event.
    """
    out_of_bag = leaves_rows_out(fit)
    predicted = PredictedRows(fit, fit.data.X, unseen if out_of_bag else None)
    source = OUT_OF_BAG_ROWS if out_of_bag else TRAINING
    return judged_rows(fit, predicted, fit.times, fit.data.weights, source, None)


def judged_new_rows(fit: SurvivalFit, newdata: pd.DataFrame) -> JudgedPredictions:
    """Return new rows with their times, each of weight 1, predicted by all trees.

    Raises
    ------
    InputError
        `newdata` lacks a column or the response; or no row has an event.
    """
    rows = rows_of(fit, newdata)
    times = fit.design.response.times(newdata[rows.complete])
    predicted = PredictedRows(fit, rows.X)
    weights = np.ones(rows.X.shape[1])
    return judged_rows(fit, predicted, times, weights, NEW, newdata[rows.complete])


def kaplan_meier_of(fit: SurvivalFit | BoostedSurvivalFit) -> KaplanMeier:
    """Return the Kaplan–Meier curve of the training rows."""
    times = fit.times
    return kaplan_meier(times.time, times.event, fit.data.weights, times.start)


def judged_rows(
    fit: SurvivalFit | BoostedSurvivalFit,
    predicted: PredictedCurves,
    times: SurvivalTimes,
    weights: Floats,
    source: str,
    newdata: pd.DataFrame | None,
) -> JudgedPredictions:
    """Return predictions of rows with their times (m,), judged by those of positive weight (m,).

    The `source` says in words which rows they are; `newdata` has them if they are new.

    Raises
    ------
    InputError
        None of them has a prediction and an event.
    """
    risk = predicted.risk()
    used = (weights > 0) & ~np.isnan(risk)
    kept = times.keeping(used)
    if not kept.n_events:
        raise InputError(
            f"none of the {int(used.sum())} rows that judge has an event: give rows with events"
        )
    groups = groups_of_rows(fit, newdata, used)
    rows = JudgedLifetimes(kept.time, kept.event, weights[used], source, kept.start, groups)
    return JudgedPredictions(rows, risk[used], predicted, used, kaplan_meier_of(fit))
