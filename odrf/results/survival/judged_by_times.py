"""What is made of predicted risks and curves beside the observed times of the rows that judge."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import Any

import pandas as pd

from odrf.checks import checked_part, checked_whole
from odrf.fits.survival.validation import JudgedPredictions, NoJudgesError
from odrf.public.progress import progress_bar
from odrf.reports.survival.checks import SurvivalCalibration, SurvivalROC
from odrf.reports.survival.summaries import estimates_table
from odrf.results.any_results import AnyResults

__all__ = ["JudgedByTimes"]

MOST_GROUPS = 1000


class JudgedByTimes(AnyResults):
    """Base class of all results whose risks and curves observed times judge.

    Parameters
    ----------
    fit : SurvivalFit or BoostedSurvivalFit
        The fit, from which the results are computed when they are needed.
    """

    fit: Any

    @property
    @abstractmethod
    def _judged_training(self) -> JudgedPredictions:
        """The training rows judging all causes as one; the first call computes them."""

    @property
    def _judging_if_any(self) -> JudgedPredictions | None:
        """The training rows judging all causes as one; None if none of them has an event."""
        with suppress(NoJudgesError):
            return self._judged_training
        return None

    def _scores(
        self, judged: JudgedPredictions, until: float | None, level: float, progress: bool
    ) -> pd.DataFrame:
        level, rows = checked_part("level", level), judged.rows
        until = None if until is None else rows.checked_time("until", until)
        with progress_bar(total=len(judged.used), unit="row", progress=progress) as bar:
            scores = judged.scores(until, bar.update)
        return estimates_table(scores, level, rows.groups, rows.source)

    def _calibration(
        self, judged: JudgedPredictions, time: float, groups: int, level: float
    ) -> SurvivalCalibration:
        time = judged.rows.checked_time("time", time)
        groups = checked_whole("groups", groups, 1, MOST_GROUPS)
        return SurvivalCalibration(self.call, judged, time, groups, checked_part("level", level))

    def _roc(self, judged: JudgedPredictions, time: float, level: float) -> SurvivalROC:
        time = judged.rows.checked_time("time", time)
        return SurvivalROC(self.call, judged, time, checked_part("level", level))
