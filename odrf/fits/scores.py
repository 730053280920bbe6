"""Scores of predictions of the training rows: error, R², confusion matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.folds import rows_to_divide
from odrf.engine.trees.forest import predicted_classes
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.responses import forest_out_of_bag
from odrf.pruning.complexity import IMPURITY, LOG_RANK
from odrf.pruning.validation import losses_of
from odrf.statistics.jackknife import weighted_mean
from odrf.text.names import free_name

# Observed against predicted classes.


def counts_of_classes(classes: pd.Index, counts: NDArray, whole: bool) -> pd.DataFrame:
    """Return counts (K, K) by observed and predicted class as a table, with error rates.

    Error rates are in the last column, ``error``, or ``error_`` if a class is called so; that of a
    class without rows is NaN.  If `whole`, counts are whole numbers.
    """
    total = counts.sum(axis=1)
    right = np.divide(np.diag(counts), total, out=np.full(len(total), np.nan), where=total > 0)
    labels = list(classes)
    table = pd.DataFrame(
        counts.astype(np.int64) if whole else counts,
        index=pd.Index(labels, name="observed"),
        columns=pd.Index(labels, name="predicted", dtype=object),
    )
    table[free_name("error", [str(label) for label in labels])] = 1.0 - right
    return table


# Scores of predictions of the training rows: error, R², confusion matrix.

ERRORS = {"regression": "mean squared error", "survival": "exponential deviance"}
# Smaller parts explained are what rounding leaves of 0.
ROUNDING = 1e-14
# Whole numbers below this are exact as floats.
MOST_WHOLE = 2.0**53


def error_name(kind: str) -> str:
    """Return the name of the error that is reported for fits of this kind."""
    return ERRORS.get(kind, "error rate")


def loss_name(fit: AnyFit, loss: str) -> str:
    """Return the name of the training error that pruning uses."""
    if loss == IMPURITY:
        return IMPURITY
    if loss == LOG_RANK:
        return "log-rank statistics of the splits left out"
    return "mean rank error" if fit.ordered else error_name(fit.design.response.kind)


def mean_loss(
    fit: AnyFit, value: NDArray[np.float64], among: NDArray[np.bool_] | None = None
) -> float:
    """Return the weighted mean loss of `value` (n, K): squared error for K = 1, else 0-1.

    It is that of all training rows, or of those of `among` (n,).
    """
    loss, weights = losses_of(value, fit.data.y, fit.ordered), fit.data.weights
    return (
        weighted_mean(loss, weights)
        if among is None
        else weighted_mean(loss[among], weights[among])
    )


def mean_rank_error(fit: AnyFit, value: NDArray[np.float64]) -> float:
    """Return the weighted mean difference in rank between predicted and observed classes.

    Classes are predicted from the probabilities `value` (n, K); rows of NaN are left out.  NaN if
    there are no others.  Raises `InputError` if the classes are not ordered.
    """
    response, data = fit.design.response, fit.data
    if not response.ordered:
        raise InputError(
            f"mean_rank_error needs ordered classes, and those of {response.name!r} are not: make "
            "it an ordered categorical, with pandas.CategoricalDtype(…, ordered=True)"
        )
    predicted = predicted_classes(value, fit.ordered)
    known = predicted >= 0
    differences = np.abs(predicted[known] - data.y[known])
    return weighted_mean(differences, data.weights[known])


class OutOfBagScores(NamedTuple):
    """The mean out-of-bag loss and, of a regression, R², each with its standard error."""

    error: float
    std_error: float
    r_squared: float | None = None
    std_error_of_r_squared: float | None = None


def out_of_bag_scores(fit: AnyFit, value: NDArray[np.float64]) -> OutOfBagScores:
    """Return the scores of out-of-bag values (n, K); NaN if no row of positive weight has one.

    Standard errors are for independent rows, or groups of rows if the fit was made with `groups`;
    that of R² = 1 - mean squared error / variance of the response is by the delta method.
    """
    if not _evaluated(fit, value).any():
        return OutOfBagScores(float("nan"), float("nan"))
    loss, weights = out_of_bag_losses(fit, value)
    mean = weighted_mean(loss, weights)
    excess = weights * (loss - mean) / weights.sum()
    std_error = _error_of_sum(fit, excess)
    if fit.design.response.kind == "classification":
        return OutOfBagScores(mean, std_error)
    y, share = fit.data.y, fit.data.weights / fit.data.weights.sum()
    deviation = y - share @ y
    variance = float(share @ deviation**2)
    explained = explained_part(mean, variance)
    if np.isnan(explained):
        return OutOfBagScores(mean, std_error, explained, explained)
    unexplained = excess - mean / variance * share * (deviation**2 - variance)
    return OutOfBagScores(mean, std_error, explained, _error_of_sum(fit, unexplained) / variance)


def _error_of_sum(fit: AnyFit, parts: NDArray[np.float64]) -> float:
    """Return the standard error of the sum of parts (n,) of mean 0 of the rows, or groups."""
    groups = rows_to_divide(fit.design, fit.data).groups
    if groups is not None:
        parts = np.bincount(groups, parts).astype(np.float64)
    return float(np.sqrt(np.sum(parts**2)))


def out_of_bag_loss(fit: Fit) -> tuple[float, float]:
    """Return the weighted mean out-of-bag loss, that of `mean_loss`, and its standard error.

    They are those of `out_of_bag_scores`; `InputError` if every tree sampled all rows.
    """
    loss, weights = out_of_bag_losses(fit, forest_out_of_bag(fit).value)
    mean = weighted_mean(loss, weights)
    return mean, _error_of_sum(fit, weights * (loss - mean)) / float(weights.sum())


def out_of_bag_losses(
    fit: AnyFit, value: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses (n,) of out-of-bag values (n, K), and the case weights (n,).

    Both are 0 for rows that every tree sampled.  Raises `InputError` if there are no others.
    """
    data, known = fit.data, _evaluated(fit, value)
    if not known.any():
        raise InputError(
            "no row is out of bag: each tree sampled all rows of positive weight; fit more trees, "
            "or with a lower sample_fraction"
        )
    loss = np.where(known, losses_of(value, data.y, fit.ordered), 0.0)
    return loss, np.where(known, data.weights, 0.0)


