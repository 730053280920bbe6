"""Observed times by which predictions of several models are scored, each in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.functions import EVENT, START, TIME
from odrf.design.survival_times import SurvivalTimes
from odrf.public import public
from odrf.statistics.survival.discrimination import harrells_c, unos_c
from odrf.statistics.survival.observation import ObservationCurve, observation_curve
from odrf.statistics.survival.scores import EvaluatedTimes, brier_scores, conditional_survival

__all__ = [
    "TimesToScore",
    "harrell_of_risks",
    "integrated_brier_of_curves",
    "times_to_score",
    "uno_of_risks",
]

Floats = NDArray[np.float64]


@public
@dataclass(frozen=True, eq=False)
class TimesToScore:
    """The observed times of n rows of a table.

    Attributes
    ----------
    times : SurvivalTimes
    until : float
        Events up to this time count, of whatever fold of the table.
    at : (G,) float64
        The times of predicted curves, ascending to `until`.  The first is 0, or if rows enter late
        the time since which they are judged, given no event before.
    observed : ObservationCurve
        That of all rows of the table, so that a fold of few rows has no large weights by chance.
    """

    times: SurvivalTimes
    until: float
    at: Floats
    observed: ObservationCurve

    def keeping(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> TimesToScore:
        """Return those of the `rows`, a mask (n,) or row numbers, alone."""
        return replace(self, times=self.times.keeping(rows))

    def frame(self) -> pd.DataFrame:
        """Return the columns "time", "event" (bool) and, if rows enter late, "start"."""
        columns = {TIME: self.times.time, EVENT: self.times.event > 0}
        if self.times.start is not None:
            columns[START] = self.times.start
        return pd.DataFrame(columns)


def times_to_score(times: SurvivalTimes) -> TimesToScore:
    """Return the observed times of all rows of a table."""
    rows = EvaluatedTimes(times.time, times.event, np.ones(len(times)), "of the table", times.start)
    if rows.start is not None:
        rows = rows.given_none_before(rows.first_time())
    until = rows.last_time()
    observed = observation_curve(rows.time, rows.event, start=rows.start)
    return TimesToScore(times, until, rows.grid(until), observed)


def harrell_of_risks(observed: TimesToScore, risk: Floats) -> float:
    """Return Harrell's C of the risks (n,)."""
    rows, used = _judging(observed)
    return harrells_c(rows.time, rows.event, risk[used], start=rows.start).estimate


def uno_of_risks(observed: TimesToScore, risk: Floats) -> float:
    """Return Uno's C of the risks (n,)."""
    rows, used = _judging(observed)
    # an event at the last time counts, too
    tau = float(np.nextafter(observed.until, np.inf))
    found = unos_c(
        rows.time, rows.event, risk[used], tau, observed=observed.observed, start=rows.start
    )
    return found.estimate


def integrated_brier_of_curves(observed: TimesToScore, survival: Floats) -> float:
    """Return the mean over time of the Brier score of the survival (n, G) at the times `at`."""
    rows, used = _judging(observed)
    curves, at = survival[used], observed.at
    if rows.start is not None:
        later = conditional_survival(curves, curves[:, 0])
        curves = np.column_stack([np.ones(len(later)), later])
    found = brier_scores(
        rows.time, rows.event, 1 - curves, at, observed=observed.observed, start=rows.start
    )
    return found.integrated.estimate


def _judging(observed: TimesToScore) -> tuple[SurvivalTimes, NDArray[np.bool_]]:
    """Return the rows that judge, and which they are (n,)."""
    times, since = observed.times, float(observed.at[0])
    if times.start is None:
        return times, np.ones(len(times), dtype=np.bool_)
    used = times.time > since
    kept = times.keeping(used)
    return replace(kept, start=np.maximum(times.start[used], since)), used
