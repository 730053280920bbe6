"""How well predictions of the training rows fit: error, R², confusion matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.trees.out_of_bag_losses import out_of_bag
from odrf.engine.trees.prediction_rule import predicted_classes
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, Fit
from odrf.pruning.complexity import IMPURITY
from odrf.pruning.held_out import losses_of

__all__ = [
    "confusion_table",
    "error_name",
    "loss_name",
    "mean_loss",
    "mean_rank_error",
    "out_of_bag_loss",
    "r_squared",
]


def error_name(kind: str) -> str:
    """Name the error by which fits of this kind are judged."""
    return "mean squared error" if kind == "regression" else "error rate"


def loss_name(fit: AnyFit, loss: str) -> str:
    """Name the loss of training rows by which a tree is pruned."""
    if loss == IMPURITY:
        return IMPURITY
    return "mean rank error" if fit.ordered else error_name(fit.design.response.kind)


def mean_loss(fit: AnyFit, value: NDArray[np.float64]) -> float:
    """Return the weighted mean loss of `value` (n, K): squared error for K = 1, else 0-1."""
    loss = losses_of(value, fit.data.y, fit.ordered)
    return float(np.average(loss, weights=fit.data.weights))


def mean_rank_error(fit: AnyFit, value: NDArray[np.float64]) -> float:
    """Return how many ranks the classes that `value` (n, K) stands for are off, weighted mean.

    Rows of NaN are left out.
    """
    response, data = fit.design.response, fit.data
    if not response.ordered:
        raise InputError(
            f"mean_rank_error needs ordered classes, and those of {response.name!r} are not: make "
            "it an ordered categorical, with pandas.CategoricalDtype(…, ordered=True)"
        )
    said = predicted_classes(value, fit.ordered)
    known = said >= 0
    off = np.abs(said[known] - data.y[known])
    return float(np.average(off, weights=data.weights[known]))


def out_of_bag_loss(fit: Fit) -> tuple[float, float]:
    """Return the weighted mean out-of-bag loss of the rows that have one, and its standard error.

    The loss is as in `mean_loss`; the rows are taken as independent.
    """
    data = fit.data
    value = out_of_bag(fit.forest, data.X, data.y, fit.draws).value
    known = ~np.isnan(value[:, 0])
    loss = losses_of(value[known], data.y[known], fit.ordered)
    weights = data.weights[known]
    mean = float(np.average(loss, weights=weights))
    return mean, float(np.sqrt(np.sum((weights * (loss - mean)) ** 2)) / weights.sum())


def r_squared(fit: AnyFit, error: float) -> float:
    """Return 1 - mean squared error / variance of the response."""
    if fit.design.response.kind == "classification":
        raise InputError("r_squared needs a regression; for classes see confusion_matrix")
    data = fit.data
    deviation = data.y - np.average(data.y, weights=data.weights)
    return 1.0 - error / float(np.average(deviation**2, weights=data.weights))


def confusion_table(fit: AnyFit, value: NDArray[np.float64]) -> pd.DataFrame:
    """Count rows by observed and predicted class, with an error column.

    A row counts as often as it weighs.  Rows of `value` (n, K) that are NaN are left out; a class
    without rows has error NaN.
    """
    classes = fit.design.response.classes
    if classes is None:
        raise InputError("confusion_matrix needs classes; for a regression see r_squared")
    K = len(classes)
    predicted = predicted_classes(value, fit.ordered)
    known = predicted >= 0
    cell = fit.data.y[known].astype(np.int64) * K + predicted[known]
    weights = fit.data.weights[known]
    counts = np.bincount(cell, weights, minlength=K * K).reshape(K, K)
    if (weights == np.rint(weights)).all():
        counts = counts.astype(np.int64)
    total = counts.sum(axis=1)
    right = np.divide(np.diag(counts), total, out=np.full(K, np.nan), where=total > 0)
    table = pd.DataFrame(
        counts,
        index=pd.Index(list(classes), name="observed"),
        columns=pd.Index(list(classes), name="predicted", dtype=object),
    )
    table["error"] = 1.0 - right
    return table