def _evaluated(fit: AnyFit, value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows (n,) have an out-of-bag value (n, K) and a weight."""
    return ~np.isnan(value[:, 0]) & (fit.data.weights > 0)


def r_squared(fit: AnyFit, error: float) -> float:
    """Return 1 - `error` / variance of the response, `error` being the mean squared error.

    NaN if the variance is so small that it is rounded to 0.  Raises `InputError` for classes.
    """
    if fit.design.response.kind == "classification":
        raise InputError("r_squared needs a regression; for classes see confusion_matrix")
    data = fit.data
    deviation = data.y - weighted_mean(data.y, data.weights)
    variance = weighted_mean(deviation**2, data.weights)
    return explained_part(error, variance)


def explained_part(error: float, whole: float) -> float:
    """Return 1 - `error` / `whole`, the error without predictors; NaN if that is 0.

    What rounding leaves of 0 is 0.
    """
    if not whole > 0:
        return float("nan")
    part = 1.0 - float(error) / float(whole)
    return part if abs(part) > ROUNDING else 0.0


def confusion_table(fit: AnyFit, value: NDArray[np.float64]) -> pd.DataFrame:
    """Return the weights of rows by observed and predicted class, with error rates.

    Classes are predicted from the probabilities `value` (n, K); rows of NaN are left out.  Raises
    `InputError` for a regression.
    """
    classes = fit.design.response.classes
    if classes is None:
        raise InputError("confusion_matrix needs classes; for a regression see r_squared")
    K = len(classes)
    predicted = predicted_classes(value, fit.ordered)
    known = predicted >= 0
    cell = fit.data.y[known].astype(np.int64) * K + predicted[known]
    weights, unit = fit.data.weights[known], fit.data.weight_unit
    counts = np.bincount(cell, weights, minlength=K * K).reshape(K, K)
    largest = counts.sum(axis=1).max()
    whole = unit == 1.0 and (weights == np.rint(weights)).all() and largest < MOST_WHOLE
    return counts_of_classes(classes, counts * unit, bool(whole))
