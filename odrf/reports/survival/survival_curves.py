"""Predicted survival curves of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.fits.survival.boosted_survival_fit import BoostedSurvivalFit
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.public import public
from odrf.statistics.survival.risk_sets import number_at_risk
from odrf.text.card import Card, Carded
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivalCurves"]

# Rows and times that summaries show.
ROWS, TIMES = 10, 6
NEVER = "A time is inf where the curve does not fall so far by the last event time."


@public
class SurvivalCurves(Carded):
    """Predicted survival curves of rows.

    Returned by `curves` of results for times to an event.

    Parameters
    ----------
    fit : SurvivalFit or BoostedSurvivalFit
        The fit.
    table : DataFrame
        Survival of each row at the times.
    quartiles : DataFrame
        The times by which a quarter, a half and three quarters of such rows have had the event.

    Attributes
    ----------
    table, quartiles : DataFrame

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("gbsg2")
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> forest.curves(data.head(2), times=[500, 1000]).table.shape
    (2, 2)
    """

    def __init__(
        self,
        fit: SurvivalFit | BoostedSurvivalFit,
        table: pd.DataFrame,
        quartiles: pd.DataFrame,
    ) -> None:
        self.fit, self.quartiles = fit, quartiles
        self.table = table[sorted(set(table.columns))]

    def summary(self) -> Summary:
        """Return survival at some times, and quartiles, with text, HTML and LaTeX output."""
        of = f" (first {ROWS} of {len(self.table)} rows)" if len(self.table) > ROWS else ""
        sections = {
            f"Survival by time{of}": self._shown(),
            f"Time by which a share has had the event{of}": self.quartiles.head(ROWS),
        }
        notes = (NEVER,) if np.isinf(self.quartiles.head(ROWS)).any(axis=None) else ()
        return Summary("Survival curves", self.fit.call, self._facts(), sections, notes)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the curves, and below the axis the numbers of training rows at risk.

        Up to eight curves have the labels of their rows; of more than 100 the first are drawn.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If the fit does not hold its training rows.
        """
        fit = self.fit
        weights = fit.data.weights * fit.data.weight_unit

        def at_risk(times: NDArray[np.float64]) -> NDArray[np.float64]:
            return number_at_risk(times, fit.times.time, weights, fit.times.start)

        return plots.plot_predicted_curves(self.table, at_risk, ax)

    def _shown(self) -> pd.DataFrame:
        times = np.linspace(0, len(self.table.columns) - 1, TIMES).round().astype(int)
        shown = self.table.iloc[:ROWS, np.unique(times)]
        return shown.set_axis([number(float(time)) for time in shown.columns], axis=1)

    def _facts(self) -> dict[str, str]:
        at = self.table.columns
        span = f"{len(at)}, {number(float(at[0]))} to {number(float(at[-1]))}"
        return {"Rows": str(len(self.table)), "Times": span}

    def _card(self) -> Card:
        return Card("Survival curves", self._facts(), self._shown())
