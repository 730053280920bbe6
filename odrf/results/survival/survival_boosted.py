"""Results of boosted oblique trees for times to an event."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots
from odrf.checks import (
    MOST,
    checked_choice,
    checked_jobs,
    checked_truth,
    checked_whole,
)
from odrf.errors import InputError
from odrf.fits.survival.boosted import enlarged_boosted_survival
from odrf.reports.data_summary import with_data
from odrf.reports.importance import (
    MeasuredImportance,
    held_out_table,
    impurity_measured,
    impurity_table,
    judged_measured,
)
from odrf.reports.survival.curves import drawn_risk_groups
from odrf.reports.survival.summaries import (
    boosted_survival_card,
    boosted_survival_summary,
)
from odrf.reports.tree import splits_of_trees
from odrf.results.keeping.forgetting import ForgettingResults
from odrf.results.survival.judged_boosted_curves import JudgedBoostedCurves
from odrf.results.survival.survival_plots import CURVES
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivalBoostedResults"]

PLOTS = "loss", CURVES, "importance"
IMPORTANCE_TYPES = HELD_OUT, IMPURITY = "held_out", "impurity"


class SurvivalBoostedResults(ForgettingResults, JudgedBoostedCurves):
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

    @cached_property
    def splits(self) -> pd.DataFrame:
        """The splits of all trees, one row for each coefficient.

        Column ``tree`` is the number of the tree, from 0, as in ``predict(type="leaf")``.  The
        other columns are those of `ODTResults.splits`.
        """
        return splits_of_trees(self.fit.forest, self.fit.design)

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
        """Plot the loss against the number of rounds, curves beside observed ones, or importances.

        Parameters
        ----------
        kind : {"loss", "curves", "importance"}, default "loss"
            ``"curves"``: the rows that judge, as in `score`, in four groups of similar risk, as for
            `SurvivalForestResults`.
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
            If `kind` is unknown; for ``"curves"``, if no row that judges has an event.
        """
        if checked_choice("kind", kind, PLOTS) == CURVES:
            return drawn_risk_groups(self._judged_training, ax)
        if kind == "loss":
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
        summary = boosted_survival_summary(self.fit, self._judging_if_any, importance)
        return with_data(summary, self.fit) if checked_truth("detail", detail) else summary

    def _card(self) -> Card:
        return boosted_survival_card(self.fit, self._judging_if_any)
