"""Checks at a time: calibration of predicted events, and how well they tell rows apart."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits.survival.validation import EvaluatedPredictions
from odrf.public import public
from odrf.reports.survival.summaries import estimates_table
from odrf.statistics.survival.discrimination import dynamic_areas, roc_at
from odrf.statistics.survival.scores import EvaluatedTimes, calibration_at
from odrf.text.layouts import percentage
from odrf.text.splits import number, with_limits
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ROC, AUC = "roc", "auc"
# Times along which areas are computed, beside that asked for.
TIMES = 20
# A twentieth of the events have happened by the first of them.
EARLIEST = 0.05


@public
class SurvivalROC(TableReport):
    """How well predictions tell rows with an event by a time from rows without one by then.

    Returned by `roc` of results for survival times.  Rows whose state at a time is known stand
    for those that were censored before.

    Attributes
    ----------
    evaluated : EvaluatedPredictions
    time, level : float
    curve : DataFrame
        The ROC curve at the time: ``threshold`` of the predicted probability of an event,
        ``sensitivity``, ``specificity``.
    table : DataFrame
        At the time, and at others along the event times at which some rows have not had the event:
        the area under the ROC curve ``auc``, ``std_error``, ``conf_low``, ``conf_high``.
    mean : Series
        The mean of the areas over these times, weighted by the probability of an event between
        them, with the same numbers.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("gbsg2")
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.roc(1000).table.loc[1000, "auc"] > 0.6)
    True
    """

    _title = "ROC curve at a time"

    def __init__(
        self, call: str, evaluated: EvaluatedPredictions, time: float, level: float
    ) -> None:
        rows = evaluated.rows
        self.call, self.evaluated, self.time, self.level = call, evaluated, time, level
        lives = rows.time, rows.event
        rest: dict[str, Any] = {"cause": rows.cause, "weights": rows.weights, "start": rows.start}
        areas_at = partial(dynamic_areas, *lives, **rest)
        at = np.union1d(_times(rows), [time])
        at = at[_have_controls(rows, at)]
        if time not in at:
            raise InputError(
                f"time={time:g}: every row whose state is then known has had the event, so that "
                "there is none to tell it from: use an earlier time"
            )
        self._at_time = int(np.searchsorted(at, time))
        risk = 1 - evaluated.survival(at)
        self.curve = pd.DataFrame(roc_at(*lives, risk[:, self._at_time], time, **rest)._asdict())
        # one time alone, so that what each row adds to its error is known
        areas = {str(m): areas_at(score=risk[:, [m]], at=at[[m]]).mean for m in range(len(at))}
        areas["mean"] = areas_at(score=risk, at=at).mean
        table = estimates_table(areas, level, rows.groups, "time")
        table = table.rename(columns={"estimate": "auc"})
        self.mean = table.iloc[-1]
        self.table = table.iloc[:-1].set_axis(pd.Index(at, name="time"))

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Area under the ROC curve": self._shown()}

    def plot(self, kind: str = ROC, *, ax: Axes | None = None) -> Axes:
        """Draw the ROC curve at the time, or the area under it along time.

        Parameters
        ----------
        kind : {"roc", "auc"}, default "roc"
            ``"roc"``: sensitivity against 1 - specificity.  ``"auc"``: the areas along time, with
            their intervals.
        {about ax}

        Raises
        ------
        InputError
            If `kind` is unknown.
        """
        if checked_choice("kind", kind, (ROC, AUC)) == AUC:
            return plots.survival.plot_areas_along_time(self.table, self.time, ax)
        words = f"area {_with_limits(self.table.iloc[self._at_time])}"
        return plots.survival.plot_roc_at(self.curve, self.time, words, ax)

    def _shown(self) -> pd.DataFrame:
        times = [number(float(t)) for t in self.table.index]
        return self.table.set_axis(pd.Index(times, name="time"))

    def _facts(self) -> dict[str, str]:
        return self.evaluated.rows.facts() | {
            "Time": number(self.time),
            "Area": _with_limits(self.table.iloc[self._at_time]),
            "Mean area over time": _with_limits(self.mean),
            "Level": percentage(self.level),
        }

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self._shown(), (self._at_time,))


def _times(rows: EvaluatedTimes) -> NDArray[np.float64]:
    """Return times at equal shares of the events, without the first, before which few happen."""
    times = np.sort(rows.time[rows.happened & (rows.time <= rows.last_time())])
    return np.unique(np.quantile(times, np.linspace(EARLIEST, 1, TIMES), method="lower"))


def _have_controls(rows: EvaluatedTimes, at: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return at which of the times (m,) a row is known not to have had the event."""
    observed = at < rows.time.max()
    if rows.start is not None:
        observed = np.array([bool(((rows.start <= t) & (t < rows.time)).any()) for t in at])
    if rows.cause is not None and (rows.event[rows.event > 0] != rows.cause).any():
        first = rows.time[(rows.event > 0) & (rows.event != rows.cause)].min()
        return (at >= first) | observed
    return observed


def _with_limits(line: pd.Series) -> str:
    return with_limits(line["auc"], line["conf_low"], line["conf_high"])


@public
class SurvivalCalibration(TableReport):
    """Whether events happen by a time as often as predicted.

    Returned by `calibration` of results for survival times.

    Attributes
    ----------
    evaluated : EvaluatedPredictions
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

    _title = "Calibration at a time"
    _heading = "Groups of rows by predicted probability"

    def __init__(
        self, call: str, evaluated: EvaluatedPredictions, time: float, groups: int, level: float
    ) -> None:
        self.call, self.evaluated, self.time, self.level = call, evaluated, time, level
        risk = 1 - evaluated.survival(np.array([time]))[:, 0]
        self.table = self._compared(risk, groups)
        self.overall = self._compared(risk, 1).iloc[0].rename("all rows")

    def _compared(self, risk: np.ndarray, groups: int) -> pd.DataFrame:
        rows = self.evaluated.rows
        weighted = np.ptp(rows.weights) > 0
        groups_of_rows = calibration_at(
            rows.time, rows.event, risk, self.time, groups, rows.cause,
            rows.weights if weighted else None, rows.start, self.level,
        )  # fmt: skip
        names = {"low": "conf_low", "high": "conf_high"}
        table = pd.DataFrame(groups_of_rows._asdict()).rename(columns=names)
        return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="group"))

    def _notes(self) -> tuple[str, ...]:
        return (
            "predicted is the mean predicted probability of an event by the time, observed its "
            f"{self._estimate} estimate; the limits take rows as independent, and "
            "there are none where no row, or each, had the event.",
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw observed against predicted probabilities, with limits."""
        return plots.survival.plot_survival_calibration(self.table, self.time, self._estimate, ax)

    @property
    def _estimate(self) -> str:
        return "Kaplan–Meier" if self.evaluated.rows.cause is None else "Aalen–Johansen"

    def _facts(self) -> dict[str, str]:
        limits = self.overall["conf_low"], self.overall["conf_high"]
        return self.evaluated.rows.facts() | {
            "Time": number(self.time),
            "Predicted, all rows": f"{self.overall['predicted']:.3f}",
            "Observed, all rows": with_limits(self.overall["observed"], *limits),
            "Level": percentage(self.level),
        }
