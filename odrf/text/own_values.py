"""Cuts of ranked columns as text, in the values of the data."""

from __future__ import annotations

import math
from fractions import Fraction

from odrf.design.encoding import TICKS, Durations, Moments
from odrf.design.ranks import OwnRanks

__all__ = ["own_value"]

FEWEST_DIGITS, MOST_DIGITS = 4, 17


def own_value(encoding: OwnRanks, rank: float, increasing: bool) -> str:
    """Return the value at a rank as text.

    Parameters
    ----------
    encoding : OwnRanks
    rank : float
        Where the column is cut.
    increasing : bool
        Whether rows of this value or less go left; otherwise those of this value or more.
    """
    value = encoding.value(rank)
    whole = math.floor(value) if increasing else math.ceil(value)
    match encoding.base:
        case Moments() as dates:
            return str(dates.stamp_of(whole))
        case Durations(unit):
            return f"{float(Fraction(whole, TICKS[unit])):.15g} s"
    if encoding.values.dtype.kind in "iu":
        return str(whole)
    low, high = encoding.value(math.floor(rank)), encoding.value(math.ceil(rank))
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        text = f"{float(value):.{digits}g}"
        written = float(text)
        if (low <= written < high) if increasing else (low < written <= high):
            return text
    return repr(float(low if increasing else high))
