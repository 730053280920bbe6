"""Results of a stack of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice, checked_part
from odrf.errors import InputError, nearest
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.prediction.labels import spread_numbers
from odrf.fits.prediction.predicting import RowsToPredict, as_asked, require_classes
from odrf.fits.prediction.prior_correction import checked_priors, with_priors
from odrf.fits.prediction.scores import mean_loss
from odrf.fits.prediction.training_rows import training_rows
from odrf.fits.stacked.growing_parts import stack_out_of_bag
from odrf.fits.stacked.local_spread import LocalSpread, local_spread
from odrf.fits.stacked.stacked_fit import StackedFit
from odrf.options.stacked_control import StackedControl
from odrf.public.progress import progress_bar
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.stacked.stacked_summary import (
    error_scores,
    parts_table,
    stacked_card,
    stacked_importance,
    stacked_summary,
    trials_table,
)
from odrf.results.boosted import ODBTResults
from odrf.results.explaining.imitated import SurrogateTreeResults
from odrf.results.fitted import Priors
from odrf.results.forest import ODRFResults
from odrf.results.out_of_bag import OutOfBagResults
from odrf.results.panelled import Drawing, Panelled
from odrf.statistics.conformal import residual_quantile
from odrf.text.card import Card
from odrf.text.summary import Summary

__all__ = ["AutoResults"]

PREDICTIONS = ("response", "class", "prob", "cumulative")
LEVEL = 0.95


class AutoResults(OutOfBagResults, SurrogateTreeResults, Panelled):
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

    def __init__(self, fit: StackedFit) -> None:
        self.fit = fit

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            """Say where to find what one forest has and several models have not."""
            if name.startswith("_") or not hasattr(ODRFResults, name):
                return super().__getattr__(name)
            raise AttributeError(
                f'AutoResults has no {name!r}: it has several models; see part("forest").{name}',
                name=name,
                obj=self,
            )

    @property
    def control(self) -> StackedControl:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def parts(self) -> pd.DataFrame:
        """The models, one row for each.

        Columns: ``weight``; ``oob_error``, the out-of-bag mean squared error or share of wrong
        labels of the model alone; ``rise_without``, the share by which the out-of-bag loss of all
        together, mean squared error or log loss, would rise without the model; ``trees``.
        """
        return parts_table(self.fit)

    @property
    def trials(self) -> pd.DataFrame:
        """Other models that were tried with a budget, one row for each; without one, no rows.

        Columns: ``runs``, boosting runs of its last fit; ``gain``, by how much it lowers the
        out-of-bag mean squared error or log loss, and ``std_error`` of that; ``outcome``:
        ``"added"``, ``"within noise"`` (of at most two standard errors), ``"behind others"`` after
        a try with few runs, or ``"no time left"``.
        """
        return trials_table(self.fit)

    def part(self, name: str) -> ODRFResults | ODBTResults:
        """Return one of the models, with all that its kind can tell.

        Parameters
        ----------
        name : str
            As in `parts`.

        Returns
        -------
        ODRFResults or ODBTResults
            The response of a forest on splines is what these leave of the response.

        Raises
        ------
        InputError
            If there is no such model, or it has no trees.
        """
        found = self.fit.grown
        if not isinstance(name, str) or name not in found:
            names = ", ".join(f'"{one}"' for one in found)
            if isinstance(name, str) and name in self.parts.index:
                raise InputError(f"name={name!r} has no trees to look at: use one of {names}")
            raise InputError(f"name={name!r}{nearest(name, found)}: use one of {names}")
        fit = found[name]
        return ODBTResults(fit) if isinstance(fit, BoostedFit) else ODRFResults(fit)

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree (B,), of one model after the other."""
        return np.concatenate([fit.forest.leaves() for fit in self.fit.grown.values()])

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return expected_response(self.fit, self.fit.data.X)

    @cached_property
    def _oob_value(self) -> NDArray[np.float64]:
        return stack_out_of_bag(self.fit)

    @property
    def _oob_size(self) -> NDArray[np.float64]:
        """The absolute out-of-bag residual of each row (n,)."""
        return np.abs(self.fit.data.y - self._oob_value[:, 0])

    @cached_property
    def _spread(self) -> LocalSpread:
        return local_spread(self.fit, self._oob_size)

    @property
    def _scored(self) -> NDArray[np.float64]:
        return self._oob_value

    @property
    def _scored_error(self) -> float:
        return self.oob_error

    @property
    def oob_error(self) -> float:
        """Mean squared error or misclassification rate of the out-of-bag predictions.

        The rows have also chosen the few weights, so that it is a little too small.
        """
        known = ~np.isnan(self._oob_value[:, 0])
        value = np.where(known[:, None], self._oob_value, self._in_bag)
        return mean_loss(self.fit, value)

    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        priors: Priors = None,
        interval: str | None = None,
        level: float = LEVEL,
        training: str | None = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows out of bag.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict, with the columns that the formula uses.  By default the training rows.
        type : {"response", "class", "prob", "cumulative"}, default "response"
            As in `ODRFResults.predict`.
        priors, training
            As in `ODTResults.predict`.
        interval : {"prediction"}, optional
            For a regression, an interval for a new response: the prediction, plus and minus a
            multiple of the size of residuals near the row.  A small forest predicts this size; it
            is grown on the absolute out-of-bag residuals when intervals are first asked for.  The
            multiple is the quantile of the residuals, each divided by the size near its row (Lei
            et al. 2018, section 5.2).
        level : float, default 0.95
            Nominal coverage of the intervals.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`; with `interval`, the columns ``estimate``, ``conf_low`` and
            ``conf_high``.

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
        checked_choice("type", type, PREDICTIONS)
        require_classes(self.design.response, type)
        shares = checked_priors(priors, self.design.response, type)
        if checked_choice("interval", interval, (None, "prediction")) is not None:
            self._require_interval(type)
            checked_part("level", level)
        rows = self._rows(newdata, training, type)
        value = rows.oob
        if value is None:
            with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
                value = expected_response(self.fit, rows.X, None, bar.update)
        value = spread_numbers(with_priors(self.fit, value, shares), rows.complete)
        predicted = as_asked(self.fit, value, rows.index, type)
        if interval is None:
            return predicted
        half = spread_numbers(self._half_widths(rows, level)[:, None], rows.complete)[:, 0]
        ends = {"estimate": predicted, "conf_low": predicted - half, "conf_high": predicted + half}
        return pd.DataFrame(ends)

    def _half_widths(self, rows: RowsToPredict, level: float) -> NDArray[np.float64]:
        """Return half the width (m,) of the prediction interval of each row."""
        spread = self._spread
        times = residual_quantile(self._oob_size / spread.of_rows, self.fit.data.weights, level)
        return times * (spread.at(rows.X) if rows.oob is None else spread.of_rows)

    def _require_interval(self, type: str) -> None:
        if self.kind != "regression" or type != "response":
            raise InputError(
                'interval="prediction" is for the response of a regression: leave interval= or '
                "type= out"
            )

    def _rows(self, newdata: pd.DataFrame | None, training: str | None, type: str) -> RowsToPredict:
        oob = self._out_of_bag_asked(newdata, training)
        if newdata is None:
            return training_rows(self.fit, oob)
        X, complete = self.design.matrix(newdata)
        return RowsToPredict(self.fit, X, complete, newdata.index)

    def importance(
        self,
        type: str | None = None,
        *,
        test: str = "t",
        adjust: str | None = "holm",
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = LEVEL,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        It is the weighted mean of what the models say: of each, the predictor's share of the
        held-out importance (see `ODRFResults.importance`).  What a predictor adds to lines or
        splines counts by its covariance with the response.  Smoothers are left out.

        Parameters
        ----------
        type : {"held_out"}, optional
            For others see those of the models, as in ``part("forest").importance("loco")``.
        test, adjust, groups, level
            They are for tests, which a stack does not have.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula.  Columns: ``importance`` and ``share``.

        Raises
        ------
        InputError
            If `type` is another one.
        """
        if type not in (None, "held_out"):
            raise InputError(
                f'type={type!r}: a stack has "held_out"; for others see its models, as in '
                f'part("forest").importance({type!r})'
            )
        return self._measured_importance(progress).table.copy()

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        if "_importance" not in vars(self):
            self._importance = stacked_importance(self.fit, progress)
        return self._importance

    def consistency(self) -> ConsistencyReport:
        """Say that no theorem covers a weighted mean of several models.

        Raises
        ------
        InputError
            Always; the forest among the models has a report of its own.
        """
        raise InputError(
            "no consistency theorem covers a weighted mean of several models: see "
            'part("forest").consistency()'
        )

    def _scores(self) -> dict[str, str]:
        return error_scores(self.oob_error, self.r_squared if self.kind == "regression" else None)

    def _summary(self, progress: bool) -> Summary:
        return stacked_summary(self.fit, self._scores(), self._measured_importance(progress))

    def _drawing(self) -> Drawing:
        words = "OOB mean squared error" if self.kind == "regression" else "OOB error rate"
        parts, together = self.parts, self.oob_error
        return "parts", lambda panel: plots.plot_parts(parts, together, words, panel)

    def _card(self) -> Card:
        return stacked_card(self.fit, self._scores())
