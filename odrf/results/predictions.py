"""Predictions of trees, and of single rows; the class shares of new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import pandas as pd

from odrf.checks import checked_choice
from odrf.fits import predicting
from odrf.fits.predicting import PREDICTIONS, RowPredictor, predict_rows
from odrf.fits.responses import predicting_rows_apart
from odrf.public import public, public_method
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
    self: FittedResults, newdata: Rows = ..., type: Label = ..., **options: Unpack[OfRows]
) -> pd.Series: ...
@overload
def predict(
    self: FittedResults, newdata: Rows = ..., *, type: Shares, **options: Unpack[OfRows]
) -> pd.DataFrame: ...
@overload
def predict(
    self: FittedResults, newdata: Rows, type: Shares, **options: Unpack[OfRows]
) -> pd.DataFrame: ...
@overload
def predict(
    self: FittedResults, newdata: Rows = ..., type: Prediction = ..., **options: Unpack[OfRows]
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
    distribution of the predictors must be the same.  The shares are estimated by maximum
    likelihood with the EM algorithm (Saerens, Latinne and Decaestecker 2002, equation (2.9)),
    from the fit's predicted probabilities.  Use forests or boosted trees: the probabilities of
    a single tree are too extreme.  From very few rows the estimate is imprecise.

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
    M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to
    new a priori probabilities: a simple procedure. Neural Computation 14, 21-41.

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
        A function of the raw values in the order of its `predictors`, or of a mapping from
        their names to values.

    Raises
    ------
    InputError
        If `type` is unknown, or needs classes in a regression; if the formula has terms that
        are not columns of the data, such as ``log(a)``; if the fit has no training rows.

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
