"""Results of boosted oblique trees."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import plots, reports
from odrf.checks import MOST, checked_choice, checked_jobs, checked_whole, require_default
from odrf.engine.boosting.runs import added_up_by_round, out_of_bag_by_round
from odrf.engine.trees.forest import predicted_classes
from odrf.fits.fit import BoostedFit, enlarged_boosted_fit
from odrf.fits.predicting import (
    RowsToPredict,
    as_asked,
    checked_priors,
    class_labels,
    offsets_of_rows,
    predict_rows,
    require_classes,
    spread_numbers,
    with_priors,
)
from odrf.fits.responses import (
    boosted_error,
    boosted_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    residuals,
    rows_missed,
    with_rows_apart,
)
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.results.base import AnyResults, Priors
from odrf.results.forest_predictions import OutOfBagResults
from odrf.results.shapley import ShapleyResults
from odrf.results.tree import SurrogateTreeResults
from odrf.results.trees import Drawing, Panelled, PixelResults, ResultsWithoutData, SeveralTrees
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.reports.consistency import ConsistencyReport


# ------------------------------------------------------------------------------------------------
# What all boosted trees tell of their rounds, whatever the response.
# ------------------------------------------------------------------------------------------------


class RoundsOfTrees(AnyResults):
    """Base class of the results of boosted trees.

    Parameters
    ----------
    fit : BoostedFit
        Design, data, options and trees.
    """

    fit: BoostedFit

    @property
    def control(self) -> ResolvedBoostingOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def n_rounds(self) -> int:
        """Number of rounds that are kept; a round has a tree for every score of every run."""
        return self.fit.n_rounds

    @property
    def held_out(self) -> pd.Series:
        """True for the training rows that were held out to choose the number of rounds."""
        held = pd.Series(self.fit.held, index=self.fit.data.index, name="held_out")
        return with_rows_apart(self.fit, held, _not_held_out, out_of_bag=False)

    @cached_property
    def loss_path(self) -> pd.DataFrame:
        """Mean loss after 0, 1, 2, … rounds, including rounds that are not kept.

        Column ``training`` is the loss on the rows that the trees were grown on.  If rows were held
        out, ``validation`` is the loss on these; otherwise, with several runs, ``out-of-bag`` is
        the loss of each row by the runs that did not draw it.  The loss is half the squared error,
        the absolute error, the Huber loss with the δ of the deviations from the median, half the
        Poisson deviance, or the negative log-likelihood, with the ordinal loss the sum of those of
        being above each class; for times to an event the negative log
        partial likelihood among these rows, or their negative log-likelihood, divided by the sum of
        their weights.
        """
        return reports.summaries.loss_path(self.fit)


def _not_held_out(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(False, index=rows.index, name="held_out")


# ------------------------------------------------------------------------------------------------
# Results of boosted oblique trees.
# ------------------------------------------------------------------------------------------------

PREDICTIONS = ("response", "class", "prob", "cumulative", "link", "leaf")


class ODBTResults(
    RoundsOfTrees,
    ResultsWithoutData,
    OutOfBagResults,
    SeveralTrees,
    PixelResults,
    Panelled,
    SurrogateTreeResults,
    ShapleyResults,
):
    """Fitted boosted oblique trees, as returned by `odrf.odbt`.

    Parameters
    ----------
    fit : BoostedFit
        Design, data, options and trees.

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
    _drawn_by = "run"

    def __init__(self, fit: BoostedFit) -> None:
        self.fit = fit

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return self.fit.loss.means(self.fit.scores(self.fit.data.X, self.fit.offset.values))

    @cached_property
    def _oob_scores(self) -> NDArray[np.float64]:
        """Scores (K, n) of the training rows by the runs that did not draw them."""
        return boosted_out_of_bag(self.fit)

    @cached_property
    def _oob_value(self) -> NDArray[np.float64]:
        return self.fit.loss.means(self._oob_scores)

    @property
    def _scored(self) -> NDArray[np.float64]:
        return self._oob_value if self.control.n_runs > 1 else self._in_bag

    @property
    def _scored_error(self) -> float:
        return self.oob_error if self.control.n_runs > 1 else self.training_error

    @property
    def oob_error(self) -> float:
        """Mean squared error or misclassification rate of the out-of-bag predictions.

        Raises
        ------
        InputError
            If there is only one run, or every run drew every row.
        """
        return boosted_error(self.fit, self._oob_value)

    @public
    @predicting_rows_apart
    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        offset: str | ArrayLike | None = None,
        priors: Priors = None,
        training: str | None = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict, with the columns that the formula uses.  The response is not needed,
            and other columns are ignored.  By default the training rows.
        type : str, default "response"
            - ``"response"``: the mean response (with the absolute loss its median), or the class.
              Classes are categorical: with the categories of the response, or else sorted.
            - ``"class"``: the most probable class, the first of ties.  With the ordinal loss the
              median: the first class with a cumulative probability of at least 1/2.
            - ``"prob"``: a column of probabilities for each class.
            - ``"cumulative"``, for ordered classes: a column for each class but the last, with the
              probability of this class or a lower one.
            - ``"link"``: the score, which is the sum of the trees: the response itself, the
              logarithm of a Poisson mean, or the log odds of the second of two classes.  With the
              multinomial loss a column for each class, whose differences are log odds; with the
              ordinal loss a column for each class but the last, with the log odds of a higher
              class.
            - ``"leaf"``: a column for each tree with the number of the leaf that the row reaches.
              Trees are ordered by round, then run, then score: where rows have K scores (with the
              multinomial and the ordinal loss), tree b belongs to score b modulo K.
        offset : str, array-like or float, optional
            Offsets of the new rows: a column of `newdata`, one number for each row (of a Series by
            its labels), or one for all.  By default the column that ``offset=`` named in the fit.
        priors, training
            As in `ODTResults.predict`.  With one run, training rows are predicted by all trees;
            rows that were held out took part only in the choice of the number of rounds.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`.  With ``missing="drop"``, the prediction of a row with
            missing predictors is missing.  Out of bag, that of a row that every run drew is
            missing, with a `UserWarning`.

        Raises
        ------
        InputError
            If `type` is unknown, or needs classes in a regression; if `newdata` lacks a column or
            has categories of an ordered factor that were not declared; if offsets are missing; if
            `priors` or `training` are invalid.

        Warns
        -----
        UserWarning
            If a factor has levels that no training row has, as in `ODTResults.predict`.
        """
        checked_choice("type", type, PREDICTIONS)
        require_classes(self.design.response, type)
        shares = checked_priors(priors, self.design.response, type)
        rows = self._rows(newdata, training, type)
        if type == "leaf":
            require_default("offset", offset, None, "predictions of scores")
            return predict_rows(rows, type, progress=progress)
        offsets = offsets_of_rows(self.fit, newdata, rows, offset)
        scores = self._scores(rows, offsets, progress) if rows.oob is None else self._oob_scores
        if type == "link":
            return self._link(rows, scores)
        value = with_priors(self.fit, self.fit.loss.means(scores), shares)
        value = spread_numbers(value, rows.complete)
        return as_asked(self.fit, value, rows.index, type)

    def _scores(
        self, rows: RowsToPredict, offsets: NDArray[np.float64], progress: bool
    ) -> NDArray[np.float64]:
        """Return the scores (K, m) of the complete rows."""
        with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
            return cast(BoostedFit, rows.fit).scores(rows.X, offsets, bar.update)

    def _link(self, rows: RowsToPredict, scores: NDArray[np.float64]) -> pd.Series | pd.DataFrame:
        value = spread_numbers(scores.T, rows.complete)
        if self.classes is None or self.fit.loss.binary:
            return pd.Series(value[:, 0], index=rows.index, name="link")
        return pd.DataFrame(value, index=rows.index, columns=self.classes[: value.shape[1]])

    def staged_predict(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        offset: str | ArrayLike | None = None,
        training: str | None = None,
    ) -> pd.DataFrame:
        """Predict rows after each round, as if it were the last.

        Parameters
        ----------
        newdata, offset, training
            As in `predict`.

        Returns
        -------
        DataFrame
            A column for each round, from 1, with the response or the class.  The last column equals
            the result of `predict`.

        Raises
        ------
        InputError
            If `newdata` lacks a column, or has categories of an ordered factor that are not
            declared; if offsets are missing.
        """
        rows = self._rows(newdata, training, "response")
        fit, offsets = cast(BoostedFit, rows.fit), offsets_of_rows(self.fit, newdata, rows, offset)
        boosted, n_jobs = fit.boosted, fit.control.n_jobs
        trees = boosted.forest, boosted.stages, rows.X, boosted.starts
        if rows.oob is None:
            by_round = added_up_by_round(*trees, n_jobs)
        else:
            by_round = out_of_bag_by_round(*trees, rows_missed(fit), n_jobs)
        predictions: dict[int, Any] = {}
        for r, scores in enumerate(by_round, start=1):
            value = spread_numbers(fit.loss.means(scores + offsets), rows.complete)
            if self.classes is None:
                predictions[r] = value[:, 0]
            else:
                predictions[r] = class_labels(
                    predicted_classes(value, fit.ordered), self.design.response
                )
        table = pd.DataFrame(predictions, index=rows.index)
        return table.rename_axis(columns="round")

    def grow(self, k: int, *, n_jobs: int | None = None, progress: bool = False) -> ODBTResults:
        """Return the fit with `k` more rounds, bit for bit as if all had been grown at once.

        Parameters
        ----------
        k : int
            Number of rounds to add.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODBTResults
            A new result; this one does not change.

        Raises
        ------
        InputError
            If `k` is not a whole number of at least 1, or if the number of rounds was chosen by
            ``validation=``.

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
            enlarged_boosted_fit(self.fit, checked_whole("k", k, 1, MOST), threads, progress)
        )

    def consistency(self) -> ConsistencyReport:
        """Report why no consistency theorem covers this fit.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.
        """
        return reports.consistency.ConsistencyReport(
            self.fit, reports.consistency.properties_of_boosted(self.fit), self._noise_residuals()
        )

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals out of bag or, with one run, of held-out rows.

        Those of the other rows are too small.
        """
        if self.kind == "classification":
            return np.empty(0)
        if not leaves_rows_out(self.fit):
            return residuals(self.fit, self._in_bag)[self.fit.held]
        resid = residuals(self.fit, self._oob_value)
        return resid[~np.isnan(resid)]

    def _summary(self, progress: bool) -> Summary:
        """Return a summary of data, options, losses and importances."""
        importance = self._measured_importance(progress)
        return reports.summaries.boosted_summary(
            self.fit, self._in_bag, self._known_out_of_bag, importance
        )

    @property
    def _known_out_of_bag(self) -> NDArray[np.float64] | None:
        return self._oob_value if self.control.n_runs > 1 else None

    def _drawing(self) -> Drawing:
        path, kept, loss = self.loss_path, self.n_rounds, self.control.loss
        return "loss", lambda panel: plots.plot_loss(path, kept, loss, panel)

    def _card(self) -> Card:
        return reports.summaries.boosted_card(self.fit, self._in_bag, self._known_out_of_bag)
