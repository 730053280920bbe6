"""Predictions, out-of-bag errors and importances of a forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import exports, fits, plots, reports
from odrf.checks import is_word
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.predicting import checked_priors, predict_rows
from odrf.fits.pruning import stages_out_of_bag
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    require_out_of_bag,
    residuals,
)
from odrf.pruning.growth_stages import LEAVES
from odrf.public import in_partitions, public_method
from odrf.public.frames import is_partitioned
from odrf.results import absent
from odrf.results import importance as importances
from odrf.results.absent import known, out_of_bag_rows
from odrf.results.base import Label, Priors, Rows, Shares, Training, kept
from odrf.results.importance import ADJUST, KNOCKOFF, TEST, TEST_LEVEL, Drawing, require_no_test
from odrf.results.models import TreeResults

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from odrf.exports.mean_prediction import PredictionResults
    from odrf.reports.importance import MeasuredImportance
    from odrf.reports.paths import GrowthPath

# Predictions: means, classes, intervals and quantiles.

Interval = Literal["confidence", "prediction"]
Method = Literal["auto", "jackknife", "conformal", "quantile"]
Quantiles = float | Sequence[float]
Table = Shares | Literal["leaf", "quantile"]


class OfForests(TypedDict, total=False):
    """Options of `predict` that all predictions of a forest have."""

    priors: Priors
    training: Training
    progress: bool
    level: float
    method: Method


class OfIntervals(OfForests, total=False):
    """Options of intervals and quantiles, too."""

    interval: Interval | None
    quantiles: Quantiles | None


@overload
def predict(
    self: TreeResults, newdata: Rows = ..., type: Label = ..., **how: Unpack[OfForests]
) -> pd.Series: ...
@overload
def predict(
    self: TreeResults, newdata: Rows = ..., type: Table = ..., **how: Unpack[OfForests]
) -> pd.DataFrame: ...
@overload
def predict(
    self: TreeResults, newdata: Rows = ..., *, interval: Interval, **how: Unpack[OfForests]
) -> pd.DataFrame: ...
@overload
def predict(
    self: TreeResults,
    newdata: Rows = ...,
    type: Table = ...,
    *,
    quantiles: Quantiles,
    **how: Unpack[OfForests],
) -> pd.DataFrame: ...
@overload
def predict(
    self: TreeResults, newdata: Rows = ..., type: Label | Table = ..., **how: Unpack[OfIntervals]
) -> pd.Series | pd.DataFrame: ...
@in_partitions("newdata")
@predicting_rows_apart
def predict(
    self: TreeResults,
    newdata: Rows = None,
    type: Label | Table = "response",
    *,
    priors: Priors = None,
    interval: Interval | None = None,
    level: float = 0.95,
    method: Method = "auto",
    quantiles: Quantiles | None = None,
    training: Training = None,
    progress: bool = False,
) -> pd.Series | pd.DataFrame:
    """Predict new rows, or the training rows; for a regression, also intervals and quantiles.

    Parameters
    ----------
    {rows_to_predict}
    type : str, default "response"
        {about types_of_labels}
        {about types_of_trees}
        - ``"quantile"``: a column for each of the `quantiles`.
    {priors, training}
        Intervals and quantiles of training rows are out of bag, too: from the trees that did not
        sample the row.
    interval : {"confidence", "prediction"}, optional
        An interval for the forest's expectation over training samples, or for a new response.
        Numbers of survival curves have the former alone, and no quantiles; that of a probability is
        on the scale of the log odds, so that it stays between 0 and 1.
    {level}
    method : {"auto", "jackknife", "conformal", "quantile"}, default "auto"
        - ``"jackknife"``, for confidence: normal intervals by the jackknife after bootstrap
          (`odrf.statistics.jackknife`); of a fit with `groups` by Student's t.  They are for
          the forest's expectation, which differs from the regression function by the forest's
          bias.
        - ``"conformal"``, the default for prediction: from out-of-bag residuals, without
          assumptions on their distribution (`odrf.statistics.conformal`).  Of a fit with
          `groups`, they are for rows of new groups.  Of an interval that is empty, as can be at
          levels near 0, both ends are the same.
        - ``"quantile"``, for prediction: quantiles of the training responses in the row's
          leaves (`odrf.statistics.conformal`).
    {quantiles}
    progress : bool, default False
        Show a progress bar.  Prediction intervals of many training rows take longest.

    Returns
    -------
    Series or DataFrame
        {about predicted}

        With `interval`, the columns ``estimate``, ``conf_low``, ``conf_high`` and, for confidence,
        ``std_error``.  With few trees standard errors are imprecise and on average too large; then
        a `UserWarning` says how many trees are enough.  They are missing for training rows that
        fewer than two trees, in a blend of one kind, did not sample, and for no others.

    Raises
    ------
    InputError
        If an argument is invalid.  The message names it and says what to use.

    Notes
    -----
    The prediction of a data frame of Dask is a series or data frame of Dask: each partition is
    predicted on the worker that has it, when that is asked for.  It has no intervals or
    quantiles.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ .", data[:400], n_trees=50, seed=1)
    >>> new = forest.predict(data[400:], interval="prediction", level=0.9)
    >>> bool(data["progression"][400:].between(new["conf_low"], new["conf_high"]).mean() > 0.8)
    True
    """
    self._check_intervals(type, interval, quantiles)
    kind = fits.intervals.type_with_quantiles(type, quantiles, interval)
    request = fits.intervals.requested_interval(self.fit, kind, interval, level, method)
    if kind == "quantile" or request is not None:
        checked_priors(priors, self.design.response, kind)
    if is_partitioned(newdata):
        if kind == "quantile" or request is not None:
            raise InputError(
                "interval= and quantiles= are for a data frame in memory, not for one of Dask: "
                "predict its partitions one by one, as by newdata.partitions[0].compute()"
            )
        asked_out_of_bag(training, newdata, leaves_out=False)
        return fits.partitions.partitions_predicted(self.fit, newdata, kind, priors)
    rows = self._rows(newdata, training, kind)
    fit = cast(Fit, rows.fit)
    if kind == "quantile":
        levels = fits.intervals.QUANTILES if quantiles is None else quantiles
        return fits.intervals.quantile_frame(fit, rows, levels, progress)
    if request is None:
        return predict_rows(rows, kind, priors, progress)
    return fits.intervals.interval_frame(fit, rows, request, lambda: self._out_of_bag, progress)


@public_method
def get_prediction(
    self: TreeResults, newdata: pd.DataFrame | None = None, *, progress: bool = False
) -> PredictionResults:
    """Predict new rows, or the training rows, with what statsmodels gives for a regression.

    These are the predictions and intervals of `predict` in other words: see there for what
    the intervals mean.  They are not those of a linear model: there are no coefficients.

    Parameters
    ----------
    {rows_to_predict}
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    PredictionResults
        It has `summary_frame`, `conf_int`, `predicted_mean` and `se_mean`.

    Raises
    ------
    InputError
        If the fit is of classes, or no tree left a row out.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ .", data[:400], n_trees=50, seed=1)
    >>> frame = forest.get_prediction(data[400:]).summary_frame(level=0.9)
    >>> bool((frame["mean"] == forest.predict(data[400:])).all())
    True
    """
    fits.intervals.require_number(self.fit, "get_prediction()")
    rows = self._rows(newdata, None, "response")
    return exports.mean_prediction.PredictionResults(
        cast(Fit, rows.fit), rows, lambda: self._out_of_bag, progress
    )


# Out-of-bag errors.


def require_oob(self: TreeResults) -> None:
    """Raise `InputError` if every tree uses all rows, or the rows are not there."""
    absent.rows(self)
    require_out_of_bag(self.fit, "Out-of-bag results")


@known()
def oob_value(self: TreeResults) -> NDArray[np.float64]:
    """Out-of-bag means or class probabilities (n, K); NaN for rows without."""
    return self._out_of_bag.value


@known(out_of_bag_rows)
def oob_error(self: TreeResults) -> float:
    """Out-of-bag mean squared error, or misclassification rate."""
    return float(self._out_of_bag.error_path[-1])


@known(out_of_bag_rows)
def error_path(self: TreeResults) -> pd.Series:
    """Out-of-bag error of the first 1, 2, … trees."""
    path = self._out_of_bag.error_path
    index = pd.RangeIndex(1, len(path) + 1, name="trees")
    return pd.Series(path, index=index, name=f"out-of-bag {fits.scores.error_name(self.kind)}")


@public_method
def growth_path(
    self: TreeResults,
    newdata: pd.DataFrame | None = None,
    along: str = LEAVES,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> GrowthPath:
    """Return training and test error of the forest with its trees stopped at each size.

    The path of a pruned forest is that of the forest before pruning.

    Parameters
    ----------
    newdata : DataFrame, optional
        Test rows with responses; each counts once.  By default the out-of-bag rows.
    along : {"leaves", "depth"}, default "leaves"
        ``"leaves"``: each tree as it was when it had τ leaves, for τ = 1, 2, …, 30 and then about
        four values for each doubling of τ.  Of a forest that is no blend, the same call with
        ``max_leaves=τ``, ``blend=False`` and the same seed grows such a forest.  ``"depth"``: each
        tree without its splits below depth 0, 1, ….
    {n_jobs, progress}

    Returns
    -------
    GrowthPath
        With ``table``, ``best_size()``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If an option is unknown, if `newdata` lacks the response, a column or complete rows, or if
        no row is out of bag.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ .", data, n_trees=20, seed=1)
    >>> path = forest.growth_path(along="depth")
    >>> bool(path.table["test"].iloc[-1] == forest.oob_error)
    True
    """
    if newdata is None:
        require_out_of_bag(self.fit, "Growth paths without newdata=")
    out_of_bag = partial(stages_out_of_bag, progress=progress)
    by = "out-of-bag rows"
    return reports.paths.growth_path(self.fit, along, newdata, n_jobs, out_of_bag, by, progress)


def noise_residuals(self: TreeResults) -> NDArray[np.float64]:
    """Return the residuals that describe the noise best, out of bag; empty for classes."""
    if self.kind == "classification" or not leaves_rows_out(self.fit):
        return TreeResults._noise_residuals(self)
    resid = residuals(self.fit, self._oob_value)
    return resid[~np.isnan(resid)]


class WithErrorPath(Protocol):
    """Results of forests with an error path."""

    @property
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first 1, 2, … trees."""


