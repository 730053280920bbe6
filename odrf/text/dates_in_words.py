"""Cuts of dates as text."""

from __future__ import annotations

from odrf.design.encoding import Durations, Encoding, Moments
from odrf.design.ranks import OwnRanks

__all__ = ["counted_as", "moment"]

# Units of time, largest first: their seconds, their names in pandas, and how a date is written.
UNITS = (
    (86400.0, "D", "%Y-%m-%d"),
    (60.0, "min", "%Y-%m-%d %H:%M"),
    (1.0, "s", "%Y-%m-%d %H:%M:%S"),
)


def moment(encoding: Moments, seconds: float, step: float) -> str:
    """Return the date so many `seconds` after the first one, to a unit of at most `step` seconds.

    If a second is more than that, the date is written in full.
    """
    stamp = encoding.stamp(seconds)
    for size, unit, pattern in UNITS:
        if size <= step:
            rounded = stamp.round(unit)
            return rounded.strftime(UNITS[0][2] if rounded == rounded.normalize() else pattern)
    return str(stamp)


def counted_as(encoding: Encoding) -> str | None:
    """Return in words what a date, duration or ranked column counts as in a sum; else None."""
    if isinstance(encoding, OwnRanks):
        return f"its rank, from 0, among the {len(encoding.values)} values of the training rows"
    if isinstance(encoding, Durations):
        return "its seconds"
    if not isinstance(encoding, Moments):
        return None
    origin = encoding.origin
    zone = "" if origin.tz is None else f" ({origin.tz})"
    return f"the seconds since {origin.tz_localize(None)}{zone}"
