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
    newdata : DataFrame, optional
        Rows to predict, with the columns that the formula uses.  The response is not needed,
        and other columns are ignored.  As in `odrf.odt`, of any library that narwhals knows.
        By default the training rows.
    type : str, default "response"
        - ``"response"``: the mean response (regression), or the class.  Classes are
          categorical: with the categories of the response, in their order, or else sorted.
        - ``"class"``: the most probable class, the first of ties.  With
          ``criterion="ordinal"`` the median: the first class with a cumulative probability of
          at least 1/2.  Its mean absolute difference in rank is the smallest.
        - ``"prob"``: a column of probabilities for each class.
        - ``"cumulative"``, for ordered classes: a column for each class but the last, with the
          probability of this class or a lower one.
        - ``"leaf"``: the number of the leaf that the row reaches, as in `ODTResults.nodes`; for
          a forest a column for each tree.
        - ``"trees"``: a column with the prediction of each tree.
    priors : mapping of class to number, or Series, optional
        The class shares π' in the population of these rows, if they differ from the weighted
        shares π in the training rows: a positive number for each class; they add up to 1.
        Probabilities are corrected by Bayes' rule, p'_k ∝ p_k·π'_k/π_k (Saerens, Latinne and
        Decaestecker 2002, equation (2.4)), and classes are predicted from these.  For the types
        ``"response"``, ``"class"``, ``"prob"`` and ``"cumulative"`` of classes; see
        `estimate_priors`.
    training : {"out-of-bag", "in-bag"}, optional
        How training rows are predicted, without `newdata`.  ``"out-of-bag"``, the default of
        fits that leave rows out: by the trees that did not draw the row (of boosted trees, by
        the runs).  These are forests of `odrf.odrf`, unless ``resample="none"``, boosted trees
        with several runs, and fits of `odrf.auto`.  ``"in-bag"``: by all trees, as if the row
        were new.  It is the default of all other fits, and too close to the responses of the
        training rows.
    progress : bool, default False
        Show a progress bar of the rows.

    Returns
    -------
    Series or DataFrame
        With the index of `newdata`.  With ``missing="drop"``, the prediction of a row with
        missing predictors is missing.  Out of bag, that of a row that every tree drew is
        missing, with a `UserWarning` unless the fit has `order`; for ``"trees"``, that of a
        tree that drew the row.  ``"leaf"`` gives the leaves in all trees in any case.

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
        If a factor of `newdata` has levels that no training row has, declared as categories or
        not: they count as missing values if the fit has ``missing="split"``, the default, or
        ``"surrogate"``; else the row is taken to have none of the known levels.  An ordered
        factor has a rank for each declared category, whether or not a row has it.
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
