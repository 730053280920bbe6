"""Results of boosted oblique trees."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import plots
from odrf.checks import checked_jobs, checked_whole
from odrf.engine.boosting.sums import added_up_by_round
from odrf.engine.trees.prediction_rule import predicted_classes
from odrf.errors import InputError, allowed
from odrf.fits.boosted_fit import BoostedFit, enlarged_boosted_fit
from odrf.fits.out_of_bag_values import boosted_error, boosted_out_of_bag
from odrf.fits.prediction.labels import class_labels, spread_numbers
from odrf.fits.prediction.predicting import (
    RowsToPredict,
    as_asked,
    predict_rows,
    require_classes,
    rows_of,
)
from odrf.fits.prediction.prior_correction import checked_priors, with_priors
from odrf.fits.prediction.scores import mean_loss
from odrf.options.boosting_control import BoostingControl
from odrf.reports.boosted_summary import boosted_card, boosted_summary, loss_path
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.consistency_facts import facts_of_boosted
from odrf.results.fitted import Priors
from odrf.results.out_of_bag import OutOfBagResults
from odrf.results.panelled import Drawing, Panelled
from odrf.text.summary import Summary

__all__ = ["ODBTResults"]

PREDICTIONS = ("response", "class", "prob", "cumulative", "link", "leaf")


class ODBTResults(OutOfBagResults, Panelled):
    """Fitted boosted oblique trees.

    Parameters
    ----------
    fit : BoostedFit
        Design, data, options and the trees.

    Attributes
    ----------
    fit : BoostedFit

    Examples
    --------
    >>> import odrf
    >>> fit = odrf.odbt("progression ~ .", odrf.load_data("diabetes"), n_trees=20, seed=1)
    >>> fit.loss_path["training"].is_monotonic_decreasing
    True
    """

    fit: BoostedFit

    def __init__(self, fit: BoostedFit) -> None:
        self.fit = fit

    @property
    def control(self) -> BoostingControl:
        """Every option of the fit, resolved."""
        return self.fit.control

    @property
    def n_rounds(self) -> int:
        """Rounds that are kept, each with a tree for every output of every run."""
        return self.fit.n_rounds

    @property
    def held_out(self) -> pd.Series:
        """Which rows were held out to choose the number of rounds."""
        return pd.Series(self.fit.held, index=self.fit.data.index, name="held_out")

    @cached_property
    def loss_path(self) -> pd.DataFrame:
        """Mean loss after 0, 1, 2, … rounds, those included that are not kept.

        ``training``: of the rows that the trees were grown on; ``validation``: of those held out,
        if there are any, or ``out-of-bag``: of each row by the runs that did not draw it, where
        there are several.  The loss is half the squared error or half the Poisson deviance, the
        absolute error, Huber's loss at the δ of deviations from the median, or the negative
        log-likelihood.
        """
        return loss_path(self.fit)

    @cached_property
    def training_error(self) -> float:
        """Mean squared error or misclassification rate of all rows, those held out included."""
        return mean_loss(self.fit, self._fitted)

    @cached_property
    def _fitted(self) -> NDArray[np.float64]:
        return self.fit.loss.means(self.fit.scores(self.fit.data.X, self.fit.offset.values))

    @cached_property
    def _oob_value(self) -> NDArray[np.float64]:
        return boosted_out_of_bag(self.fit)

    @property
    def oob_error(self) -> float:
        """Mean squared error or misclassification rate of the predictions out of bag.

        Raises
        ------
        InputError
            If there is one run only, or all runs drew all rows.
        """
        return boosted_error(self.fit, self._oob_value)

    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        offset: str | ArrayLike | None = None,
        priors: Priors = None,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict.  It needs the columns that the formula uses, the response aside;
            others are ignored.  By default the training rows.
        type : str, default "response"
            - ``"response"``: the mean response (with the absolute loss its median), or the class.
            - ``"class"``: the most probable class, the first of them if tied; by the ordinal loss
              the median, the first class up to which at least half of the probability lies.
            - ``"prob"``: a column of probabilities for each class.
            - ``"cumulative"``: of ordered classes, a column for each but the last with the
              probability of this class or one below it.
            - ``"link"``: what the trees add up to: the response itself, the logarithm of a
              Poisson mean, the log odds of the second of two classes; with the multinomial loss a
              column for each class, whose differences are log odds; with the ordinal loss a column
              for each class but the last with the log odds of being above it.
            - ``"leaf"``: a column for each tree with the number of the leaf that the row reaches.
              Where rows have K scores, by the multinomial and the ordinal loss, tree b is of that
              numbered b modulo K; rounds follow each other, and the runs in each round.
        offset : str, array-like or float, optional
            Offsets of the new rows: a column of `newdata`, one number for each row, or one for
            all.  By default those in the column that the fit's ``offset=`` named.
        priors : mapping of class to number, or Series, optional
            As in `ODTResults.predict`.

        Returns
        -------
        Series or DataFrame
            On the index of `newdata`.  With ``missing="drop"``, rows with missing predictors
            are missing in the prediction too.

        Raises
        ------
        InputError
            If `type` is none of these, or needs classes where there are none; if `newdata`
            lacks a column, or holds values that the fit knows nothing of; if offsets are missing.
        """
        if type not in PREDICTIONS:
            raise allowed("type", type, PREDICTIONS)
        require_classes(self.design.response, type)
        shares = checked_priors(priors, self.design.response, type)
        rows = rows_of(self.fit, newdata)
        if type == "leaf":
            return predict_rows(self.fit, rows, type)
        scores = self.fit.scores(rows.X, self._offsets(newdata, rows, offset))
        if type == "link":
            return self._link(rows, scores)
        value = with_priors(self.fit, self.fit.loss.means(scores), shares)
        value = spread_numbers(value, rows.complete)
        return as_asked(self.fit, value, rows.index, type)

    def _offsets(
        self, newdata: pd.DataFrame | None, rows: RowsToPredict, offset: str | ArrayLike | None
    ) -> NDArray[np.float64]:
        """Return the offsets of the complete rows."""
        if newdata is None:
            if offset is not None:
                raise InputError("offset= goes with newdata=: the training rows have theirs")
            return self.fit.offset.values
        values = self.fit.offset.of(newdata, offset)[rows.complete]
        if np.isnan(values).any():
            raise InputError(
                f"offset is missing for {np.isnan(values).sum()} rows: give every row a number"
            )
        return values

    def _link(self, rows: RowsToPredict, scores: NDArray[np.float64]) -> pd.Series | pd.DataFrame:
        value = spread_numbers(scores.T, rows.complete)
        if self.classes is None or self.fit.loss.binary:
            return pd.Series(value[:, 0], index=rows.index, name="link")
        return pd.DataFrame(value, index=rows.index, columns=self.classes[: value.shape[1]])

    def staged_predict(
        self, newdata: pd.DataFrame | None = None, *, offset: str | ArrayLike | None = None
    ) -> pd.DataFrame:
        """Predict rows as each round would have it if it were the last.

        Parameters
        ----------
        newdata, offset
            As in `predict`.

        Returns
        -------
        DataFrame
            A column for each round, from 1: the response, or the class.  The last is what
            `predict` says.

        Raises
        ------
        InputError
            If `newdata` lacks a column, or holds values that the fit knows nothing of.
        """
        fit, rows = self.fit, rows_of(self.fit, newdata)
        known = self._offsets(newdata, rows, offset)
        boosted, n_jobs = fit.boosted, fit.control.n_jobs
        by_round = added_up_by_round(boosted.forest, boosted.stages, rows.X, boosted.starts, n_jobs)
        said: dict[int, Any] = {}
        for r, scores in enumerate(by_round, start=1):
            value = spread_numbers(fit.loss.means(scores + known), rows.complete)
            if self.classes is None:
                said[r] = value[:, 0]
            else:
                said[r] = class_labels(predicted_classes(value, fit.ordered), self.classes)
        table = pd.DataFrame(said, index=rows.index)
        return table.rename_axis(columns="round")

    def grow(self, k: int, *, progress: bool = False, n_jobs: int | None = None) -> ODBTResults:
        """Return the fit with `k` more rounds, bit for bit as if all had been grown at once.

        Parameters
        ----------
        k : int
            How many rounds to add.
        progress : bool, default False
            Show a progress bar.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.

        Returns
        -------
        ODBTResults
            A new one; this stays as it is.

        Raises
        ------
        InputError
            If `k` is no whole number of at least 1, or if rows held out or out of bag have chosen
            the number of rounds.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> fit = odrf.odbt("progression ~ .", data, n_trees=5, seed=1).grow(5)
        >>> once = odrf.odbt("progression ~ .", data, n_trees=10, seed=1)
        >>> fit.predict().equals(once.predict())
        True
        """
        threads = self.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        return ODBTResults(
            enlarged_boosted_fit(self.fit, checked_whole("k", k, 1), threads, progress)
        )

    def consistency(self) -> ConsistencyReport:
        """Ask which theorem covers this fit: none that the package knows, and why.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.
        """
        return ConsistencyReport(self.fit, facts_of_boosted(self.fit), self._noise_residuals())

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals of rows held out: those of the others are too small."""
        if self.kind == "classification":
            return np.empty(0)
        return self.resid.to_numpy()[self.fit.held]

    def summary(self) -> Summary:
        """Return a summary: data, options, the path of the loss, importances."""
        return boosted_summary(self.fit, self._fitted, self._known_out_of_bag)

    @property
    def _known_out_of_bag(self) -> NDArray[np.float64] | None:
        return self._oob_value if self.control.n_runs > 1 else None

    def _drawing(self) -> Drawing:
        path, kept, loss = self.loss_path, self.n_rounds, self.control.loss
        return "loss", lambda panel: plots.plot_loss(path, kept, loss, panel)

    def __repr__(self) -> str:
        return boosted_card(self.fit, self._fitted, self._known_out_of_bag)
