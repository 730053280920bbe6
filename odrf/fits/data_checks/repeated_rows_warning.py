"""The warning about rows that are visibly no independent observations."""

from __future__ import annotations

import pandas as pd

from odrf.errors import warn_user
from odrf.fits.data_checks.repeated_rows import repeated_rows
from odrf.fits.data_checks.rows_going_on import column_of_subjects
from odrf.fits.data_checks.rows_in_time import followed_in_time
from odrf.fits.fit import AnyFit, Fit

__all__ = ["warn_of_repeated_rows"]


def warn_of_repeated_rows(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn if rows look like repeated measurements, and the fit has neither groups nor an order.

    Either a column divides the rows into groups, within which almost all other columns hardly vary;
    or rows that enter late begin there when others end; or the rows are in the order of a column,
    and the residuals of a tree or forest follow each other.
    """
    structure = fit.data.structure
    if structure is not None and (structure.groups is not None or structure.order is not None):
        return
    subjects = column_of_subjects(fit, data)
    if subjects is not None:
        warn_user(
            f"rows follow each other in time: each begins when another of the same {subjects!r} "
            "ends, as those of one subject do; rows that judge a fit then have others of their "
            f"subject in it, and errors are too small for new ones: use groups={subjects!r}"
        )
        return
    found = repeated_rows(fit, data)
    if found is not None:
        hardly, columns, _ = found.found
        warn_user(
            f"rows look like repeated measurements: {hardly} of {columns} columns hardly vary "
            f"within the values of {found.column!r}; rows that judge a fit then have twins in it, "
            f"and errors are too small for new values of {found.column!r}: use "
            f"groups={found.column!r} if these are subjects or the like"
        )
        return
    if not isinstance(fit, Fit) or fit.data.times is not None:
        return
    in_time = followed_in_time(fit, data)
    if in_time is not None:
        column, correlation = in_time
        warn_user(
            f"rows are in the order of {column!r}, and residuals of successive rows have a "
            f"correlation of {correlation:.2f}; errors are then too small for later rows: use "
            f"order={column!r} if this is time"
        )
