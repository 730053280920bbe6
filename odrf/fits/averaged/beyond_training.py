"""Numbers that variables are set to, beyond those of the training rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf.checks import is_number
from odrf.design.new_rows import training_frame, with_levels
from odrf.errors import InputError, warn_user
from odrf.fits.fit import AnyFit

__all__ = ["warn_of_values_beyond"]

# Numbers that are read back from a fit are right to about seven digits of their range.
SLACK = 1e-6


def warn_of_values_beyond(fit: AnyFit, values: Mapping[str, Iterable[Any]]) -> None:
    """Warn of numbers beyond the range of the training rows, if the fit has these.

    Parameters
    ----------
    fit : AnyFit
    values : mapping
        What each variable is set to.  Anything but numbers is left alone, as are missing values.

    Warns
    -----
    UserWarning
        A number is beyond the range: trees predict there nearly what they predict at its end.
    """
    numbers = {
        name: [each for each in of if is_number(each) and not np.isnan(float(each))]
        for name, of in values.items()
    }
    numbers = {name: of for name, of in numbers.items() if of}
    training = _training_rows(fit) if numbers else None
    if training is None:
        return
    for name, of in numbers.items():
        column = training[name]
        if not is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype):
            continue
        low, high = float(column.min()), float(column.max())
        slack = SLACK * max(high - low, abs(low), abs(high))
        beyond = [each for each in of if not low - slack <= float(each) <= high + slack]
        if beyond:
            warn_user(
                f"{name!r} is set to {float(beyond[0]):.6g}, but the training rows have "
                f"{low:.6g} to {high:.6g}: predictions beyond are nearly those at the end of the "
                "range, and intervals do not show it; use values within the range"
            )


def _training_rows(fit: AnyFit) -> pd.DataFrame | None:
    """Return the training rows that count, numbers taken as levels as such; None without rows."""
    if not fit.data.has_rows:
        return None
    try:
        frame = training_frame(fit.design, fit.data)
    except InputError:  # an earlier version has saved it without all columns
        return None
    return with_levels(fit.design, frame[fit.data.weights > 0])
