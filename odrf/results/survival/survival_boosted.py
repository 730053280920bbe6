"""Results of boosted oblique trees for times to an event."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd
from numpy.typing import ArrayLike

from odrf import plots
from odrf.checks import (
    MOST,
    checked_choice,
    checked_jobs,
    checked_part,
    checked_truth,
    checked_whole,
)
from odrf.errors import InputError
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.fits.survival.boosted_survival_fit import enlarged_boosted_survival
from odrf.fits.survival.judged.judged_boosted import judged_new_scores, judged_training_scores
from odrf.fits.survival.judged.judged_predictions import JudgedPredictions
from odrf.reports.data_summary import with_data
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
from odrf.reports.survival.scores_table import estimates_table
from odrf.results.survival.boosted_predictions import BoostedSurvivalPredictions
from odrf.text.card import Card
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivalBoostedResults"]

LEVEL = 0.95
IMPORTANCE_TYPES = HELD_OUT, IMPURITY = "held_out", "impurity"


class SurvivalBoostedResults(BoostedSurvivalPredictions):
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

    def score(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        offset: str | ArrayLike | None = None,
        until: float | None = None,
        level: float = LEVEL,
    ) -> pd.DataFrame:
        """Return how good predicted risks and curves are.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows with their times and events, each of weight 1.  By default the training rows with
            their case weights: with several runs predicted out of bag, else those held out.  With
            one run and none held out it is all training rows, for which the scores are too good.
        offset : str, array-like or float, optional
            As in `predict`.
        until, level
            As in `SurvivalForestResults.score`.

        Returns
        -------
        DataFrame
            As that of `SurvivalForestResults.score`: Harrell's and Uno's C, the integrated Brier
            score, and the share that is explained.

        Raises
        ------
        InputError
            As in `SurvivalForestResults.score`.

        Examples
        --------
        >>> import odrf
        >>> problem = odrf.simulate.proportional_hazards()
        >>> data = problem.sample(200, seed=1)
        >>> fit = odrf.odbt("Surv(time, event) ~ .", data, n_trees=30, n_runs=5, seed=1)
        >>> bool(fit.score(problem.sample(200, seed=2)).loc["harrell_c", "estimate"] > 0.6)
        True
        """
        if newdata is None and offset is not None:
            raise InputError("offset= needs newdata=: the training rows keep their offsets")
        judged, level = self._judged_training, checked_part("level", level)
        if newdata is not None:
            judged = judged_new_scores(self.fit, newdata, offset)
        rows = judged.rows
        scores = judged.scores(None if until is None else rows.checked_time("until", until))
        return estimates_table(scores, level, rows.groups, rows.source)

    @cached_property
    def _judged_training(self) -> JudgedPredictions:
        several = leaves_rows_out(self.fit)
        return judged_training_scores(self.fit, self._out_of_bag if several else self._in_bag)

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

    def summary(self, *, detail: bool = False, progress: bool = False) -> Summary:
        """Return a summary: data, options, scores, losses, importances.

        Parameters
        ----------
        detail : bool, default False
            Also show what each predictor was taken as: the table of `data_summary`.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Summary
        """
        importance = self._measured_importance(progress)
        summary = boosted_survival_summary(self.fit, self._judged_training, importance)
        return with_data(summary, self.fit) if checked_truth("detail", detail) else summary

    def _card(self) -> Card:
        return boosted_survival_card(self.fit, self._judged_training)

    def _shown_card(self) -> Card:
        """Return the short description; without training rows, of which it tells, a shorter one."""
        if self.fit.data.has_rows:
            return self._card()
        facts = {"Call": self.call, "Training rows": f"{self.nobs}, left out"}
        return Card(type(self).__name__, facts)
