"""Summary and short description of one tree of all rows in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.trees.forest import predicted_classes
from odrf.errors import InputError
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.fits.scores import counts_of_classes, explained_part
from odrf.pruning.complexity import root_losses
from odrf.reports.pruning_path import PruningPath
from odrf.reports.residuals.training_scores import training_score
from odrf.reports.streamed.streamed_summary import importance_by_own_rows
from odrf.reports.summaries import growth_card, growth_summary, held_out_scores
from odrf.text.summary import Card, Summary

__all__ = [
    "all_rows_card",
    "all_rows_summary",
    "training_confusion",
    "training_error",
    "training_r_squared",
]

NAME = "Oblique decision tree of rows in chunks"


def training_error(fit: AllRowsFit) -> float:
    """Return the mean squared error, or the misclassification rate, of the rows of the leaves."""
    forest = fit.forest
    if fit.kind == "regression":
        leaf = forest.is_leaf()
        return float(forest.weight[leaf] @ forest.impurity[leaf] / forest.weight[0])
    counts = _counts(fit)
    return float(1.0 - np.trace(counts) / counts.sum())


def training_r_squared(fit: AllRowsFit) -> float:
    """Return 1 - mean squared error / variance of the response; raise `InputError` for classes."""
    if fit.kind == "classification":
        raise InputError("r_squared needs a regression; for classes see confusion_matrix")
    variance = float(root_losses(fit.forest)[0])
    return explained_part(training_error(fit), variance)


def training_confusion(fit: AllRowsFit) -> pd.DataFrame:
    """Return the weights of the rows of the leaves by observed and predicted class.

    Raises
    ------
    InputError
        For a regression.
    """
    classes = fit.design.response.classes
    if classes is None:
        raise InputError("confusion_matrix needs classes; for a regression see r_squared")
    counts = _counts(fit) * fit.data.weight_unit
    whole = np.rint(counts)
    near = np.allclose(counts, whole, 1e-9, 1e-6)
    return counts_of_classes(classes, whole if near else counts, near)


def _counts(fit: AllRowsFit) -> NDArray[np.float64]:
    forest = fit.forest
    leaf = forest.is_leaf()
    value = forest.value[leaf]
    counts = np.zeros((value.shape[1], value.shape[1]))
    predicted = predicted_classes(value, fit.ordered)
    np.add.at(counts.T, predicted, value * forest.weight[leaf, np.newaxis])
    return counts


def all_rows_summary(fit: AllRowsFit, path: PruningPath[Any] | None) -> Summary:
    """Return the summary: data, errors, options, size, importances.

    `path` is the pruning path that the tree was chosen from, if any.
    """
    facts = {**_scores(fit), **held_out_scores(fit, path)}
    confusion = {} if fit.kind == "regression" else {"training rows": training_confusion(fit)}
    return growth_summary(NAME, fit, facts, confusion, importance_by_own_rows(fit))


def all_rows_card(fit: AllRowsFit) -> Card:
    """Return a short description."""
    return growth_card(NAME, fit, _scores(fit))


def _scores(fit: AllRowsFit) -> dict[str, str]:
    error = training_error(fit)
    if fit.kind == "classification":
        return training_score(error, None)
    explained = training_r_squared(fit)
    return {**training_score(error, explained), "Training R²": f"{explained:.3f}"}
