"""The warnings about the data of a new fit."""

from __future__ import annotations

from typing import TypeVar

import pandas as pd

from odrf.design.chunks import StreamedRows
from odrf.fits.data_checks.codes_for_missing import warn_of_codes_for_missing
from odrf.fits.data_checks.leaking_predictors import warn_of_leaking_predictors
from odrf.fits.data_checks.rare_levels import warn_of_rare_levels
from odrf.fits.data_checks.repeated_rows_warning import warn_of_repeated_rows
from odrf.fits.data_checks.rows_looked_at import first_rows_looked_at, rows_looked_at
from odrf.fits.fit import AnyFit

__all__ = ["warn_of_chunks", "warned_of_data"]

AFit = TypeVar("AFit", bound=AnyFit)


def warned_of_data(fit: AFit, data: pd.DataFrame) -> AFit:
    """Return the fit; warn of what is visibly wrong with the rows it was made from.

    These are predictors that tell the response exactly, numbers that stand for empty cells, text
    with few rows a level, and rows that are repeated measurements.
    """
    looked_at = rows_looked_at(fit, data)
    if fit.data.times is None:
        warn_of_leaking_predictors(looked_at)
    warn_of_codes_for_missing(looked_at)
    warn_of_rare_levels(fit, data)
    warn_of_repeated_rows(fit, data)
    return fit


def warn_of_chunks(rows: StreamedRows) -> None:
    """Warn of what is visibly wrong with the first rows of a fit on rows in chunks.

    These are predictors that tell the response exactly, and numbers that stand for empty cells.
    What else `warned_of_data` looks for needs all rows.
    """
    looked_at = first_rows_looked_at(rows)
    warn_of_leaking_predictors(looked_at)
    warn_of_codes_for_missing(looked_at)
