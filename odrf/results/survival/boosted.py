"""Results of boosted oblique trees for survival times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import fits, reports
from odrf.checks import checked_choice, require_default
from odrf.errors import InputError
from odrf.fits.predicting import offsets_of_rows, predict_rows, rows_of, spread_numbers
from odrf.fits.responses import (
    asked_out_of_bag,
    boosted_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    training_rows,
    warn_of_rows_always_drawn,
)
from odrf.public import public, public_method, taking
from odrf.public.progress import progress_bar
from odrf.results import export, growing, rounds
from odrf.results import importance as importances
from odrf.results.base import Rows, Training
from odrf.results.rounds import BOOSTED, STEPS
from odrf.results.survival import curves, scores
from odrf.results.survival.base import FOR_CLASSES, NOT_OF_TIMES, OF_ONE_NUMBER, SurvivalResults
from odrf.results.survival.curves import Risk, Times
from odrf.results.survival.importance import CURVES, draw_shares
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

    from odrf.fits.survival.boosted import BoostedSurvivalFit
    from odrf.fits.survival.validation import EvaluatedPredictions


LINK, LEAF = "link", "leaf"
PLOTS = "loss", CURVES, "importance"
IMPORTANCE_TYPES = HELD_OUT, IMPURITY = "held_out", "impurity"
Link = Literal["link"]
Table = Literal["survival", "hazard", "quantile", "leaf"]
Other = Literal["rmst"]


class OfRounds(TypedDict, total=False):
    """Options of `predict` of boosted trees for survival times."""

    times: Times
    quantiles: float | Sequence[float] | None
    offset: str | ArrayLike | None
    training: Training
    progress: bool


class SurvivalBoostedResults(SurvivalResults):
    """Boosted trees for survival times, as returned by `odrf.odbt` for ``Surv(time, event)``.

    Parameters
    ----------
    fit : BoostedSurvivalFit
        The fit, from which the results are computed when they are needed.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import odrf
    >>> rng = np.random.default_rng(1)
    >>> data = pd.DataFrame(rng.random((300, 4)), columns=list("abcd"))
    >>> died, left = rng.exponential(np.exp(2 * data["a"] - 2 * data["b"])), rng.exponential(3, 300)
    >>> data["time"], data["event"] = np.minimum(died, left), died <= left
    >>> fit = odrf.odbt("Surv(time, event) ~ .", data, n_trees=20, seed=1)
    >>> fit.predict(data.iloc[:2], type="survival", times=[0.5, 1.0]).shape
    (2, 2)
    """

    fit: BoostedSurvivalFit
    _lacks: ClassVar[Mapping[str, str]] = {
        **BOOSTED,
        **dict.fromkeys(
            (*OF_ONE_NUMBER, "row_predictor", "curves"), f"{STEPS}: use forests of odrf()"
        ),
        "classes": FOR_CLASSES,
        "calibrate": "rows that did not grow its trees calibrate the curves: use n_runs=10 or "
        "validation=0.2",
        "out-of-bag rows": "see score() and predict(), with n_runs=",
        "oob_scores": "see score(), which is of rows out of bag with n_runs=",
        "select_variables": "it needs out-of-bag rows of every tree: use odrf()",
        "growth_path": "see loss_path",
        "pixel_importance": NOT_OF_TIMES.format("importance()"),
        "rounds": NOT_OF_TIMES.format("loss_path"),
    }

    # Fit
    control = rounds.control
    n_rounds = rounds.n_rounds
    held_out = rounds.held_out
    loss_path = rounds.loss_path
    splits = export.splits_of_trees
    grow = growing.grow

    def _enlarged(self, k: int, n_jobs: int, progress: bool) -> BoostedSurvivalFit:
        return fits.survival.boosted.enlarged_boosted_survival(self.fit, k, n_jobs, progress)

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return self.fit.scores(self.fit.data.X, self.fit.offset.values)[0]

    @cached_property
    def _out_of_bag(self) -> NDArray[np.float64]:
        return boosted_out_of_bag(self.fit)[0]

    # Predictions

    @overload
    def predict(
        self, newdata: Rows = ..., type: Risk | Link = ..., **how: Unpack[OfRounds]
    ) -> pd.Series: ...
    @overload
    def predict(
        self, newdata: Rows = ..., type: Table = ..., **how: Unpack[OfRounds]
    ) -> pd.DataFrame: ...
    @overload
    def predict(
        self,
        newdata: Rows = ...,
        type: Risk | Link | Table | Other = ...,
        **how: Unpack[OfRounds],
    ) -> pd.Series | pd.DataFrame: ...
    @public
    @predicting_rows_apart
    def predict(
        self,
        newdata: Rows = None,
        type: Risk | Link | Table | Other = "risk",
        *,
        times: Times = None,
        quantiles: float | Sequence[float] | None = None,
        offset: str | ArrayLike | None = None,
        training: Training = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        {rows_to_predict}
        type : str, default "risk"
            - ``"risk"``: rows with a larger one are expected to have the event sooner.  For the Cox
              loss the score, the logarithm of the relative hazard; for failure times minus the
              score.
            - ``"survival"``: the probability that the event comes after each of the `times`.
            - ``"hazard"``: the cumulative hazard at each of the `times`.
            - ``"time"``: the median time to the event.
            - ``"rmst"``: the restricted mean survival time, the area under the survival curve up to
              each of the `times`.
            - ``"quantile"``: the times by which shares, the `quantiles`, have had the event.
            - ``"link"``: the score, which is the sum of the trees: the logarithm of the relative
              hazard, or the location of the logarithm of the time.
            - ``"leaf"``: a column for each tree with the number of the leaf that the row reaches.

            With the Cox loss, curves are steps that stay as they are beyond the last event, and a
            time to the event is infinite where the curve does not go so far.
        times : float or sequence of float, optional
            Times in the unit of the response.  By default all event times of the training rows; for
            ``"rmst"`` the last one.
        {shares_of_times, offset}
        training : {"out-of-bag", "in-bag"}, optional
            How training rows are predicted, without `newdata`: with several runs by default by
            those that did not sample the row.
        {progress_of_rows}

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`; for curves a column for each of the `times`.

        Raises
        ------
        InputError
            If an argument is invalid, or is not for this `type`; if `newdata` lacks a column; if
            offsets are missing.

        Warns
        -----
        UserWarning
            If every run sampled a training row, whose out-of-bag prediction is missing; with the
            Cox loss, if one of the `times` is after the last training row was observed.

        References
        ----------
        N. Breslow. Covariance analysis of censored survival data. Biometrics 30 (1974).
        """
        checked_choice("type", type, (*fits.survival.curves.CURVE_PREDICTIONS, LINK))
        fits.survival.curves.require_use(type, times, quantiles, None)
        fit, out_of_bag = self.fit, asked_out_of_bag(training, newdata, leaves_rows_out(self.fit))
        rows = training_rows(fit, None) if newdata is None else rows_of(fit, newdata)
        if type == LEAF:
            require_default("offset", offset, None, "predictions of scores")
            return predict_rows(rows, type, progress=progress)
        offsets = offsets_of_rows(fit, newdata, rows, offset)
        if out_of_bag:
            scores = self._out_of_bag
            warn_of_rows_always_drawn(scores[:, None], "run")
        else:
            with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
                reading = cast(
                    fits.survival.boosted.BoostedSurvivalFit, rows.fit
                )  # it knows the fills of missing values
                scores = reading.scores(rows.X, offsets, bar.update)[0]
        if type == LINK:
            return pd.Series(spread_numbers(scores, rows.complete), index=rows.index, name=LINK)
        predicted = fits.survival.curves.PredictedScores(fit.curves, scores)
        return fits.survival.curves.curves_as_asked(
            predicted, fit.event_times, rows, type, times, quantiles, False
        )

    curves = taking(curves.curves, "offset", "offset")

    # Scores
    score = taking(scores.score, "offset", "offset")
    calibration = taking(scores.calibration, "offset", "offset")
    roc = taking(scores.roc, "offset", "offset")

    def _validation(
        self, newdata: Rows, offset: str | ArrayLike | None = None
    ) -> EvaluatedPredictions:
        if newdata is not None:
            return fits.survival.validation.evaluated_new(self.fit, newdata, offset=offset)
        if offset is not None:
            raise InputError("offset= needs newdata=: the training rows keep their offsets")
        return self._evaluated_training

    @cached_property
    def _evaluated_training(self) -> EvaluatedPredictions:
        several = leaves_rows_out(self.fit)
        return fits.survival.validation.evaluated_training_scores(
            self.fit, self._out_of_bag if several else self._in_bag
        )

    # Importance

    @public_method
    def importance(self, type: str | None = None, *, progress: bool = False) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"held_out", "impurity"}, optional
            By default ``"held_out"``; ``"impurity"`` if there are too few rows to hold some out.

            - ``"held_out"``: the covariance of the scores with the slope of the loss before the
              first round, with opposite sign, on rows that did not grow the trees; for the Cox loss
              these slopes are martingale residuals without predictors.
            {about impurity}
        progress : bool, default False
            Show a progress bar while trees are grown.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula.  Columns: ``importance``, and ``share``, its share
            of the sum of those above 0.

        Raises
        ------
        InputError
            If `type` is unknown, or ``"held_out"`` with too few rows.
        """
        if type is None:
            return self._measured_importance(progress).table.copy()
        if checked_choice("type", type, IMPORTANCE_TYPES) == IMPURITY:
            return reports.importance.impurity_table(self.fit)
        table = importances.held_out(self, progress)
        if table is None:
            raise InputError(f'type="{HELD_OUT}" needs more rows: use type="{IMPURITY}"')
        return table.copy()

    _measured_importance = importances.measured

    # Plots and summary

    @public_method
    def plot(self, kind: str = "loss", *, ax: Axes | None = None, progress: bool = False) -> Axes:
        """Plot the loss against the number of rounds, curves beside observed ones, or importances.

        Parameters
        ----------
        kind : {"loss", "curves", "importance"}, default "loss"
            ``"curves"``: the validation rows, as in `score`, in four groups of similar risk, as for
            `SurvivalForestResults`.
        ax : Axes, optional
            Where to draw.  By default on a new figure.
        {progress}

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown; for ``"curves"``, if no row that evaluates has an event.
        """
        if checked_choice("kind", kind, PLOTS) == CURVES:
            return reports.survival.curves.drawn_risk_groups(self._evaluated_training, ax)
        if kind == "loss":
            return rounds.drawn_losses(self, ax)
        return draw_shares(self._measured_importance(progress), ax)

    def _summary(self, progress: bool) -> Summary:
        importance = self._measured_importance(progress)
        return reports.survival.summaries.boosted_survival_summary(
            self.fit, self._validation_if_any, importance
        )

    def _card(self) -> Card:
        return reports.survival.summaries.boosted_survival_card(self.fit, self._validation_if_any)
