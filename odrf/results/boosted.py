"""Results of boosted oblique trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import reports
from odrf.checks import checked_choice, require_default
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
)
from odrf.public import public, public_method
from odrf.public.progress import progress_bar
from odrf.results import absent, explain, export, growing, predictions, rounds
from odrf.results import importance as importances
from odrf.results import tree as trees
from odrf.results.absent import known, out_of_bag_rows
from odrf.results.base import Label, OfRows, Priors, Rows, Training
from odrf.results.importance import Drawing
from odrf.results.models import TreeModelResults
from odrf.results.rounds import BOOSTED, STEPS, require_rows_missed, require_runs
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from odrf.reports.consistency import ConsistencyReport

PREDICTIONS = ("response", "class", "prob", "cumulative", "link", "leaf")
Table = Literal["prob", "cumulative", "leaf"]
Prediction = Label | Table | Literal["link"]


class OfScores(OfRows, total=False):
    """Options of `predict` of boosted trees."""

    offset: str | ArrayLike | None


class ODBTResults(TreeModelResults):
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
    _lacks: ClassVar[Mapping[str, str]] = {
        **BOOSTED,
        "to_sql": f"{STEPS}, and only means of trees are exported: use odt() or odrf()",
    }
    _drawn_by = "run"

    # Fit
    control = rounds.control
    n_rounds = rounds.n_rounds
    held_out = rounds.held_out
    loss_path = rounds.loss_path
    splits = export.splits_of_trees
    grow = growing.grow

    def _enlarged(self, k: int, n_jobs: int, progress: bool) -> BoostedFit:
        return enlarged_boosted_fit(self.fit, k, n_jobs, progress)

    # Predictions
    @overload
    def predict(
        self, newdata: Rows = ..., type: Label = ..., **how: Unpack[OfScores]
    ) -> pd.Series: ...
    @overload
    def predict(
        self, newdata: Rows = ..., type: Table = ..., **how: Unpack[OfScores]
    ) -> pd.DataFrame: ...
    @overload
    def predict(
        self, newdata: Rows = ..., type: Prediction = ..., **how: Unpack[OfScores]
    ) -> pd.Series | pd.DataFrame: ...
    @public
    @predicting_rows_apart
    def predict(
        self,
        newdata: Rows = None,
        type: Prediction = "response",
        *,
        offset: str | ArrayLike | None = None,
        priors: Priors = None,
        training: Training = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        {rows_to_predict}
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
        {offset, priors, training}
            With one run, training rows are predicted by all trees; rows that were held out took
            part only in the choice of the number of rounds.
        {progress_of_rows}

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`.  With ``missing="drop"``, the prediction of a row with
            missing predictors is missing.  Out of bag, that of a row that every run sampled is
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
            {about unknown_levels}
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

    @public_method
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
        {rows_to_predict, offset, training}

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
        predictions: dict[int, Any] = {}
        for r, value in enumerate(self._means_by_round(rows, newdata, offset), start=1):
            predictions[r] = self._of_means(value)
        table = pd.DataFrame(predictions, index=rows.index)
        return table.rename_axis(columns="round")

    def _means_by_round(
        self, rows: RowsToPredict, newdata: Rows, offset: str | ArrayLike | None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield, after each round, the means (m, 1) or probabilities (m, K) of all rows."""
        fit, offsets = cast(BoostedFit, rows.fit), offsets_of_rows(self.fit, newdata, rows, offset)
        boosted, n_jobs = fit.boosted, fit.control.n_jobs
        trees = boosted.forest, boosted.stages, rows.X, boosted.starts
        if rows.oob is None:
            by_round = added_up_by_round(*trees, n_jobs)
        else:
            by_round = out_of_bag_by_round(*trees, rows_missed(fit), n_jobs)
        for scores in by_round:
            yield spread_numbers(fit.loss.means(scores + offsets), rows.complete)

    def _of_means(self, value: NDArray[np.float64]) -> Any:
        """Return numbers (m,), or the classes (m,), of means (m, 1) or probabilities (m, K)."""
        if self.classes is None:
            return value[:, 0]
        return class_labels(predicted_classes(value, self.fit.ordered), self.design.response)

    # Out of bag
    oob_prediction = predictions.oob_prediction
    oob_prob = predictions.oob_prob

    @known(out_of_bag_rows, require_rows_missed)
    def oob_error(self) -> float:
        """Mean squared error or misclassification rate of the out-of-bag predictions.

        Raises
        ------
        InputError
            If there is only one run, or every run sampled every row.
        """
        return boosted_error(self.fit, self._oob_value)

    _out_of_bag_asked = predictions.values_asked

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return self.fit.loss.means(self.fit.scores(self.fit.data.X, self.fit.offset.values))

    @known(out_of_bag_rows, kept=True)
    def _oob_scores(self) -> NDArray[np.float64]:
        """Scores (K, n) of the training rows by the runs that did not sample them."""
        return boosted_out_of_bag(self.fit)

    @known(out_of_bag_rows, kept=True)
    def _oob_value(self) -> NDArray[np.float64]:
        return self.fit.loss.means(self._oob_scores)

    @property
    def _scored(self) -> NDArray[np.float64]:
        return self._oob_value if self.control.n_runs > 1 else self._in_bag

    @property
    def _scored_error(self) -> float:
        return self.oob_error if self.control.n_runs > 1 else super()._scored_error

    def _require_out_of_bag(self) -> None:
        absent.rows(self)
        require_runs(self.fit)

    def _require_scored(self) -> None:
        absent.rows(self)
        if self.control.n_runs > 1:
            require_rows_missed(self)

    # Importance
    pixel_importance = importances.pixel_importance

    # Single predictions
    shap = explain.shap
    shap_interactions = explain.shap_interactions

    # Checks
    surrogate = trees.surrogate

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

    # Plots and summary
    plot = importances.plot

    def _drawing(self) -> Drawing:
        return "loss", partial(rounds.drawn_losses, self)

    def _summary(self, progress: bool) -> Summary:
        """Return a summary of data, options, losses and importances."""
        importance = self._measured_importance(progress)
        return reports.summaries.boosted_summary(
            self.fit, self._in_bag, self._known_out_of_bag, importance
        )

    @property
    def _known_out_of_bag(self) -> NDArray[np.float64] | None:
        return self._oob_value if self.control.n_runs > 1 else None

    def _card(self) -> Card:
        return reports.summaries.boosted_card(self.fit, self._in_bag, self._known_out_of_bag)
