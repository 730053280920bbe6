"""Trees for survival times: the losses by which they are pruned."""

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
from odrf.fits.missing import reading_empty_cells
from odrf.fits.responses import groups_of_rows
from odrf.fits.survival import hazards
from odrf.fits.survival.fit import SurvivalFit
from odrf.pruning.complexity import LOG_RANK, Subtrees, with_split_statistics
from odrf.pruning.event_deviance import event_losses, events_by_cause
from odrf.pruning.validation import EvaluationRows, HeldOut, held_out

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def trees_with_log_ranks(fit: Fit) -> Forest:
    """Return the tree of a fit with the log-rank statistics by which it can be pruned."""
    if not isinstance(fit, SurvivalFit) or fit.hazards is None:
        raise InputError(
            f'loss="{LOG_RANK}" is for trees of survival times, Surv(time, event): use loss="error"'
        )
    return with_split_statistics(fit.forest, fit.hazards.log_rank)


def evaluated_by_deviance(fit: Fit, loss: str) -> EvaluationRows:
    """Return how trees of folds of survival times are evaluated: by the exponential deviance.

    Log-rank statistics grow with the number of rows: those of a fold's tree are multiplied as if it
    had all. As by rpart, the scale of times is that of all training rows.
    """
    data, times = fit.data, fit.data.require_times()
    evaluated = hazards.evaluated_events(times, data.weights, fit.control)

    def described(tree: Forest, rows: Mask, stream: NDArray[np.uint64]) -> Forest:
        weights = np.where(rows, data.weights, 0.0)
        draws = Draws(weights, fit.samplings[:1], stream, 1, data.codes)
        by_deviance = hazards.node_hazards(tree, data, draws, evaluated)[1]
        if loss != LOG_RANK:
            return by_deviance
        more = data.weights.sum() / weights.sum()
        statistics = hazards.split_statistics(tree, data, draws, fit.control)
        return with_split_statistics(by_deviance, more * statistics)

    y = _responses(evaluated, times)
    return EvaluationRows(data.X, y, data.weights, event_losses, described)


def deviances_of_new_rows(fit: Fit, subtrees: Subtrees, rows: pd.DataFrame) -> HeldOut:
    """Evaluate the subtrees of a tree on the complete rows of a data frame; each counts once."""
    if not isinstance(fit, SurvivalFit) or fit.hazards is None:
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
    y = _responses(hazards.evaluated_events(fit.times, fit.data.weights, fit.control), times)
    return held_out(
        reading.forest, subtrees.critical, subtrees.alpha, X, y, np.ones(len(y)),
        groups_of_rows(fit, rows, complete), event_losses,
    )  # fmt: skip


def _responses(evaluated: hazards.EvaluatedEvents, times: SurvivalTimes) -> Floats:
    """Return events of each cause that counts and exposure (m, C + 1), by the training rows."""
    counted = evaluated.counted(times)
    occurred = events_by_cause(counted.event, len(counted.causes))
    return np.column_stack([occurred, evaluated.exposure(times)])
