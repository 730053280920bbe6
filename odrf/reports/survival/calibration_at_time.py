"""Whether events happen by a time as often as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from odrf import plots
from odrf.fits.survival.validation import JudgedPredictions
from odrf.public import public
from odrf.statistics.survival.calibration import calibration_at
from odrf.text.layouts import percentage
from odrf.text.splits import number, with_limits
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivalCalibration"]


@public
class SurvivalCalibration(Carded):
    """Whether events happen by a time as often as predicted.

    Returned by `calibration` of results for times to an event.

    Parameters
    ----------
    call : str
        The call that made the fit.
    judged : JudgedPredictions
        The rows that judge.
    time : float
        The time.
    groups : int
        Most groups of rows.
    level : float
        Nominal coverage of the intervals.

    Attributes
    ----------
    time, level : float
    table : DataFrame
        For each group of rows, from the lowest predicted probability: ``weight``, the sum of case
        weights, or the number of rows if these are equal; ``predicted``, the mean predicted
        probability of an event by the time; ``observed``, the Kaplan–Meier (of one cause the
        Aalen–Johansen) estimate; ``std_error``, ``conf_low``, ``conf_high``.  Observed numbers are
        missing where a group is not observed so long.
    overall : Series
        The same of all rows together.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("gbsg2")
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> forest.calibration(1000, groups=4).table.columns.tolist()[:3]
    ['weight', 'predicted', 'observed']
    """

    def __init__(
        self, call: str, judged: JudgedPredictions, time: float, groups: int, level: float
    ) -> None:
        self.call, self.judged, self.time, self.level = call, judged, time, level
        risk = 1 - judged.survival(np.array([time]))[:, 0]
        self.table = self._compared(risk, groups)
        self.overall = self._compared(risk, 1).iloc[0].rename("all rows")

    def _compared(self, risk: np.ndarray, groups: int) -> pd.DataFrame:
        rows = self.judged.rows
        weighted = np.ptp(rows.weights) > 0
        found = calibration_at(
            rows.time, rows.event, risk, self.time, groups, rows.cause,
            rows.weights if weighted else None, rows.start, self.level,
        )  # fmt: skip
        names = {"low": "conf_low", "high": "conf_high"}
        table = pd.DataFrame(found._asdict()).rename(columns=names)
        return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="group"))

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        note = (
            "predicted is the mean predicted probability of an event by the time, observed its "
            f"{self._estimate} estimate; the limits take rows as independent, and "
            "there are none where no row, or each, had the event."
        )
        sections = {"Groups of rows by predicted probability": self.table}
        return Summary("Calibration at a time", self.call, self._facts(), sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw observed against predicted probabilities, with limits.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_survival_calibration(self.table, self.time, self._estimate, ax)

    @property
    def _estimate(self) -> str:
        return "Kaplan–Meier" if self.judged.rows.cause is None else "Aalen–Johansen"

    def _facts(self) -> dict[str, str]:
        limits = self.overall["conf_low"], self.overall["conf_high"]
        return self.judged.rows.facts() | {
            "Time": number(self.time),
            "Predicted, all rows": f"{self.overall['predicted']:.3f}",
            "Observed, all rows": with_limits(self.overall["observed"], *limits),
            "Level": percentage(self.level),
        }

    def _card(self) -> Card:
        return Card("Calibration at a time", self._facts(), self.table)
