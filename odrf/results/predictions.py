"""Predictions of new rows, and of training rows out of bag, with their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits
from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits import predicting
from odrf.fits.predicting import PREDICTIONS, RowPredictor, as_prob, as_response, predict_rows
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    warn_of_rows_always_drawn,
    with_rows_apart,
)
from odrf.public import public, public_method
from odrf.results.absent import (
    classes,
    known,
    numbers,
    ordered_classes,
    out_of_bag_rows,
    rows,
    scores,
)
from odrf.results.base import (
    FittedResults,
    Label,
    OfRows,
    Prediction,
    Priors,
    Rows,
    Shares,
    Training,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def predict(
    self: FittedResults, newdata: Rows = ..., type: Label = ..., **how: Unpack[OfRows]
) -> pd.Series: ...
@overload
def predict(
    self: FittedResults, newdata: Rows = ..., type: Shares = ..., **how: Unpack[OfRows]
) -> pd.DataFrame: ...
@overload
def predict(
    self: FittedResults, newdata: Rows = ..., type: Prediction = ..., **how: Unpack[OfRows]
) -> pd.Series | pd.DataFrame: ...
@public
@predicting_rows_apart
def predict(
    self: FittedResults,
    newdata: Rows = None,
    type: Prediction = "response",
    *,
    priors: Priors = None,
    training: Training = None,
    progress: bool = False,
) -> pd.Series | pd.DataFrame:
    """Predict new rows, or the training rows.

    Parameters
    ----------
    {rows_to_predict}
    type : str, default "response"
        {about types_of_labels}
        {about types_of_trees}
    {priors, training, progress_of_rows}

    Returns
    -------
    Series or DataFrame
        {about predicted}

    Raises
    ------
    InputError
        If `type` is unknown, or needs classes in a regression; if `newdata` lacks a column or
        has categories of an ordered factor that were not declared; if `priors` are not one
        positive number for each class, or do not add up to 1; if `training` is unknown, is
        given with `newdata`, or asks for out-of-bag predictions of a fit that leaves no rows
        out.

    Warns
    -----
    UserWarning
        {about unknown_levels}
    """
    checked_choice("type", type, PREDICTIONS)
    return predict_rows(self._rows(newdata, training, type), type, priors, progress)


@public_method
def estimate_priors(
    self: FittedResults, newdata: pd.DataFrame, *, max_steps: int = 1000, tolerance: float = 1e-8
) -> pd.Series:
    """Estimate the class shares in the population of unlabelled rows.

    The class shares may differ from those of the training rows, but within each class the
    distribution of the predictors must be the same.  The shares are estimated by maximum likelihood
    with the EM algorithm (Saerens, Latinne and Decaestecker 2002, equation (2.9)), from the fit's
    predicted probabilities.  Use forests or boosted trees: the probabilities of a single tree are
    too extreme.  From very few rows the estimate is imprecise.

    Parameters
    ----------
    newdata : DataFrame
        The rows, as in `predict`; rows with missing predictors are left out.
    max_steps : int, default 1000
        Most EM steps.
    tolerance : float, default 1e-8
        The algorithm stops when no share changes by more.

    Returns
    -------
    Series
        One share for each class, to be used as ``predict(priors=)``.

    Raises
    ------
    InputError
        If the fit is a regression, there are no complete rows, or an option is out of range.

    Warns
    -----
    UserWarning
        If the shares have not converged after `max_steps`.

    References
    ----------
    M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to new
    a priori probabilities: a simple procedure. Neural Computation 14, 21-41.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> fit = odrf.odrf("diagnosis ~ .", data[::2], n_trees=50, seed=1)
    >>> new = data[1::2].query("diagnosis == 'malignant' or mean_radius < 11")
    >>> priors = fit.estimate_priors(new)
    >>> bool(abs(priors["malignant"] - (new["diagnosis"] == "malignant").mean()) < 0.05)
    True
    """
    predicting.require_priors(self.design.response, "estimate_priors()")
    shares = self.predict(newdata, type="prob").dropna().to_numpy()
    return predicting.priors_of_rows(self.fit, shares, max_steps, tolerance)


def row_predictor(self: FittedResults, type: str = "response") -> RowPredictor:
    """Return a function that predicts one row at a time, in microseconds.

    Parameters
    ----------
    type : {"response", "class", "prob"}, default "response"
        What the function returns for a row, as in `predict`.

    Returns
    -------
    RowPredictor
        A function of the raw values in the order of its `predictors`, or of a mapping from their
        names to values.

    Raises
    ------
    InputError
        If `type` is unknown, or needs classes in a regression; if the formula has terms that are
        not columns of the data, such as ``log(a)``; if the fit has no training rows.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ bmi + bp + sex", data, n_trees=20, seed=1)
    >>> progression = fit.row_predictor()
    >>> progression.predictors
    ('bmi', 'bp', 'sex')
    >>> bool(progression(data.loc[0]) == fit.predict(data)[0])
    True
    """
    return predicting.row_predictor(self.fit, type)


@known(rows, kept=True)
def training_error(self: FittedResults) -> float:
    """Error of the training rows, predicted by all trees.

    Mean squared error, or misclassification rate, weighted by case weights.  It is smaller than the
    error of new rows.  Rows that boosting held out by ``validation=`` are training rows, too; the
    summary tells the errors of both apart.
    """
    return fits.scores.mean_loss(self.fit, self._in_bag)


@known(numbers, scores)
def r_squared(self: FittedResults) -> float:
    """R²: share of the response's variance in the training rows that is explained.

    Of forests of `odrf.odrf`, of boosted trees with several runs, and of `odrf.auto`, by out-of-bag
    predictions.  NaN if the variance is so small that it is rounded to 0.

    Raises
    ------
    InputError
        For classes; for a forest in which no rows are out of bag.
    """
    return fits.scores.r_squared(self.fit, self._scored_error)


@known(classes, scores)
def confusion_matrix(self: FittedResults) -> pd.DataFrame:
    """Confusion matrix of the training rows: observed classes down, predicted classes across.

    Of forests of `odrf.odrf`, of boosted trees with several runs, and of `odrf.auto`, the
    predictions are out of bag; rows without one are left out.  Entries are sums of case weights.
    The column ``error`` (``error_`` if a class is called so) is the error rate of each class.

    Raises
    ------
    InputError
        For a regression; for a forest in which no rows are out of bag.
    """
    return fits.scores.confusion_table(self.fit, self._scored)


@known(ordered_classes, scores)
def mean_rank_error(self: FittedResults) -> float:
    """Mean absolute difference in rank between predicted and observed class, for ordered ones.

    The mean is weighted by case weights.  The predictions are those of `confusion_matrix`.

    Raises
    ------
    InputError
        If the classes are not ordered; for a forest in which no rows are out of bag.
    """
    return fits.scores.mean_rank_error(self.fit, self._scored)


@known(out_of_bag_rows)
def oob_prediction(self: FittedResults) -> pd.Series:
    """Prediction of each training row by the trees that did not sample it.

    For boosted trees, by the runs that did not sample it.  Numbers or classes; missing for rows
    that all trees, or runs, sampled.  No tree samples rows of weight 0; of a fit with `groups` or
    `order` theirs are missing.

    Raises
    ------
    InputError
        If every tree uses all rows, or boosted trees have only one run.
    """
    predicted = as_response(self.fit, self._oob_value, self.fit.data.index)
    return with_rows_apart(self.fit, predicted, self._as_new, out_of_bag=True)


def _probabilities(self: FittedResults) -> None:
    if self.classes is None:
        raise InputError("oob_prob needs classes; for a regression see oob_prediction")


@known(_probabilities, out_of_bag_rows)
def oob_prob(self: FittedResults) -> pd.DataFrame:
    """Out-of-bag probabilities of the classes.

    Raises
    ------
    InputError
        For a regression, or if there are no rows out of bag.
    """
    probabilities = as_prob(self.fit, self._oob_value, self.fit.data.index)

    def as_new(rows: pd.DataFrame) -> pd.DataFrame:
        return self.predict(rows, type="prob")

    return with_rows_apart(self.fit, probabilities, as_new, out_of_bag=True)


def values_asked(
    self: FittedResults, newdata: Rows, training: str | None
) -> NDArray[np.float64] | None:
    """Return the values (n, K) of training rows that are asked out of bag; else None."""
    leaves_out = newdata is None and leaves_rows_out(self.fit)
    if not asked_out_of_bag(training, newdata, leaves_out):
        return None
    structure = self.fit.data.structure
    if structure is None or structure.order is None:  # in time, early rows are never out of bag
        warn_of_rows_always_drawn(self._oob_value, self._drawn_by)
    return self._oob_value
