"""Predictions of a forest: means, classes, intervals and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pandas as pd

from odrf.errors import InputError
from odrf.exports.mean_prediction import PredictionResults
from odrf.fits.fit import Fit
from odrf.fits.intervals import (
    LEVEL,
    QUANTILES,
    interval_frame,
    quantile_frame,
    requested_interval,
    require_number,
    type_with_quantiles,
)
from odrf.fits.partitions import partitions_predicted
from odrf.fits.predicting import checked_priors, predict_rows
from odrf.fits.responses import asked_out_of_bag, predicting_rows_apart
from odrf.public import in_partitions
from odrf.public.frames import is_partitioned
from odrf.results.fitted import Priors
from odrf.results.forest_out_of_bag import ForestOutOfBag

__all__ = ["ForestPredicting"]


class ForestPredicting(ForestOutOfBag):
    """The predictions of `ODRFResults`."""

    @in_partitions("newdata")
    @predicting_rows_apart
    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        priors: Priors = None,
        interval: str | None = None,
        level: float = LEVEL,
        method: str = "auto",
        quantiles: float | Sequence[float] | None = None,
        training: str | None = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows; for a regression, also intervals and quantiles.

        Parameters
        ----------
        newdata, type, priors, training
            As in `ODTResults.predict`; ``type="quantile"`` gives a column for each quantile.
            Intervals and quantiles of training rows are out of bag, too: from the trees that did
            not draw the row.
        interval : {"confidence", "prediction"}, optional
            An interval for the forest's expectation over training samples, or for a new response.
        level : float, default 0.95
            Nominal coverage of the intervals.
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
        quantiles : float or sequence of float, optional
            Probabilities above 0 and below 1.  They imply ``type="quantile"``, whose default they
            are (0.05, 0.5, 0.95).
        progress : bool, default False
            Show a progress bar.  Prediction intervals of many training rows take longest.

        Returns
        -------
        Series or DataFrame
            With `interval`, the columns ``estimate``, ``conf_low``, ``conf_high`` and, for
            confidence, ``std_error``.  With few trees standard errors are imprecise and on average
            too large; then a `UserWarning` says how many trees are enough.  They are missing for
            training rows that fewer than two trees, in a blend of one kind, did not draw, and for
            no others.

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
        type = type_with_quantiles(type, quantiles, interval)
        request = requested_interval(self.fit, type, interval, level, method)
        if type == "quantile" or request is not None:
            checked_priors(priors, self.design.response, type)
        if is_partitioned(newdata):
            if type == "quantile" or request is not None:
                raise InputError(
                    "interval= and quantiles= are for a data frame in memory, not for one of Dask: "
                    "predict its partitions one by one, as by newdata.partitions[0].compute()"
                )
            asked_out_of_bag(training, newdata, leaves_out=False)
            return partitions_predicted(self.fit, newdata, type, priors)
        rows = self._rows(newdata, training, type)
        fit = cast(Fit, rows.fit)
        if type == "quantile":
            levels = QUANTILES if quantiles is None else quantiles
            return quantile_frame(fit, rows, levels, progress)
        if request is None:
            return predict_rows(rows, type, priors, progress)
        return interval_frame(fit, rows, request, lambda: self._out_of_bag, progress)

    def get_prediction(
        self, newdata: pd.DataFrame | None = None, *, progress: bool = False
    ) -> PredictionResults:
        """Predict new rows, or the training rows, with what statsmodels gives for a regression.

        These are the predictions and intervals of `predict` in other words: see there for what
        the intervals mean.  They are not those of a linear model: there are no coefficients.

        Parameters
        ----------
        newdata : DataFrame, optional
            As in `predict`.
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
        require_number(self.fit, "get_prediction()")
        rows = self._rows(newdata, None, "response")
        return PredictionResults(cast(Fit, rows.fit), rows, lambda: self._out_of_bag, progress)
