"""The warning about predictors that tell the response exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.formulas.spelling import quoted
from odrf.fits.data_checks.table_columns import numpy_columns, plain_numbers, rows_drawn
from odrf.fits.fit import AnyFit
from odrf.statistics.data_checks.exact_relations import exact_sum, goes_with, in_same_order
from odrf.warn import warn_user

__all__ = ["columns_that_tell", "warn_of_telling_columns"]

# Rows and columns that are looked at, first a few of the rows, and numbers whose sums are.  With
# fewer rows or values of the response, an exact relation may be chance.
ROWS, FEW_ROWS, MOST_COLUMNS, MOST_SUMMED = 1000, 16, 500, 100
FEWEST_ROWS, FEWEST_VALUES = 30, 5
# A sum of more columns may be what the user simulates.
MOST_IN_SUM = 3


def warn_of_telling_columns(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn of predictors from which the response can be computed.

    Either a single one, of which the response is a function that never falls or never rises, or
    whose values go with the classes one to one; or two or three numbers, of which the response is
    a weighted sum.

    Warns
    -----
    UserWarning
        There are such predictors, and others beside them.
    """
    found = columns_that_tell(fit, data)
    if not found:
        return
    names = " and ".join(repr(name) for name in found)
    without = " ".join(f"- {quoted(name)}" for name in found)
    they_are, told, them = "they are", "together tell", "them"
    if len(found) == 1:
        they_are, told, them = "it is", "tells", "it"
    warn_user(
        f"{names} {told} {fit.design.response.name!r} exactly: if {they_are} computed from the "
        f"response, or known only after it, leave {them} out with {without} in the formula, "
        "else errors are far too small for new rows"
    )


def columns_that_tell(fit: AnyFit, data: pd.DataFrame) -> list[str]:
    """Return the predictor, or the two or three, from which the response can be computed.

    The list is empty if there are none, if the fit has no other predictors, or too few rows.
    """
    there = set(data.columns)
    names = [name for name in fit.design.schema.columns if name in there][:MOST_COLUMNS]
    used = np.flatnonzero(fit.data.complete)
    if len(names) < 2 or len(used) < FEWEST_ROWS or fit.data.times is not None:
        return []
    place = rows_drawn(np.arange(len(used)), ROWS)
    table, y = data[names].iloc[used[place]], fit.data.y[place]
    if len(np.unique(y)) < (FEWEST_VALUES if fit.design.response.classes is None else 2):
        return []
    if fit.design.response.classes is not None:
        codes = y.astype(np.int64)
        one_each = _alike_within_a_class(table, codes)
        alike = (name for name in one_each if _goes_with(table[name], codes))
        return [found] if (found := next(alike, None)) is not None else []
    return _numbers_that_tell(table, names, y)


def _alike_within_a_class(table: pd.DataFrame, codes: NDArray[np.int64]) -> list[str]:
    """Return the columns, without NumPy's numbers that vary within the class of the first row."""
    few = table.iloc[np.flatnonzero(codes == codes[0])[:FEW_ROWS]]
    numbers = numpy_columns(few, list(few.columns))
    values = few[numbers].to_numpy()
    varies = (values != values[:1]).any(axis=0)
    varying = {name for name, each in zip(numbers, varies, strict=True) if each}
    return [name for name in table.columns if name not in varying]


def _goes_with(column: pd.Series, codes: NDArray[np.int64]) -> bool:
    try:
        return goes_with(pd.factorize(column)[0].astype(np.int64), codes)
    except TypeError:  # values that are no labels
        return False


def _numbers_that_tell(table: pd.DataFrame, names: list[str], y: NDArray[np.float64]) -> list[str]:
    known = {}
    for name in names:
        values = plain_numbers(table[name])
        if values is not None and np.isfinite(values).all():
            known[name] = values
            if in_same_order(values, y):
                return [name]
    if not 2 <= len(known) <= MOST_SUMMED:
        return []
    summed = list(known)
    found = [summed[j] for j in exact_sum(np.stack(list(known.values()), axis=1), y, MOST_IN_SUM)]
    return found if len(found) < len(names) else []
