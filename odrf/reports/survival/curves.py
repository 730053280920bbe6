"""Predicted survival curves of rows and of groups of similar risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.engine.survival.curve_numbers import ROUNDING
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.validation import EvaluatedPredictions
from odrf.public import public
from odrf.statistics.survival.curves import number_at_risk
from odrf.statistics.survival.scores import groups_by_risk
from odrf.text.splits import number
from odrf.text.summary import Card, TableReport, evenly_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Rows and times that summaries show.
ROWS, TIMES = 10, 6
NEVER_SO_HIGH = "A time is inf where the incidence does not rise so far by the last event time."
NEVER = "A time is inf where the curve does not fall so far by the last event time."


def of_first_rows(n: int) -> str:
    """Return, for the title of a table, that it has only the first of n rows, if it has."""
    return f" (first {ROWS} of {n} rows)" if n > ROWS else ""


def rows_and_times(n: int, times: Sequence[Any]) -> dict[str, str]:
    """Return the facts about the curves of n rows at ascending times."""
    span = f"{len(times)}, {number(float(times[0]))} to {number(float(times[-1]))}"
    return {"Rows": str(n), "Times": span}


@public
class SurvivalCurves(TableReport):
    """Predicted survival curves of rows, or incidences of one cause of events.

    Returned by `curves` of results for survival times.

    Attributes
    ----------
    fit : SurvivalFit or BoostedSurvivalFit
    table : DataFrame
        Survival of each row at the times, or the incidence of the cause.
    quartiles : DataFrame
        The times by which a quarter, a half and three quarters of such rows have had the event, of
        the cause if there is one.
    cause : str or None
        The cause whose incidences they are.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("gbsg2")
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> forest.curves(data.head(2), times=[500, 1000]).table.shape
    (2, 2)
    """

    def __init__(
        self, fit: SurvivalFit | BoostedSurvivalFit, table: pd.DataFrame, quartiles: pd.DataFrame,
        cause: str | None = None,
    ) -> None:  # fmt: skip
        self.fit, self.quartiles, self.cause = fit, quartiles, cause
        self.table = table[sorted(set(table.columns))]

    @property
    def _title(self) -> str:
        return "Survival curves" if self.cause is None else f"{self._named()}: curves"

    def _sections(self) -> dict[str, pd.DataFrame]:
        of = of_first_rows(len(self.table))
        event = "the event" if self.cause is None else f"an event of {self.cause!r}"
        return {
            f"{self._named()} by time{of}": self._shown(),
            f"Time by which a share has had {event}{of}": self.quartiles.head(ROWS),
        }

    def _notes(self) -> tuple[str, ...]:
        never = NEVER if self.cause is None else NEVER_SO_HIGH
        return (never,) if np.isinf(self.quartiles.head(ROWS)).any(axis=None) else ()

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the curves, and below the axis the numbers of training rows at risk.

        Up to eight curves have the labels of their rows; of more than 100 the first are drawn.

        Raises
        ------
        InputError
            If the fit does not hold its training rows.
        """
        fit = self.fit
        weights = fit.data.weights * fit.data.weight_unit

        def at_risk(times: NDArray[np.float64]) -> NDArray[np.float64]:
            return number_at_risk(times, fit.times.time, weights, fit.times.start)

        return plots.survival.plot_predicted_curves(self.table, at_risk, ax, self.cause)

    def _shown(self) -> pd.DataFrame:
        shown = self.table.iloc[:ROWS, evenly_spread(len(self.table.columns), TIMES)]
        return shown.set_axis([number(float(time)) for time in shown.columns], axis=1)

    def _facts(self) -> dict[str, str]:
        return rows_and_times(len(self.table), list(self.table.columns))

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self._shown())

    def _named(self) -> str:
        return "Survival" if self.cause is None else f"Incidence of {self.cause!r}"


def times_reaching(incidence: pd.DataFrame, shares: Sequence[float]) -> pd.DataFrame:
    """Return the times by which incidences reach some shares; inf if it is never."""
    values, times, reached_by = incidence.to_numpy(), incidence.columns.to_numpy(), {}
    for share in shares:
        reached = values >= share - ROUNDING
        reached_by[share] = np.where(reached.any(axis=1), times[reached.argmax(axis=1)], np.inf)
    unknown = np.isnan(values).any(axis=1)
    table = pd.DataFrame(reached_by, index=incidence.index).mask(
        np.broadcast_to(unknown[:, np.newaxis], (len(values), len(reached_by)))
    )
    return table.rename_axis(columns="share")


def drawn_risk_groups(
    evaluated: EvaluatedPredictions, ax: Axes | None, cause: str | None = None
) -> Axes:
    """Draw the validation rows in groups of similar risk, predicted and observed."""
    rows = evaluated.rows
    times = rows.grid(rows.last_time())
    groups = groups_by_risk(rows, evaluated.risk)
    survival = evaluated.survival(times)
    curves = survival if cause is None else 1 - survival
    return plots.survival.plot_risk_groups(groups, curves, times, rows.source, ax, cause)
