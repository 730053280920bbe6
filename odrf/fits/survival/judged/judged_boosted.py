"""Risks and curves by boosted trees beside the observed times of the rows."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.fits.prediction.offsets_of_rows import offsets_of_rows
from odrf.fits.prediction.predicting import rows_of
from odrf.fits.survival.boosted_survival_fit import BoostedSurvivalFit
from odrf.fits.survival.curves_of_boosted import PredictedScores
from odrf.fits.survival.judged.judged_predictions import (
    NEW,
    OUT_OF_BAG_ROWS,
    TRAINING,
    JudgedPredictions,
    judged_rows,
)

__all__ = ["HELD_OUT_ROWS", "judged_new_scores", "judged_training_scores"]

HELD_OUT_ROWS = "held out"


def judged_training_scores(
    fit: BoostedSurvivalFit, scores: NDArray[np.float64]
) -> JudgedPredictions:
    """Return the training rows with their scores (n,), out of bag if there are several runs.

    With rows held out and one run, only these judge.

    Raises
    ------
    InputError
        No row with a prediction has an event.
    """
    weights, source = fit.data.weights, OUT_OF_BAG_ROWS
    if fit.control.n_runs == 1:
        source = HELD_OUT_ROWS if fit.held.any() else TRAINING
        weights = np.where(fit.held, weights, 0.0) if fit.held.any() else weights
    predicted = PredictedScores(fit.curves, scores)
    return judged_rows(fit, predicted, fit.times, weights, source, None)


def judged_new_scores(
    fit: BoostedSurvivalFit, newdata: pd.DataFrame, offset: str | ArrayLike | None
) -> JudgedPredictions:
    """Return new rows with their times, each of weight 1.

    Raises
    ------
    InputError
        `newdata` lacks a column or the response; offsets are missing; or no row has an event.
    """
    rows = rows_of(fit, newdata)
    given = newdata[rows.complete]
    reading = cast(BoostedSurvivalFit, rows.fit)  # it knows the fills of empty cells
    scores = reading.scores(rows.X, offsets_of_rows(fit, newdata, rows, offset))[0]
    predicted, weights = PredictedScores(fit.curves, scores), np.ones(len(scores))
    return judged_rows(fit, predicted, fit.design.response.times(given), weights, NEW, given)
