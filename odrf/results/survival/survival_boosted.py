"""Results of boosted oblique trees for times to an event."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import plots
from odrf.checks import MOST, checked_choice, checked_jobs, checked_whole
from odrf.errors import InputError
from odrf.fits.out_of_bag_values import boosted_out_of_bag
from odrf.fits.prediction.labels import spread_numbers
from odrf.fits.prediction.offsets_of_rows import offsets_of_rows
from odrf.fits.prediction.predicting import predict_rows, rows_of
from odrf.fits.prediction.training_rows import (
    asked_out_of_bag,
    leaves_rows_out,
    training_rows,
    warn_of_rows_always_drawn,
)
from odrf.fits.survival.boosted_survival_fit import (
    BoostedSurvivalFit,
    enlarged_boosted_survival,
    times_of,
)
from odrf.fits.survival.curves_of_boosted import PredictedScores
from odrf.fits.survival.predicting_survival import (
    CURVE_PREDICTIONS,
    curves_as_asked,
    require_use,
)
from odrf.options.boosting_control import BoostingControl
from odrf.public.progress import progress_bar
from odrf.reports.boosted_summary import loss_path
from odrf.reports.importance_tables import (
    MeasuredImportance,
    held_out_table,
    impurity_measured,
    impurity_table,
    judged_measured,
)
from odrf.reports.survival.boosted_survival_summary import (
    boosted_survival_card,
    boosted_survival_summary,
)
from odrf.results.facts.fit_facts import FitFacts
from odrf.statistics.survival.concordance import Concordance, harrells_c
from odrf.text.card import Card
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivalBoostedResults"]

LINK, LEAF = "link", "leaf"
IMPORTANCE_TYPES = HELD_OUT, IMPURITY = "held_out", "impurity"


class SurvivalBoostedResults(FitFacts):
    """Boosted trees for times to an event, as returned by `odrf.odbt` for ``Surv(time, event)``.

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

    def __init__(self, fit: BoostedSurvivalFit) -> None:
        self.fit = fit

    @property
    def kind(self) -> str:
        """``"survival"``."""
        return self.fit.kind

    @property
    def control(self) -> BoostingControl:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def event_times(self) -> NDArray[np.float64]:
        """The different times (R,) of events of the training rows, ascending."""
        return self.fit.event_times

    @property
    def n_rounds(self) -> int:
        """Number of rounds that are kept; a round has a tree for every run."""
        return self.fit.n_rounds

    @property
    def held_out(self) -> pd.Series:
        """True for the training rows that were held out to choose the number of rounds."""
        return pd.Series(self.fit.held, index=self.fit.data.index, name="held_out")

    @cached_property
    def loss_path(self) -> pd.DataFrame:
        """Mean loss after 0, 1, 2, … rounds, including rounds that are not kept.

        Column ``training`` is the loss on the rows that the trees were grown on.  If rows were held
        out, ``validation`` is the loss on these; otherwise, with several runs, ``out-of-bag`` is
        the loss of each row by the runs that did not draw it.  The loss is the negative log partial
        likelihood among these rows, or their negative log-likelihood, divided by the sum of their
        weights.
        """
        return loss_path(self.fit)

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return self.fit.scores(self.fit.data.X, self.fit.offset.values)[0]

    @cached_property
    def _out_of_bag(self) -> NDArray[np.float64]:
        return boosted_out_of_bag(self.fit)[0]

    @property
    def concordance(self) -> Concordance:
        """Harrell's C of the training rows, with several runs of their out-of-bag scores.

        With rows held out, that of these rows.
        """
        if leaves_rows_out(self.fit):
            return self._concordance(self._out_of_bag, ~np.isnan(self._out_of_bag))
        rows = self.fit.held if self.fit.held.any() else ~self.fit.held
        return self._concordance(self._in_bag, rows)

    def _concordance(self, scores: NDArray[np.float64], rows: NDArray[np.bool_]) -> Concordance:
        times, risk = times_of(self.fit).keeping(rows), self.fit.curves.risks(scores[rows])
        return harrells_c(times.time, times.event, risk, self.fit.data.weights[rows], times.start)

    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "risk",
        *,
        times: float | ArrayLike | None = None,
        quantiles: float | Sequence[float] | None = None,
        offset: str | ArrayLike | None = None,
        training: str | None = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict, with the columns that the formula uses; the response is not needed.  By
            default the training rows.
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
        quantiles : float or sequence of float, optional
            Shares above 0 and below 1; by default the quartiles.
        offset : str, array-like or float, optional
            As in `ODBTResults.predict`.
        training : {"out-of-bag", "in-bag"}, optional
            How training rows are predicted, without `newdata`: with several runs by default by
            those that did not draw the row.
        progress : bool, default False
            Show a progress bar of the rows.

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
            If every run drew a training row, whose out-of-bag prediction is missing.

        References
        ----------
        N. Breslow. Covariance analysis of censored survival data. Biometrics 30 (1974).
        """
        checked_choice("type", type, (*CURVE_PREDICTIONS, LINK))
        require_use(type, times, quantiles, None)
        fit, out_of_bag = self.fit, asked_out_of_bag(training, newdata, leaves_rows_out(self.fit))
        rows = training_rows(fit, None) if newdata is None else rows_of(fit, newdata)
        if type == LEAF:
            return predict_rows(rows, type, progress=progress)
        offsets = offsets_of_rows(fit, newdata, rows, offset)
        if out_of_bag:
            scores = self._out_of_bag
            warn_of_rows_always_drawn(scores[:, None], "run")
        else:
            with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
                scores = self.fit.scores(rows.X, offsets, bar.update)[0]
        if type == LINK:
            return pd.Series(spread_numbers(scores, rows.complete), index=rows.index, name=LINK)
        predicted = PredictedScores(fit.curves, scores)
        return curves_as_asked(predicted, fit.event_times, rows, type, times, quantiles, False)

    def grow(
        self, k: int, *, n_jobs: int | None = None, progress: bool = False
    ) -> SurvivalBoostedResults:
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
        SurvivalBoostedResults
            A new result; this one does not change.

        Raises
        ------
        InputError
            If `k` is not a whole number of at least 1, or if the number of rounds was chosen by
            ``validation=``.
        """
        threads = self.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        return SurvivalBoostedResults(
            enlarged_boosted_survival(self.fit, checked_whole("k", k, 1, MOST), threads, progress)
        )

    def importance(self, type: str | None = None, *, progress: bool = False) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"held_out", "impurity"}, optional
            As in `ODBTResults.importance`: by default the covariance of the scores with the slope
            of the loss before the first round, with opposite sign, on rows that did not grow the
            trees; for the Cox loss these slopes are martingale residuals without predictors.
            ``"impurity"`` if there are too few rows to hold some out.
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
            return impurity_table(self.fit)
        table = self._held_out_importance(progress)
        if table is None:
            raise InputError(f'type="{HELD_OUT}" needs more rows: use type="{IMPURITY}"')
        return table.copy()

    def _held_out_importance(self, progress: bool) -> pd.DataFrame | None:
        if "_held_out_table" not in vars(self):
            self._held_out_table = held_out_table(self.fit, progress)
        return self._held_out_table

    def _measured_importance(self, progress: bool) -> MeasuredImportance:
        table = self._held_out_importance(progress)
        if table is None:
            return impurity_measured(self.fit)
        return judged_measured(self.fit, table, "held out")

    def plot(self, kind: str = "loss", *, ax: Axes | None = None, progress: bool = False) -> Axes:
        """Plot the loss against the number of rounds, or the importances.

        Parameters
        ----------
        kind : {"loss", "importance"}, default "loss"
        ax : Axes, optional
            Where to draw.  By default on a new figure.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown.
        """
        if checked_choice("kind", kind, ("loss", "importance")) == "loss":
            return plots.plot_loss(self.loss_path, self.n_rounds, self.control.loss, ax)
        measured = self._measured_importance(progress)
        return plots.plot_importance(measured.table["share"], f"share of {measured.measure}", ax)

    def summary(self, *, progress: bool = False) -> Summary:
        """Return a summary: data, concordance, options, losses, importances.

        Parameters
        ----------
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Summary
        """
        importance = self._measured_importance(progress)
        return boosted_survival_summary(self.fit, self.concordance, importance)

    def _card(self) -> Card:
        return boosted_survival_card(self.fit, self.concordance)
