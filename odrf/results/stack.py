"""Results of a stack of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, plots, reports
from odrf.checks import checked_choice, checked_part, is_word, require_default
from odrf.design import Design
from odrf.errors import InputError, allowed
from odrf.fits.fit import BoostedFit, Fit, RawRows
from odrf.fits.intervals import QUANTILE
from odrf.fits.predicting import (
    RowsToPredict,
    as_asked,
    checked_priors,
    require_classes,
    spread_numbers,
    with_priors,
)
from odrf.fits.responses import expected_response, predicting_rows_apart, training_rows
from odrf.options.stack import ResolvedStackOptions
from odrf.public import public, public_method
from odrf.public.progress import progress_bar
from odrf.results import checks, predictions
from odrf.results import importance as importances
from odrf.results import tree as trees
from odrf.results.absent import known, out_of_bag_rows
from odrf.results.base import Label, OfRows, Priors, Rows, Training, kept
from odrf.results.boosted import ODBTResults
from odrf.results.checks import Compared
from odrf.results.forest import ODRFResults
from odrf.results.importance import ADJUST, TEST, Drawing, require_no_test
from odrf.results.models import TreeModelResults
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from odrf.fits.stack.distribution import PredictedDistribution
    from odrf.fits.stack.fit import StackedFit
    from odrf.reports.importance import MeasuredImportance

PREDICTIONS = ("response", "class", "prob", "cumulative", QUANTILE)
Table = Literal["prob", "cumulative", "quantile"]
Quantiles = float | Sequence[float]
SEVERAL = "it has several models"
IN_FOREST = 'it is of one forest: see part("forest").{name}'
SMOOTHERS = 'its smoothers have no trees: see part("forest").{name}'
NOT_ALONE = f"{SEVERAL}, whose weights belong to these trees and rows: fit again"


class OfStacks(OfRows, total=False):
    """Options of `predict` of a stack."""

    level: float


class AutoResults(TreeModelResults):
    """Several models of one response, whose weighted mean predicts, as returned by `odrf.auto`.

    Parameters
    ----------
    fit : StackedFit
        Design, data, options, models and their weights.

    Attributes
    ----------
    fit : StackedFit

    Examples
    --------
    >>> import odrf
    >>> fit = odrf.auto("mpg ~ .", odrf.load_data("auto_mpg"), n_trees=50, seed=1)
    >>> fit.parts.index[fit.parts["trees"] == 0].to_list()
    ['kernel smoother', 'oblique smoother']
    """

    fit: StackedFit

    _lacks: ClassVar[Mapping[str, str]] = {
        "one forest": f'{SEVERAL}; see part("forest").forest',
        "nodes": 'it is of one forest: see part("forest").tree(i).{name}',
        "several trees": IN_FOREST,
        "splits": SMOOTHERS,
        "subtrees": IN_FOREST,
        "select_variables": IN_FOREST,
        "get_prediction": "it needs models that all sample rows anew, and smoothers and weights "
        'use all rows: see part("forest").{name}',
        "neighbours": SMOOTHERS,
        "means of trees": 'its smoothers sum over the training rows: see part("forest").{name}',
        "one sum of trees": f'{SEVERAL}: see part("forest").{{name}}, or shap.PermutationExplainer '
        "of the package shap for all of them together",
        "a theorem": "no consistency theorem covers a weighted mean of several models: see "
        'part("forest").consistency()',
        "trees to add": NOT_ALONE,
        "rows to add": NOT_ALONE,
        "rows to leave out": "save it by save(data=False), and load() it again",
        "rounds": 'it is of boosted trees: see part("boosted runs").{name}',
    }

    # The models

    @property
    def control(self) -> ResolvedStackOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def parts(self) -> pd.DataFrame:
        """The models, one row for each.

        Columns: ``weight``; ``oob_error``, the out-of-bag mean squared error or share of wrong
        labels of the model alone; ``rise_without``, the share by which the out-of-bag loss of all
        together, mean squared error or log loss, would rise without the model; ``trees``.
        """
        return reports.stack.parts_table(self.fit)

    @property
    def trials(self) -> pd.DataFrame:
        """Other models that were tried, with a budget or with many rows: one row for each.

        Columns: ``runs``, boosting runs of its last fit; ``gain``, by how much it lowers the
        out-of-bag mean squared error or log loss, and ``std_error`` of that; ``outcome``:
        ``"added"``, ``"within noise"`` (of at most two standard errors), ``"behind others"`` after
        a try with few runs, or ``"no time left"``.
        """
        return reports.stack.trials_table(self.fit)

    def part(self, name: str) -> ODRFResults | ODBTResults:
        """Return one of the models, with all that its kind can tell.

        Parameters
        ----------
        name : str
            The name of a model, as the index of `parts` has it.

        Returns
        -------
        ODRFResults or ODBTResults
            The response of a forest on splines, or on lines, is what these leave of the response:
            its errors are those of trees and splines together, and R² is the share of what splines
            leave.

        Raises
        ------
        InputError
            If there is no such model, or it has no trees.
        """
        found = self.fit.grown
        if not isinstance(name, str) or name not in found:
            if isinstance(name, str) and name in self.parts.index:
                names = ", ".join(f'"{one}"' for one in found)
                raise InputError(f"name={name!r} has no trees to look at: use one of {names}")
            raise allowed("name", name, found)
        call, fit = f"{self.call}.part({name!r})", found[name]
        if isinstance(fit, BoostedFit):
            return ODBTResults(replace(fit, call=call))
        return ODRFResults(replace(fit, call=call, design=self._design_of(name, fit)))

    @staticmethod
    def _design_of(name: str, fit: Fit) -> Design:
        """Return the design of a forest among the models, with the response as this one has it."""
        if name not in fits.stack.growing.BASES:
            return fit.design
        base = name.removeprefix("forest on ")
        return replace(fit.design, response=replace(fit.design.response, less=f"a sum of {base}"))

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree (B,), of one model after the other."""
        return np.concatenate([fit.forest.leaves() for fit in self.fit.grown.values()])

    # Out of bag
    oob_prediction = predictions.oob_prediction
    oob_prob = predictions.oob_prob
    _out_of_bag_asked = predictions.values_asked

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return expected_response(self.fit, self.fit.data.X)

    @cached_property
    def _oob_value(self) -> NDArray[np.float64]:
        return fits.stack.growing.stack_out_of_bag(self.fit)

    @cached_property
    def _distribution(self) -> PredictedDistribution:
        return fits.stack.distribution.predicted_distribution(
            self.fit, self.fit.data.y - self._oob_value[:, 0]
        )

    @property
    def _scored(self) -> NDArray[np.float64]:
        return self._oob_value

    @property
    def _scored_error(self) -> float:
        return self.oob_error

    @known(out_of_bag_rows)
    def oob_error(self) -> float:
        """Mean squared error or misclassification rate of the out-of-bag predictions.

        The rows have also chosen the few weights, so that it is a little too small.  Rows that no
        model leaves out, such as early ones of a fit with `order`, do not count; NaN if there are
        no others.
        """
        return float(
            fits.stack.weights.errors_of([self._oob_value], self.fit.data, self.fit.ordered)[0]
        )

    # Predictions

    @overload
    def predict(
        self, newdata: Rows = ..., type: Label = ..., **how: Unpack[OfStacks]
    ) -> pd.Series: ...
    @overload
    def predict(
        self, newdata: Rows = ..., type: Table = ..., **how: Unpack[OfStacks]
    ) -> pd.DataFrame: ...
    @overload
    def predict(
        self, newdata: Rows = ..., *, interval: Literal["prediction"], **how: Unpack[OfStacks]
    ) -> pd.DataFrame: ...
    @overload
    def predict(
        self,
        newdata: Rows = ...,
        type: Table = ...,
        *,
        quantiles: Quantiles,
        **how: Unpack[OfStacks],
    ) -> pd.DataFrame: ...
    @overload
    def predict(
        self, newdata: Rows = ..., type: Label | Table = ..., **how: Unpack[OfStacks]
    ) -> pd.Series | pd.DataFrame: ...
    @public
    @predicting_rows_apart
    def predict(
        self,
        newdata: Rows = None,
        type: Label | Table = "response",
        *,
        priors: Priors = None,
        interval: Literal["prediction"] | None = None,
        level: float = 0.95,
        quantiles: Quantiles | None = None,
        training: Training = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows out of bag.

        Parameters
        ----------
        {rows_to_predict}
        type : {"response", "class", "prob", "cumulative", "quantile"}, default "response"
            {about types_of_labels}
            - ``"quantile"``: a column for each of the `quantiles`.  The residuals are those of
              `interval` with their signs, times the size near the row: ends are as far from the
              prediction as residuals on that side are.  A new response is below the k-th smallest
              of n of them with probability k / (n + 1), as far as rows are alike; quantiles between
              are on a line, and beyond all of them infinite.
        {priors, training}
        interval : {"prediction"}, optional
            For a regression, an interval for a new response: the prediction, plus and minus a
            multiple of the size of residuals near the row.  A small forest predicts this size; it
            is grown on the absolute out-of-bag residuals when intervals are first asked for.  The
            multiple is the quantile of the residuals, each divided by the size near its row (Lei
            et al. 2018, section 5.2).
        {level, quantiles, progress_of_rows}

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`; with `interval`, the columns ``estimate``, ``conf_low`` and
            ``conf_high``; for ``"quantile"`` a column for each quantile.

        Raises
        ------
        InputError
            If an argument is invalid.  The message names it and says what to use.

        References
        ----------
        J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman (2018). Distribution-free
        predictive inference for regression. Journal of the American Statistical Association 113,
        1094-1111.
        """
        kind = fits.intervals.type_with_quantiles(type, quantiles, interval)
        checked_choice("type", kind, PREDICTIONS)
        require_classes(self.design.response, kind)
        shares = checked_priors(priors, self.design.response, kind)
        if is_word(interval, "confidence"):
            raise InputError(
                'interval="confidence" asks how predictions vary over samples, which models that '
                'use all rows do not tell: use interval="prediction", or a forest, as in '
                'part("forest").predict(interval="confidence")'
            )
        if checked_choice("interval", interval, (None, "prediction")) is not None:
            self._require_number('interval="prediction"')
            if kind != "response":
                raise InputError(f'interval="prediction" and type={kind!r}: leave one of them out')
            checked_part("level", level)
        else:
            require_default("level", level, fits.intervals.LEVEL, 'interval="prediction"')
        if kind == QUANTILE:
            self._require_number(f"type={QUANTILE!r}")
            levels = fits.intervals.quantile_levels(
                fits.intervals.QUANTILES if quantiles is None else quantiles
            )
        rows = self._rows(newdata, training, kind)
        value = self._means(rows, progress)
        if kind == QUANTILE:
            found = self._distribution.quantiles(rows, value[:, 0], levels)
            columns = pd.Index(levels, name=QUANTILE)
            return pd.DataFrame(spread_numbers(found, rows.complete), rows.index, columns)
        value = spread_numbers(with_priors(self.fit, value, shares), rows.complete)
        predicted = as_asked(self.fit, value, rows.index, kind)
        if interval is None:
            return predicted
        half_widths = self._distribution.half_widths(rows, level)
        half = spread_numbers(half_widths[:, np.newaxis], rows.complete)[:, 0]
        ends = {"estimate": predicted, "conf_low": predicted - half, "conf_high": predicted + half}
        return pd.DataFrame(ends)

    # Checks
    predictive_check = checks.predictive_check
    surrogate = trees.surrogate

    def _compared(
        self,
        newdata: pd.DataFrame | None,
        rows: RawRows,
        y: NDArray[np.float64],
        level: float,
        progress: bool,
    ) -> Compared:
        asked, distribution = self._rows(newdata, None, "response"), self._distribution
        fitted = self._means(asked, progress)[:, 0]
        half = distribution.half_widths(asked, level)
        below = distribution.shares_below(asked, y - fitted)
        table = {
            "fitted": fitted,
            "conf_low": fitted - half,
            "conf_high": fitted + half,
            "pit": below,
        }
        return Compared(pd.DataFrame(table, index=rows.frame.index), None)

    def _means(self, rows: RowsToPredict, progress: bool) -> NDArray[np.float64]:
        """Return the mean response or class probabilities (m, K) of the complete rows."""
        if rows.oob is not None:
            return rows.oob
        with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
            return expected_response(self.fit, rows.X, None, bar.update)

    def _require_number(self, option: str) -> None:
        if self.kind != "regression":
            raise InputError(f"{option} is for the response of a regression: leave it out")

    def _rows(self, newdata: pd.DataFrame | None, training: str | None, type: str) -> RowsToPredict:
        oob = self._out_of_bag_asked(newdata, training)
        if newdata is None:
            return training_rows(self.fit, oob)
        X, complete = self.design.matrix(newdata)
        return RowsToPredict(self.fit, X, complete, newdata.index)

    # Importance

    @public_method
    def importance(
        self,
        type: str | None = None,
        *,
        test: str = TEST,
        adjust: str | None = ADJUST,
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = 0.95,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        It is the weighted mean of what the models say: of each, the predictor's share of the
        held-out importance (see `ODRFResults.importance`).  What a predictor adds to lines or
        splines counts by its covariance with the response.  Smoothers are left out; if they have
        all the weight, it is the plain mean of what the other models say.

        Parameters
        ----------
        type : {"held_out"}, optional
            For others see those of the models, as in ``part("forest").importance("loco")``.
        test, adjust, groups, level
            They are for tests, which a stack does not have.
        {progress}

        Returns
        -------
        DataFrame
            Index: predictors as in the formula.  Columns: ``importance`` and ``share``.

        Raises
        ------
        InputError
            If `type` is another one, or an argument of tests is given.
        """
        if type is not None and not is_word(type, "held_out"):
            raise InputError(
                f'type={type!r}: a stack has "held_out"; for others see its models, as in '
                f'part("forest").importance({type!r})'
            )
        require_no_test(test, adjust, groups, level)
        return self._measured_importance(progress).table.copy()

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        return kept(
            self, "_importance", lambda: reports.stack.stacked_importance(self.fit, progress)
        )

    # Plots and summary
    plot = importances.plot

    def _scores(self) -> dict[str, str]:
        return reports.summaries.error_scores(
            fits.scores.out_of_bag_scores(self.fit, self._oob_value)
        )

    def _summary(self, progress: bool) -> Summary:
        return reports.stack.stacked_summary(
            self.fit, self._scores(), self._measured_importance(progress)
        )

    def _drawing(self) -> Drawing:
        words = "OOB mean squared error" if self.kind == "regression" else "OOB error rate"
        parts, together = self.parts, self.oob_error
        return "parts", lambda panel: plots.fits.plot_parts(parts, together, words, panel)

    def _card(self) -> Card:
        return reports.stack.stacked_card(self.fit, self._scores())
