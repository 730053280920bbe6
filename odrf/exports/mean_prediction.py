"""Predictions of a forest with their intervals, in the words of statsmodels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_part, checked_truth
from odrf.engine.oob import OutOfBag
from odrf.fits.fit import Fit
from odrf.fits.intervals import LEVEL, interval_frame, requested_interval
from odrf.fits.predicting import RowsToPredict
from odrf.public import public
from odrf.statistics.effects import reach_in_errors
from odrf.statistics.jackknife import degrees_of_freedom
from odrf.text.summary import Card, card_as_html, card_as_text


class PredictionResults:
    """Predicted means with standard errors and intervals, as statsmodels gives them.

    Returned by `odrf.results.forest.ODRFResults.get_prediction`.

    Parameters
    ----------
    fit : Fit
        A forest of a regression.
    rows : RowsToPredict
        The rows.
    unseen : callable
        Returns the out-of-bag results of the forest.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    predicted_mean : Series
        The predictions, as by `predict`.
    se_mean : Series
        Their standard errors, by the jackknife after bootstrap; NaN for a training row that fewer
        than two trees of one kind left out.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ .", data[:400], n_trees=50, seed=1)
    >>> frame = forest.get_prediction(data[400:]).summary_frame(level=0.9)
    >>> list(frame)
    ['mean', 'mean_se', 'mean_ci_lower', 'mean_ci_upper', 'obs_ci_lower', 'obs_ci_upper']
    """

    def __init__(
        self, fit: Fit, rows: RowsToPredict, unseen: Callable[[], OutOfBag], progress: bool
    ) -> None:
        self._fit, self._rows, self._unseen, self._progress = fit, rows, unseen, progress
        means = self._interval("confidence", LEVEL)
        self.predicted_mean: pd.Series = means["estimate"].rename("mean")
        self.se_mean: pd.Series = means["std_error"].rename("mean_se")

    @property
    def var_pred_mean(self) -> pd.Series:
        """The squares of the standard errors."""
        return (self.se_mean**2).rename("mean_var")

    @public
    def conf_int(self, obs: bool = False, *, level: float = LEVEL) -> NDArray[np.float64]:
        """Return lower and upper ends of intervals.

        Parameters
        ----------
        obs : bool, default False
            True: of a new response, by out-of-bag residuals.  False: of the forest's expectation
            over training samples, normal, or by Student's t if groups are drawn.
        level : float, default 0.95
            Their nominal coverage, above 0 and below 1: 1 less the ``alpha`` of statsmodels.

        Returns
        -------
        (n, 2) float64

        Raises
        ------
        InputError
            If `level` is no such number; with ``obs=True`` also if it is too large for so few
            training rows.
        """
        level = checked_part("level", level)
        if checked_truth("obs", obs):
            return self._interval("prediction", level)[["conf_low", "conf_high"]].to_numpy()
        half = reach_in_errors(level, degrees_of_freedom(self._fit.draws)) * self.se_mean
        return np.column_stack([self.predicted_mean - half, self.predicted_mean + half])

    @public
    def summary_frame(self, *, level: float = LEVEL) -> pd.DataFrame:
        """Return means, standard errors and intervals, a row for each row.

        Parameters
        ----------
        level : float, default 0.95
            As in `conf_int`.

        Returns
        -------
        DataFrame
            Columns ``mean``, ``mean_se``, ``mean_ci_lower`` and ``mean_ci_upper`` for the forest's
            expectation, ``obs_ci_lower`` and ``obs_ci_upper`` for a new response: see `conf_int`.

        Raises
        ------
        InputError
            As by `conf_int`.
        """
        frame = pd.DataFrame({"mean": self.predicted_mean, "mean_se": self.se_mean})
        for name, obs in (("mean", False), ("obs", True)):
            ends = self.conf_int(obs, level=level)
            frame[f"{name}_ci_lower"], frame[f"{name}_ci_upper"] = ends.T
        return frame

    def _interval(self, interval: str, level: float) -> pd.DataFrame:
        request = requested_interval(self._fit, "response", interval, level, "auto")
        assert request is not None
        return interval_frame(self._fit, self._rows, request, self._unseen, self._progress)

    __repr__ = card_as_text
    _repr_html_ = card_as_html

    def _shown_card(self) -> Card:
        facts: dict[str, Any] = {"Rows": str(len(self.predicted_mean))}
        table = pd.DataFrame({"mean": self.predicted_mean, "mean_se": self.se_mean})
        return Card(type(self).__name__, facts, table)