def drawing(self: WithErrorPath) -> Drawing:
    """Return the name of the plot of the error path, and the function that draws it."""
    return "error", lambda panel: plots.fits.plot_error(self.error_path, panel)


# Importances, and tests of them.

PERMUTATION, BY_OUT_OF_BAG = "permutation", "out_of_bag"
OF_FORESTS = (PERMUTATION, BY_OUT_OF_BAG, KNOCKOFF)


@public_method
def importance(
    self: TreeResults,
    type: str | None = None,
    *,
    test: str = TEST,
    adjust: str | None = ADJUST,
    groups: Mapping[str, Sequence[str]] | None = None,
    level: float = TEST_LEVEL,
    progress: bool = False,
) -> pd.DataFrame:
    """Return the importance of each predictor, the most important first.

    Parameters
    ----------
    type : {"out_of_bag", "impurity", "permutation", "held_out", "conditional", "loco", \
"knockoff"}, optional
        By default ``"out_of_bag"``; if every tree uses all rows, ``"held_out"``, or
        ``"impurity"`` if there are too few rows to hold some out.

        - ``"out_of_bag"``: the decrease of the variance of the response (for classes, of the
          Gini index) by the splits on the predictor, evaluated by the rows that each tree did
          not sample (Li et al. 2019).  For splits without a relation to the response it is 0 on
          average, whether on numbers or on a factor of many levels.  It may be below 0.
        {about impurity}
        - ``"permutation"``: the increase of a tree's out-of-bag loss (squared error, or
          misclassification) when the predictor's values are permuted: the mean over the trees.
          Where predictors are strongly correlated, permuting makes rows that do not occur:
          see ``"conditional"``.
        - ``"held_out"``: the same decrease as for ``"out_of_bag"``.  If every tree uses all rows,
          half of the trees are grown again on each half of the rows, and evaluated by the other
          half.
        {about tests_of_variables}
        - ``"knockoff"``: each predictor compared with its knockoff, as in `select_variables`.

        {about splits_on_several}
    {test, adjust, groups_tested, level_of_tests}
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    DataFrame
        Index: predictors as in the formula; a factor is one.  Columns: ``importance``; for
        all but permutation ``share``, its share of the sum of those above 0; for permutation
        ``std_error``, the standard error of the mean over rows and trees, and
        ``monte_carlo_error``, the part of it that more trees make small.  The standard error is
        for this forest: it tells whether a predictor matters to it, not how the importance
        would vary with another sample.  For tests the columns of `ODTResults.importance`; for
        knockoffs these, too, with ``estimate`` the difference of the importances of predictor
        and knockoff, ``p_adjusted`` the smallest false discovery rate at which the predictor is
        selected, and NaN elsewhere.

    Raises
    ------
    InputError
        If `type` is unknown, or if it needs out-of-bag rows and there are none; as in
        `ODTResults.importance`.

    Warns
    -----
    UserWarning
        For permutation: two predictors are strongly correlated.

    Notes
    -----
    {about notes_on_tests}

    References
    ----------
    {about references_of_importances}
    """
    if isinstance(type, str) and type in OF_FORESTS:
        require_no_test(test, adjust, groups, level)
    if is_word(type, PERMUTATION):
        require_out_of_bag(self.fit, "Permutation importances")
        if "_permutation_table" not in vars(self):
            reports.importance_tests.warn_of_correlation(self.fit)
        return kept(
            self,
            "_permutation_table",
            lambda: reports.importance.permutation_table(self.fit, progress),
        ).copy()
    if is_word(type, BY_OUT_OF_BAG):
        require_out_of_bag(self.fit, "Out-of-bag importances")
        return importances.out_of_bag(self, progress).copy()
    if is_word(type, KNOCKOFF):
        return reports.importance_tests.knockoff_table(self.fit)
    return importances.importance(
        self, type, test=test, adjust=adjust, groups=groups, level=level, progress=progress
    )


def measured(self: TreeResults, progress: bool = False) -> MeasuredImportance:
    """Return the importances that are shown first: out of bag, if rows are."""
    if not leaves_rows_out(self.fit):
        return importances.measured(self, progress)
    table = importances.out_of_bag(self, progress)
    return reports.importance.evaluated_measured(self.fit, table, reports.importance.OUT_OF_BAG)
