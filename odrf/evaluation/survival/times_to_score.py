"""Observed times by which predictions of several models are scored, each in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.censored import EVENT, START, TIME
from odrf.design.survival.survival_times import SurvivalTimes
from odrf.errors import InputError
from odrf.public import public
from odrf.statistics.survival.brier import brier_scores
from odrf.statistics.survival.censoring import CensoringCurve, censoring_curve
from odrf.statistics.survival.concordance import harrells_c, unos_c
from odrf.statistics.survival.of_curves.judged_lifetimes import JudgedLifetimes

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
        The times of predicted curves, ascending from 0 to `until`.
    censoring : CensoringCurve or None
        That of all rows of the table, so that a fold of few rows has no large weights by chance;
        None if rows enter late.
    """

    times: SurvivalTimes
    until: float
    at: Floats
    censoring: CensoringCurve | None

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
    rows = JudgedLifetimes(
        times.time, times.event, np.ones(len(times)), "of the table", times.start
    )
    until = rows.last_time()
    late = times.start is not None
    censoring = None if late else censoring_curve(times.time, times.event)
    return TimesToScore(times, until, rows.grid(until), censoring)


def harrell_of_risks(observed: TimesToScore, risk: Floats) -> float:
    """Return Harrell's C of the risks (n,)."""
    times = observed.times
    return harrells_c(times.time, times.event, risk, start=times.start).estimate


def uno_of_risks(observed: TimesToScore, risk: Floats) -> float:
    """Return Uno's C of the risks (n,)."""
    times, censoring = observed.times, _known(observed, "uno_c")
    # an event at the last time counts, too
    tau = float(np.nextafter(observed.until, np.inf))
    return unos_c(times.time, times.event, risk, tau, censoring=censoring).estimate


def integrated_brier_of_curves(observed: TimesToScore, survival: Floats) -> float:
    """Return the mean over time of the Brier score of the survival (n, G) at the times `at`."""
    times, censoring = observed.times, _known(observed, "integrated_brier")
    found = brier_scores(times.time, times.event, 1 - survival, observed.at, censoring=censoring)
    return found.integrated.estimate


def _known(observed: TimesToScore, metric: str) -> CensoringCurve:
    if observed.censoring is None:
        raise InputError(
            f"metric={metric!r} weights rows by the probability not to be censored since time 0, "
            'and these enter late: use metric="harrell_c"'
        )
    return observed.censoring
