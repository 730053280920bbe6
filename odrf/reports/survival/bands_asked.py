"""Predicted curves with bands, as they are asked for."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_part
from odrf.errors import InputError
from odrf.fits.effects import trees_vary
from odrf.fits.intervals import warn_of_few_trees
from odrf.fits.predicting import RowsToPredict, spread_numbers
from odrf.fits.survival.curves import (
    PredictedRows,
    checked_times,
    curve_errors,
    warn_of_later_times,
)
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.hazards import cause_numbers
from odrf.public.progress import progress_bar
from odrf.reports.averaged.notes_on_errors import notes_on_errors
from odrf.reports.survival.survival_bands import SurvivalBands
from odrf.statistics.jackknife import distinguishes_rows

__all__ = ["bands_of"]

# Times of a curve by default.
MOST_TIMES = 50


def bands_of(
    rows: RowsToPredict,
    unseen: NDArray[np.bool_] | None,
    times: Any,
    cause: Any,
    level: float,
    progress: bool,
) -> SurvivalBands:
    """Return the curves of rows with their bands.

    Parameters
    ----------
    rows : RowsToPredict
    unseen : (B, n) bool or None
        The trees that predict each row; None: all.
    times, cause, level, progress
        As in `odrf.results.survival.curve_estimates.CurveEstimates.bands`, as are errors and
        warnings.
    """
    fit = cast(SurvivalFit, rows.fit)
    level = checked_part("level", level)
    causes = fit.design.response.causes
    number = None if cause is None else int(cause_numbers(cause, causes)[0])
    notes = notes_on_errors(fit)
    if not trees_vary(fit) or not distinguishes_rows(fit.draws, unseen is not None):
        reason = notes[0] if not trees_vary(fit) else "fit with a lower sample_fraction."
        raise InputError(f"bands() compares trees that drew other rows: {reason.removesuffix('.')}")
    at = (
        _spread(fit.event_times)
        if times is None
        else np.unique(checked_times(times, fit.event_times))
    )
    warn_of_later_times(at, fit)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        found = curve_errors(PredictedRows(fit, rows.X, unseen), at, level, number, bar.update)
    warn_of_few_trees(fit.forest.n_trees, found.trees_advised)
    estimate, std_error = (
        spread_numbers(values, rows.complete) for values in (found.estimate, found.std_error)
    )
    reach = spread_numbers(found.reach, rows.complete)
    named = None if number is None else causes[number]
    errors = std_error, found.alone, reach
    return SurvivalBands(fit.call, rows.index, at, estimate, *errors, level, notes, named)


def _spread(event_times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the event times, or of many some that are spread over them."""
    R = len(event_times)
    return event_times[np.unique(np.linspace(0, R - 1, min(R, MOST_TIMES)).round().astype(int))]
