"""The results that trees and forests for times to an event share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.fits.predicting import rows_of
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    training_rows,
)
from odrf.fits.survival.curves import predict_survival
from odrf.fits.survival.fit import SurvivalFit
from odrf.options.tree import Control
from odrf.public import public
from odrf.results.any_results import AnyResults
from odrf.results.keeping.forgetting import ForgettingResults

__all__ = ["SurvivalResults"]


class SurvivalResults(ForgettingResults, AnyResults):
    """Base class of the results for times to an event.

    Parameters
    ----------
    fit : SurvivalFit
        The fit, from which the results are computed when they are needed.
    """

    fit: SurvivalFit

    def __init__(self, fit: SurvivalFit) -> None:
        self.fit = fit

    @property
    def control(self) -> Control:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def event_times(self) -> NDArray[np.float64]:
        """The different times (R,) of events of the training rows, ascending."""
        return self.fit.event_times

    @public
    @predicting_rows_apart
    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "risk",
        *,
        times: float | ArrayLike | None = None,
        quantiles: float | Sequence[float] | None = None,
        cause: str | None = None,
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
            - ``"risk"``: the mortality, the cumulative hazard added up over all event times
              (Ishwaran et al. 2008).  Rows with a larger one are expected to have the event sooner.
              With a `cause`, the time that rows are expected to lose by it up to the last event
              time (Ishwaran et al. 2014).
            - ``"survival"``: the probability that the event comes after each of the `times`: the
              mean over the trees of the Kaplan–Meier curve in the row's leaf.
            - ``"hazard"``: the cumulative hazard at each of the `times`: the mean over the trees of
              the Nelson–Aalen curve in the row's leaf.
            - ``"incidence"``: the probability to have had an event of each cause by each of the
              `times`: the mean over the trees of the Aalen–Johansen curve in the row's leaf.  With
              the survival the incidences of all causes add up to 1.
            - ``"time"``: the median time to the event; infinite if less than half are expected to
              have it by the last event time.
            - ``"rmst"``: the restricted mean survival time, the area under the survival curve up to
              each of the `times`.
            - ``"lost"``: the time that rows are expected to lose by each cause up to each of the
              `times`: the area under its incidence (Andersen 2013).  With ``"rmst"`` those of all
              causes add up to the time itself.
            - ``"quantile"``: the times by which shares, the `quantiles`, have had the event.
            - ``"leaf"``: the number of the leaf that the row reaches in each tree.
        times : float or sequence of float, optional
            Times in the unit of the response.  By default all event times of the training rows; for
            ``"rmst"`` and ``"lost"`` the last one.  Beyond the last event time curves stay as they
            are.
        quantiles : float or sequence of float, optional
            Shares above 0 and below 1; by default the quartiles.
        cause : str, optional
            The cause of events whose ``"incidence"``, time ``"lost"`` or ``"risk"`` is predicted: a
            category of the event in ``Surv(time, event)``.  By default all of them: ``"risk"`` is
            then that of an event of whatever cause.
        training : {"out-of-bag", "in-bag"}, optional
            How training rows are predicted, without `newdata`: of a forest by default by the trees
            that did not draw the row.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`; for curves a column for each of the `times`; for several
            causes for each cause and time, such as ``["relapse", 365.0]``.

        Raises
        ------
        InputError
            If an argument is invalid, or is not for this `type`; if `newdata` lacks a column.

        Warns
        -----
        UserWarning
            If one of the `times` is after the last training row was observed.

        References
        ----------
        P. K. Andersen (2013). Decomposition of number of life years lost according to causes of
        death. Statistics in Medicine 32, 5278-5285.

        H. Ishwaran, T. A. Gerds, U. B. Kogalur, R. D. Moore, S. J. Gange and B. M. Lau (2014).
        Random survival forests for competing risks. Biostatistics 15, 757-773.

        H. Ishwaran, U. B. Kogalur, E. H. Blackstone and M. S. Lauer (2008). Random survival
        forests. Annals of Applied Statistics 2, 841-860.
        """
        leaves_out = newdata is None and leaves_rows_out(self.fit)
        out_of_bag = asked_out_of_bag(training, newdata, leaves_out)
        rows = training_rows(self.fit, None) if newdata is None else rows_of(self.fit, newdata)
        unseen = self._unseen if out_of_bag else None
        return predict_survival(rows, unseen, type, times, quantiles, cause, progress)

    @cached_property
    def _unseen(self) -> NDArray[np.bool_]:
        """Which rows (B, n) are out of bag for each tree."""
        return self.fit.draws.all_unseen()
