"""How well boosted trees predict risks and survival curves, and the curves of rows."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import pandas as pd
from numpy.typing import ArrayLike

from odrf.errors import InputError
from odrf.fits.intervals import LEVEL
from odrf.fits.responses import leaves_rows_out
from odrf.fits.survival.validation import (
    JudgedPredictions,
    judged_new_scores,
    judged_training_scores,
)
from odrf.reports.survival.checks import SurvivalCalibration, SurvivalROC
from odrf.reports.survival.consistency import CurveConsistency
from odrf.reports.survival.curves import SurvivalCurves
from odrf.results.survival.boosted_predictions import BoostedSurvivalPredictions
from odrf.results.survival.judged_by_times import JudgedByTimes

__all__ = ["JudgedBoostedCurves"]


class JudgedBoostedCurves(BoostedSurvivalPredictions, JudgedByTimes):
    """Base class of boosted trees for times to an event whose curves are judged and drawn."""

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
        return self._scores(self._judging(newdata, offset), until, level, progress=False)

    def calibration(
        self,
        time: float,
        newdata: pd.DataFrame | None = None,
        *,
        offset: str | ArrayLike | None = None,
        groups: int = 10,
        level: float = LEVEL,
    ) -> SurvivalCalibration:
        """Compare predicted probabilities of an event by a time with how often events happen.

        Parameters
        ----------
        time : float
            The time, in the unit of the response.
        newdata, offset : optional
            The rows that judge, as in `score`.
        groups, level
            As in `SurvivalForestResults.calibration`.

        Returns
        -------
        SurvivalCalibration
            With ``table``, ``overall``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            As in `SurvivalForestResults.calibration`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> fit = odrf.odbt("Surv(time, event) ~ .", data, n_trees=50, n_runs=10, seed=1)
        >>> overall = fit.calibration(1000).overall
        >>> bool(abs(overall["predicted"] - overall["observed"]) < 0.03)
        True
        """
        return self._calibration(self._judging(newdata, offset), time, groups, level)

    def roc(
        self,
        time: float,
        newdata: pd.DataFrame | None = None,
        *,
        offset: str | ArrayLike | None = None,
        level: float = LEVEL,
    ) -> SurvivalROC:
        """Measure how well predictions tell rows with an event by a time from those without.

        Parameters
        ----------
        time, newdata, offset, level
            As in `calibration`.

        Returns
        -------
        SurvivalROC
            The ROC curve at the time, and areas along time, with ``table``, ``summary()`` and
            ``plot()``; see `SurvivalForestResults.roc`.

        Raises
        ------
        InputError
            As in `SurvivalForestResults.roc`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> fit = odrf.odbt("Surv(time, event) ~ .", data, n_trees=30, n_runs=5, seed=1)
        >>> bool(fit.roc(1000).table.loc[1000, "auc"] > 0.6)
        True
        """
        return self._roc(self._judging(newdata, offset), time, level)

    def curves(
        self,
        newdata: pd.DataFrame,
        times: float | ArrayLike | None = None,
        *,
        offset: str | ArrayLike | None = None,
        progress: bool = False,
    ) -> SurvivalCurves:
        """Return the predicted survival curves of rows, to be shown and drawn.

        Parameters
        ----------
        newdata : DataFrame
            The rows, with the columns that the formula uses; the response is not needed.
        times : float or sequence of float, optional
            Times in the unit of the response; by default all event times of the training rows.
        offset : str, array-like or float, optional
            As in `predict`.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        SurvivalCurves
            With ``table``, ``quartiles``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If `newdata` lacks a column, offsets are missing, or `times` are no numbers of at least
            0.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> fit = odrf.odbt("Surv(time, event) ~ .", data, n_trees=30, seed=1)
        >>> fit.curves(data.head(3)).quartiles.shape
        (3, 3)
        """
        survival = self.predict(newdata, "survival", times=times, offset=offset, progress=progress)
        quartiles = cast(pd.DataFrame, self.predict(newdata, "quantile", offset=offset))
        return SurvivalCurves(self.fit, cast(pd.DataFrame, survival), quartiles)

    def consistency(self) -> CurveConsistency:
        """Report why no result on consistency covers the predicted curves.

        Returns
        -------
        CurveConsistency
            With ``table``, ``conclusion`` and ``summary()``.
        """
        return CurveConsistency(self.fit)

    def _judging(
        self, newdata: pd.DataFrame | None, offset: str | ArrayLike | None
    ) -> JudgedPredictions:
        if newdata is not None:
            return judged_new_scores(self.fit, newdata, offset)
        if offset is not None:
            raise InputError("offset= needs newdata=: the training rows keep their offsets")
        return self._judged_training

    @cached_property
    def _judged_training(self) -> JudgedPredictions:
        several = leaves_rows_out(self.fit)
        return judged_training_scores(self.fit, self._out_of_bag if several else self._in_bag)
