"""The warning about numbers that stand for empty cells, such as -999."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.columns import listed
from odrf.errors import warn_user
from odrf.fits.data_checks.rows_looked_at import RowsLookedAt

__all__ = ["code_for_missing", "warn_of_codes_for_missing"]

# Two nines or more, with either sign, mark empty cells in many tables.  One such cell may be a
# slip, and values of fewer kinds beside it may be codes themselves.
CODES = frozenset(sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (-1, 1))
FEWEST, DIFFERENT = 2, 3


def warn_of_codes_for_missing(looked_at: RowsLookedAt) -> None:
    """Warn of columns in which a number such as -999 seems to stand for empty cells.

    Warns
    -----
    UserWarning
        There are such columns among the predictors and those of a response of numbers.
    """
    names, response = looked_at.predictors, looked_at.response
    if response.classes is None:
        names = [*(name for name in response.columns if name in looked_at.data), *names]
    found = [each for name in names for each in _found(name, looked_at)]
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


def _found(name: str, looked_at: RowsLookedAt) -> list[CodeForMissing]:
    values = looked_at.numbers_in(name)
    code = None if values is None else code_for_missing(values)
    if values is None or code is None:
        return []
    others = values[np.isfinite(values) & (values != code)]
    return [CodeForMissing(name, code, (float(others.min()), float(others.max())))]


def code_for_missing(values: NDArray[np.float64]) -> float | None:
    """Return the number among values (n,) that seems to stand for empty cells; None without one.

    It is a code such as -999 in several rows: the only negative number, or farther from all others
    than these are from each other.
    """
    ends = {float(np.fmin.reduce(values)), float(np.fmax.reduce(values))} if len(values) else set()
    for code in sorted(ends & CODES):
        others = values[np.isfinite(values) & (values != code)]
        if np.count_nonzero(values == code) < FEWEST or len(np.unique(others)) < DIFFERENT:
            continue
        if code < 0 <= others.min() or np.abs(others - code).min() > np.ptp(others):
            return code
    return None
