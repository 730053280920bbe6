"""Boosted trees for times to an event: the state of the fit, and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import checked_choice, require_default
from odrf.fits.predicting import offsets_of_rows, predict_rows, rows_of, spread_numbers
from odrf.fits.responses import (
    asked_out_of_bag,
    boosted_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    training_rows,
    warn_of_rows_always_drawn,
)
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.curves import (
    CURVE_PREDICTIONS,
    PredictedScores,
    curves_as_asked,
    require_use,
)
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.results.boosted.rounds_of_trees import RoundsOfTrees

__all__ = ["BoostedSurvivalPredictions"]

LINK, LEAF = "link", "leaf"


class BoostedSurvivalPredictions(RoundsOfTrees):
    """Base class of boosted trees for times to an event.

    Parameters
    ----------
    fit : BoostedSurvivalFit
        The fit, from which the results are computed when they are needed.
    """

    fit: BoostedSurvivalFit

    def __init__(self, fit: BoostedSurvivalFit) -> None:
        self.fit = fit

    @property
    def event_times(self) -> NDArray[np.float64]:
        """The different times (R,) of events of the training rows, ascending."""
        return self.fit.event_times

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        return self.fit.scores(self.fit.data.X, self.fit.offset.values)[0]

    @cached_property
    def _out_of_bag(self) -> NDArray[np.float64]:
        return boosted_out_of_bag(self.fit)[0]

    @public
    @predicting_rows_apart
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
            If every run drew a training row, whose out-of-bag prediction is missing; with the Cox
            loss, if one of the `times` is after the last training row was observed.

        References
        ----------
        N. Breslow. Covariance analysis of censored survival data. Biometrics 30 (1974).
        """
        checked_choice("type", type, (*CURVE_PREDICTIONS, LINK))
        require_use(type, times, quantiles, None)
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
                reading = cast(BoostedSurvivalFit, rows.fit)  # it knows the fills of empty cells
                scores = reading.scores(rows.X, offsets, bar.update)[0]
        if type == LINK:
            return pd.Series(spread_numbers(scores, rows.complete), index=rows.index, name=LINK)
        predicted = PredictedScores(fit.curves, scores)
        return curves_as_asked(predicted, fit.event_times, rows, type, times, quantiles, False)
