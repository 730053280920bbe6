"""The warnings about the data of a new fit."""

from __future__ import annotations

from typing import TypeVar

import pandas as pd

from odrf.fits.data_checks.codes_for_missing import warn_of_codes_for_missing
from odrf.fits.data_checks.leaking_predictors import warn_of_leaking_predictors
from odrf.fits.data_checks.rare_levels import warn_of_rare_levels
from odrf.fits.data_checks.repeated_rows_warning import warn_of_repeated_rows
from odrf.fits.data_checks.rows_looked_at import rows_looked_at
from odrf.fits.fit import AnyFit

__all__ = ["warned_of_data"]

AFit = TypeVar("AFit", bound=AnyFit)


def warned_of_data(fit: AFit, data: pd.DataFrame) -> AFit:
    """Return the fit; warn of what is visibly wrong with the rows it was made from.

    These are predictors that tell the response exactly, numbers that stand for empty cells, text
    that names rows, and rows that are repeated measurements.
    """
    looked_at = rows_looked_at(fit, data)
    warn_of_leaking_predictors(fit, looked_at)
    warn_of_codes_for_missing(fit, looked_at)
    warn_of_rare_levels(fit, data)
    warn_of_repeated_rows(fit, data)
    return fit
