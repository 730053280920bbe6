"""The warning about numbers that stand for empty cells, such as -999."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.listing import listed
from odrf.fits.data_checks.table_columns import numpy_columns, plain_numbers
from odrf.fits.fit import AnyFit
from odrf.warn import warn_user

__all__ = ["code_for_missing", "warn_of_codes_for_missing"]

# Two nines or more, with either sign, mark empty cells in many tables.  One such cell may be a
# slip, and values of fewer kinds beside it may be codes themselves.
CODES = frozenset(sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (-1, 1))
FEWEST, DIFFERENT = 2, 3


def warn_of_codes_for_missing(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn of columns in which a number such as -999 seems to stand for empty cells.

    Warns
    -----
    UserWarning
        There are such columns among the predictors and those of a response of numbers.
    """
    names = list(fit.design.schema.columns)
    if fit.design.response.classes is None:
        names = [*fit.design.response.columns, *names]
    there = set(data.columns)
    names = _ending_in_a_code(data, [name for name in names if name in there])
    found = [each for name in names for each in _found(data[name])]
    if not found:
        return
    name, code, others = found[0]
    more = f"; so it is in {listed([each.name for each in found[1:]])}" if found[1:] else ""
    column = f"data[{name!r}]"
    warn_user(
        f"{name!r} has {code:.0f} in several rows, unlike all its other values ({others[0]:.6g} "
        f"to {others[1]:.6g}){more}: if this stands for an empty cell, make it one "
        f"with {column} = {column}.replace({code:.0f}, np.nan)"
    )


class CodeForMissing(NamedTuple):
    """The number that seems to stand for empty cells of a column, and the range of the others."""

    name: str
    code: float
    others: tuple[float, float]


def _ending_in_a_code(data: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the names, without those of NumPy's numbers whose extremes are both no code."""
    numbers = numpy_columns(data, names)
    values = data[numbers].to_numpy(dtype=np.float64)
    low, high = (extreme.reduce(values, axis=0).tolist() for extreme in (np.fmin, np.fmax))
    ends = zip(numbers, low, high, strict=True)
    without = {name for name, *extremes in ends if CODES.isdisjoint(extremes)}
    return [name for name in names if name not in without]


def _found(column: pd.Series) -> list[CodeForMissing]:
    values = plain_numbers(column)
    code = None if values is None else code_for_missing(values)
    if values is None or code is None:
        return []
    others = values[np.isfinite(values) & (values != code)]
    return [CodeForMissing(str(column.name), code, (float(others.min()), float(others.max())))]


def code_for_missing(values: NDArray[np.float64]) -> float | None:
    """Return the number among values (n,) that seems to stand for empty cells; None without one.

    It is a code such as -999 in several rows: the only negative number, or farther from all others
    than these are from each other.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    for code in (float(known.min()), float(known.max())):
        if code not in CODES:
            continue
        others = known[known != code]
        if len(known) - len(others) < FEWEST or len(np.unique(others)) < DIFFERENT:
            continue
        if code < 0 <= others.min() or np.abs(others - code).min() > np.ptp(others):
            return code
    return None
