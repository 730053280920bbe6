"""Curves of rows, to be shown and drawn."""

from __future__ import annotations

from typing import cast

import pandas as pd
from numpy.typing import ArrayLike

from odrf.fits.survival.curves import INCIDENCE, QUARTILES
from odrf.reports.survival.curves import SurvivalCurves, times_reaching
from odrf.results.survival.survival_results import SurvivalResults

__all__ = ["DrawnCurves"]


class DrawnCurves(SurvivalResults):
    """Base class of results whose predicted curves can be drawn."""

    def curves(
        self,
        newdata: pd.DataFrame,
        times: float | ArrayLike | None = None,
        *,
        cause: str | None = None,
        progress: bool = False,
    ) -> SurvivalCurves:
        """Return the predicted survival curves of rows, to be shown and drawn.

        With a `cause` they are the incidences of this cause.

        Parameters
        ----------
        newdata : DataFrame
            The rows, with the columns that the formula uses; the response is not needed.
        times : float or sequence of float, optional
            Times in the unit of the response; by default all event times of the training rows.
        cause : str, optional
            The cause of events, if there are several; by default the one that splits are about,
            or all as one.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        SurvivalCurves
            With ``table``, ``quartiles``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If `newdata` lacks a column, `times` are no numbers of at least 0, or there is no such
            `cause`.

        Warns
        -----
        UserWarning
            As `predict` warns.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> forest.curves(data.head(3)).quartiles.shape
        (3, 3)
        """
        cause = self.fit.control.cause if cause is None else cause
        if cause is not None:
            return self._curves_of_cause(newdata, times, cause, progress)
        survival = self.predict(newdata, "survival", times=times, progress=progress)
        quartiles = cast(pd.DataFrame, self.predict(newdata, "quantile"))
        return SurvivalCurves(self.fit, cast(pd.DataFrame, survival), quartiles)

    def _curves_of_cause(
        self,
        newdata: pd.DataFrame,
        times: float | ArrayLike | None,
        cause: str,
        progress: bool,
    ) -> SurvivalCurves:
        every = self.predict(newdata, INCIDENCE, cause=cause, progress=progress)
        table = (
            every if times is None else self.predict(newdata, INCIDENCE, times=times, cause=cause)
        )
        quartiles = times_reaching(cast(pd.DataFrame, every), QUARTILES)
        return SurvivalCurves(self.fit, cast(pd.DataFrame, table), quartiles, str(cause))
