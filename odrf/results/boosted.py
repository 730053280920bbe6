"""Results of boosted oblique trees."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.boosting_control import BoostingControl
from odrf.diagnostics.theorems import Facts
from odrf.engine.boosting.adding import added_up_by_round
from odrf.errors import InputError, allowed
from odrf.importance import summed_importance
from odrf.plots.boosted import plot_loss
from odrf.plots.importance import plot_importance
from odrf.plots.panels import draw_panels
from odrf.results.boosted_fit import BoostedFit
from odrf.results.boosted_report import boosted_card, boosted_summary
from odrf.results.consistency import ConsistencyReport
from odrf.results.fitted import FittedResults
from odrf.results.labels import class_labels, most_likely, spread_numbers
from odrf.results.prediction import (
    Rows,
    as_prob,
    as_response,
    predict_rows,
    require_classes,
    rows_of,
)
from odrf.results.row import RowPredictor
from odrf.results.scores import mean_loss
from odrf.sizes import EXPONENTS
from odrf.summary import Summary

__all__ = ["ODBTResults"]

PREDICTIONS = ("response", "class", "prob", "link", "leaf")


class ODBTResults(FittedResults):
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
        """Rounds that are kept, each with a tree for every output."""
        return self.forest.n_trees // self.control.n_outputs

    @property
    def held_out(self) -> pd.Series:
        """Which rows were held out to choose the number of rounds."""
        return pd.Series(self.fit.held, index=self.fit.data.index, name="held_out")

    @cached_property
    def loss_path(self) -> pd.DataFrame:
        """Mean loss after 0, 1, 2, … rounds, those included that are not kept.

        ``training``: of the rows that the trees were grown on; ``validation``: of those held out,
        if there are any.  The loss is half the squared error or half the Poisson deviance, the
        absolute error, Huber's loss at the δ of deviations from the median, or the negative
        log-likelihood.
        """
        boosted = self.fit.boosted
        path = {"training": boosted.training}
        if len(boosted.held):
            path["validation"] = boosted.held
        return pd.DataFrame(path, index=pd.RangeIndex(len(boosted.training), name="rounds"))

    @cached_property
    def training_error(self) -> float:
        """Mean squared error or misclassification rate of all rows, those held out included."""
        return mean_loss(self.fit.data, self._fitted)

    @cached_property
    def _fitted(self) -> NDArray[np.float64]:
        return self._means(rows_of(self.fit, None))

    def _means(self, rows: Rows) -> NDArray[np.float64]:
        """Return the mean response or the probabilities of the classes of complete rows."""
        return self.fit.loss.means(self.fit.scores(rows.X))

    def predict(
        self, newdata: pd.DataFrame | None = None, type: str = "response"
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict.  It needs the columns that the formula uses, the response aside;
            others are ignored.  By default the training rows.
        type : str, default "response"
            - ``"response"``: the mean response (with the absolute loss its median), or the class.
            - ``"class"``: the most probable class, the first of them if tied.
            - ``"prob"``: a column of probabilities for each class.
            - ``"link"``: what the trees add up to: the response itself, the logarithm of a
              Poisson mean, the log odds of the second of two classes, or, with the multinomial
              loss, a column for each class, whose differences are log odds.
            - ``"leaf"``: a column for each tree with the number of the leaf that the row reaches.
              With the multinomial loss and K classes, tree b is of round ⌊b/K⌋ and of the class
              numbered b modulo K.

        Returns
        -------
        Series or DataFrame
            On the index of `newdata`.  With ``missing="drop"``, rows with missing predictors
            are missing in the prediction too.

        Raises
        ------
        InputError
            If `type` is none of these, or needs classes where there are none; if `newdata`
            lacks a column, or holds values that the fit knows nothing of.
        """
        if type not in PREDICTIONS:
            raise allowed("type", type, PREDICTIONS)
        require_classes(self.design.response, type)
        rows = rows_of(self.fit, newdata)
        if type == "leaf":
            return predict_rows(self.fit, rows, type)
        if type == "link":
            return self._link(rows)
        value = spread_numbers(self._means(rows), rows.complete)
        if type == "prob":
            return as_prob(self.fit, value, rows.index)
        return as_response(self.fit, value, rows.index)

    def _link(self, rows: Rows) -> pd.Series | pd.DataFrame:
        scores = spread_numbers(self.fit.scores(rows.X).T, rows.complete)
        if self.control.n_outputs > 1:
            return as_prob(self.fit, scores, rows.index)
        return pd.Series(scores[:, 0], index=rows.index, name="link")

    def staged_predict(self, newdata: pd.DataFrame | None = None) -> pd.DataFrame:
        """Predict rows as each round would have it if it were the last.

        Parameters
        ----------
        newdata : DataFrame, optional
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
        scores = added_up_by_round(fit.forest, rows.X, fit.boosted.start, fit.control.n_jobs)
        said: dict[int, Any] = {}
        for r, of_round in enumerate(scores, start=1):
            value = spread_numbers(fit.loss.means(of_round), rows.complete)
            if self.classes is None:
                said[r] = value[:, 0]
            else:
                said[r] = class_labels(most_likely(value), self.classes)
        table = pd.DataFrame(said, index=rows.index)
        return table.rename_axis(columns="round")

    def row_predictor(self, type: str = "response") -> RowPredictor:
        """Refuse: boosted trees predict data frames only.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            "row_predictor() is for trees and forests, whose trees are averaged; boosted trees "
            "are summed: use predict() on a data frame, of one row if need be"
        )

    @property
    def _impurity_importance(self) -> pd.DataFrame:
        importance = summed_importance(self.fit.forest, self.design.first)
        total = importance.sum()
        table = pd.DataFrame(
            {"importance": importance, "share": importance / total if total > 0 else 0.0},
            index=pd.Index(self.design.predictors, name="predictor"),
        )
        return table.sort_values("importance", ascending=False, kind="stable")

    def _permutation_importance(self) -> pd.DataFrame:
        raise InputError(
            'type="permutation" needs rows out of bag, and boosted trees have none: '
            'use type="impurity"'
        )

    def consistency(self) -> ConsistencyReport:
        """Ask which theorem covers this fit: none that the package knows, and why.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.
        """
        control = self.control
        size, p = control.subset_size, len(self.design.columns)
        # whatever the number of rows
        most = 2.0**control.max_depth
        facts = Facts(
            forest=True,
            classes=self.kind == "classification",
            n=self.nobs,
            P=len(self.design.predictors),
            subset_size=None if isinstance(size, str) else size,
            family="" if control.mixture.on_subsets else control.mixture.name,
            axis_trees=control.mixture.n_directions == 0,
            leaves=most,
            leaves_along=(most,) * len(EXPONENTS),
            limited=True,
            alpha=None,
            alpha_along=(),
            drawn=control.sample_fraction,
            drawn_along=(),
            replaced=False,
            honest=False,
            single_columns=control.mixture.single_columns(p, size),
            full=False,
            summed=True,
        )
        return ConsistencyReport(self, facts, self._judging_residuals())

    def _judging_residuals(self) -> NDArray[np.float64]:
        """Return the residuals of rows held out: those of the others are too small."""
        if self.kind == "classification":
            return np.empty(0)
        return self.resid.to_numpy()[self.fit.held]

    def summary(self) -> Summary:
        """Return a summary: data, options, the path of the loss, importances."""
        return boosted_summary(self)

    def plot(self, kind: str | None = None, *, ax: Axes | NDArray | None = None) -> Axes | NDArray:
        """Draw the path of the loss, or the importances of predictors.

        Parameters
        ----------
        kind : {"loss", "importance"}, optional
            By default both, side by side.
        ax : Axes, optional
            Where to draw; an array of two for both.  By default on a new figure.

        Returns
        -------
        Axes or array of Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or `ax` holds another number of axes.
        """
        path, kept, loss = self.loss_path, self.n_rounds, self.control.loss
        drawings = {
            "loss": lambda panel: plot_loss(path, kept, loss, panel),
            "importance": lambda panel: plot_importance(self.importance()["share"], panel),
        }
        return draw_panels(drawings, kind, ax)

    def __repr__(self) -> str:
        return boosted_card(self)
