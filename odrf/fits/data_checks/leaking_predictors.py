"""The warning about predictors that tell the response exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.formula import quoted
from odrf.errors import warn_user
from odrf.fits.data_checks.rows_looked_at import RowsLookedAt
from odrf.statistics.data_checks import exact_sum, goes_with, in_same_order

__all__ = ["leaking_predictors", "warn_of_leaking_predictors"]

# Rows that are looked at, first a few of them, and numbers whose sums are.  With fewer rows or
# values of the response, an exact relation may be chance.
ROWS, FEW_ROWS, MOST_SUMMED = 1000, 16, 100
FEWEST_ROWS, FEWEST_VALUES = 30, 5
# A sum of more columns may be what the user simulates.
MOST_IN_SUM = 3


def warn_of_leaking_predictors(looked_at: RowsLookedAt) -> None:
    """Warn of predictors from which the response can be computed.

    Either a single one, of which the response is a function that never falls or never rises, or
    whose values go with the classes one to one; or two or three numbers, of which the response is
    a weighted sum.

    Warns
    -----
    UserWarning
        There are such predictors, and others beside them.
    """
    found = leaking_predictors(looked_at)
    if not found:
        return
    names = " and ".join(repr(name) for name in found)
    without = " ".join(f"- {quoted(name)}" for name in found)
    they_are, told, them = "they are", "together tell", "them"
    if len(found) == 1:
        they_are, told, them = "it is", "tells", "it"
    warn_user(
        f"{names} {told} the response exactly: if {they_are} computed from it, or known only after "
        f"it, leave {them} out (in a formula with {without}), else errors are far too small for "
        "new rows"
    )


def leaking_predictors(looked_at: RowsLookedAt) -> list[str]:
    """Return the predictor, or the two or three, from which the response can be computed.

    The list is empty if there are none, if there are no other predictors, or too few rows.
    """
    n, is_number = len(looked_at.y), looked_at.response.classes is None
    if len(looked_at.predictors) < 2 or n < FEWEST_ROWS:
        return []
    if len(np.unique(looked_at.y)) < (FEWEST_VALUES if is_number else 2):
        return []
    place = np.linspace(0, n - 1, min(n, ROWS)).astype(np.int64)
    if is_number:
        return _numbers_that_tell(looked_at, place)
    codes = looked_at.y.astype(np.int64)
    for name in looked_at.predictors:
        if _goes_with(name, looked_at, place, codes):
            return [name]
    return []


def _goes_with(
    name: str, looked_at: RowsLookedAt, place: NDArray[np.int64], codes: NDArray[np.int64]
) -> bool:
    """Return whether the values of a column go with the classes one to one, in some rows."""
    few = place[codes[place] == codes[place[0]]][:FEW_ROWS]
    numbers = looked_at.numbers.get(name)
    if numbers is not None and (numbers[few] != numbers[few[0]]).any():
        return False
    values = looked_at.column(name).iloc[place] if numbers is None else numbers[place]
    try:
        return goes_with(pd.factorize(values)[0].astype(np.int64), codes[place])
    except TypeError:  # values that are no labels
        return False


def _numbers_that_tell(looked_at: RowsLookedAt, place: NDArray[np.int64]) -> list[str]:
    known, y = {}, looked_at.y[place]
    for name in looked_at.predictors:
        values = looked_at.numbers_in(name)
        if values is not None and np.isfinite(values[place]).all():
            known[name] = values[place]
            if in_same_order(known[name], y):
                return [name]
    if not 2 <= len(known) <= MOST_SUMMED:
        return []
    summed = list(known)
    found = [summed[j] for j in exact_sum(np.stack(list(known.values()), axis=1), y, MOST_IN_SUM)]
    return found if len(found) < len(looked_at.predictors) else []
