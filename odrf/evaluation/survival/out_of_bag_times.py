"""Scores of a fit for times to an event on its out-of-bag rows."""

from __future__ import annotations

from odrf.errors import InputError
from odrf.evaluation.metrics import Metric
from odrf.fits.survival.validation import OUT_OF_BAG_ROWS
from odrf.results.survival.base import EvaluatedSurvivalResults
from odrf.results.survival.boosted import SurvivalBoostedResults

__all__ = ["JUDGED", "out_of_bag_score_of_times"]

JUDGED = EvaluatedSurvivalResults, SurvivalBoostedResults
"""Results for times to an event."""


def out_of_bag_score_of_times(
    fit: EvaluatedSurvivalResults | SurvivalBoostedResults, metric: Metric
) -> tuple[float, float]:
    """Return the score of the out-of-bag predictions, and its standard error, as `score()` does.

    Raises
    ------
    InputError
        If the fit has no out-of-bag rows; if the metric is a user's function.
    """
    table = fit.score()
    if table.index.name != OUT_OF_BAG_ROWS:
        raise InputError(
            'method="oob" needs out-of-bag rows, which only forests of odrf.odrf and boosted trees '
            'with several runs have: use method="cv"'
        )
    if metric.kind is None:
        raise InputError(
            f'metric={metric.name} is a function, and method="oob" of times to an event takes '
            '"integrated_brier", "uno_c" or "harrell_c": use one of them, or method="cv"'
        )
    return table["estimate"].to_dict()[metric.name], table["std_error"].to_dict()[metric.name]
