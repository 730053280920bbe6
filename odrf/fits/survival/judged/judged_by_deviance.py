"""How single trees for times to an event are judged: by the exponential deviance of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.engine.resamples import Draws
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.judging.groups_of_rows import groups_of_rows
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.survival.by_deviance.judged_events import JudgedEvents, judged_events
from odrf.fits.survival.by_deviance.node_hazards import node_hazards, split_statistics
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.pruning.complexity import LOG_RANK, Subtrees, with_split_statistics
from odrf.pruning.event_deviance import event_losses, events_by_cause
from odrf.pruning.validation import EvaluationRows, HeldOut, held_out

__all__ = ["deviances_of_new_rows", "judged_by_deviance"]


def judged_by_deviance(fit: Fit, loss: str) -> EvaluationRows | None:
    """Return how trees of folds are judged; None if the response is no time to an event.

    They are pruned by `loss`, and judged by the exponential deviance in any case.  Log-rank
    statistics of effects grow with the number of rows: those of a fold's tree are multiplied as if
    it had been grown on all rows.  Both are of the cause that splits are about, if they are about
    one.

    As by rpart, the scale of times is that of all training rows, those of the fold too.
    """
    data, times = fit.data, fit.data.times
    if times is None:
        return None
    judged = judged_events(times, data.weights, fit.control)

    def described(tree: Forest, rows: NDArray[np.bool_], stream: NDArray[np.uint64]) -> Forest:
        weights = np.where(rows, data.weights, 0.0)
        draws = Draws(weights, fit.samplings[:1], stream, 1, data.codes)
        by_deviance = node_hazards(tree, data, draws, judged)[1]
        if loss != LOG_RANK:
            return by_deviance
        more = data.weights.sum() / weights.sum()
        statistics = split_statistics(tree, data, draws, fit.control)
        return with_split_statistics(by_deviance, more * statistics)

    return EvaluationRows(described, _responses(judged, times), data.weights, event_losses)


def deviances_of_new_rows(fit: SurvivalFit, subtrees: Subtrees, rows: pd.DataFrame) -> HeldOut:
    """Evaluate the subtrees of a tree on the complete rows of a data frame; each counts once.

    Raises
    ------
    InputError
        There are none, or the response is absent, missing or no time.
    """
    if fit.hazards is None:
        raise InputError("a forest has no deviance of events: use a tree of odt()")
    X, complete = fit.design.matrix(rows)
    times = fit.design.response.times(rows[complete])
    if len(times) == 0:
        raise InputError(
            "newdata= has no complete rows: give rows without missing values in the response and "
            "the predictors"
        )
    rated = replace(fit, forest=replace(fit.forest, value=fit.hazards.by_cause))
    reading, X = reading_empty_cells(rated, X)
    y = _responses(judged_events(fit.times, fit.data.weights, fit.control), times)
    return held_out(
        reading.forest, subtrees.critical, subtrees.alpha, X, y, np.ones(len(y)),
        groups_of_rows(fit, rows, complete), event_losses,
    )  # fmt: skip


def _responses(judged: JudgedEvents, times: SurvivalTimes) -> NDArray[np.float64]:
    """Return events of each cause that counts and exposure (m, C + 1), by the training rows."""
    counted = judged.counted(times)
    occurred = events_by_cause(counted.event, len(counted.causes))
    return np.column_stack([occurred, judged.exposure(times)])
