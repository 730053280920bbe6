"""Dates and durations as seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.encoding import PLAIN
from odrf.design.columns.values import Values
from odrf.errors import InputError

__all__ = [
    "TICKS",
    "Durations",
    "Moments",
    "as_dates",
    "difference",
    "learn_durations",
    "learn_moments",
]

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""The units in which pandas counts time, and how many of each make a second."""

FARTHEST_TICK = 2**63 - 2**33
EXACT = 2.0**62


@dataclass(frozen=True, eq=False)
class Moments:
    """Dates and times as seconds since the first one of the training rows.

    Attributes
    ----------
    origin : pandas.Timestamp
        The first one, in its time zone if it has one; its unit is that of the training rows.
    """

    origin: pd.Timestamp
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the seconds since the origin (1, n).

        Raises `InputError` if these have a time zone and the training rows had none, or the other
        way round.
        """
        return self.seconds(self.ticks(values))[np.newaxis]

    def seconds(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the seconds since the origin (n,) of what `ticks` gives."""
        return difference(ticks, _tick(self.origin)) / TICKS[self.origin.unit]

    def ticks(self, values: Values) -> NDArray[np.int64]:
        """Return the number of units (n,) since 1970-01-01; raises `InputError` as `encode`."""
        stamps = as_dates(cast(pd.Series, values.data), values.name)
        if (stamps.dt.tz is None) != (self.origin.tz is None):
            words = ["no time zone", f"the time zone {stamps.dt.tz or self.origin.tz}"]
            before, now = words if self.origin.tz is None else words[::-1]
            raise InputError(
                f"{values.name!r} had {before} in training and has {now} now: give both the same, "
                f"with data[{values.name!r}].dt.tz_localize()"
            )
        return _ticks(stamps, self.origin.unit)

    def stamp(self, seconds: float) -> pd.Timestamp:
        """Return the time so many seconds after the origin, on the clocks of its time zone."""
        unit = self.origin.unit
        return self.stamp_of(_tick(self.origin) + round(seconds * TICKS[unit]))

    def stamp_of(self, tick: int) -> pd.Timestamp:
        """Return the time so many units after 1970-01-01, on the clocks of the time zone."""
        stamp = pd.Timestamp(np.datetime64(tick, self.origin.unit))
        if self.origin.tz is None:
            return stamp
        return stamp.tz_localize("UTC").tz_convert(self.origin.tz).tz_localize(None)


@dataclass(frozen=True, eq=False)
class Durations:
    """Durations as seconds.

    Attributes
    ----------
    unit : str
        The unit of the training rows: "s", "ms", "us" or "ns".
    """

    unit: str
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the seconds (1, n)."""
        return self.seconds(self.ticks(values))[np.newaxis]

    def seconds(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the seconds (n,) of what `ticks` gives."""
        return ticks / TICKS[self.unit]

    def ticks(self, values: Values) -> NDArray[np.int64]:
        """Return the numbers of units (n,)."""
        return _ticks(_spans(values), self.unit)


def learn_moments(values: Values) -> Moments:
    """Return the encoding of dates, times or periods; a period counts as its start."""
    stamps = as_dates(cast(pd.Series, values.data), values.name)
    return Moments(stamps.min().as_unit(stamps.dt.unit))


def learn_durations(values: Values) -> Durations:
    """Return the encoding of durations."""
    return Durations(_spans(values).dt.unit)


def difference(whole: NDArray[np.integer], low: int) -> NDArray[np.float64]:
    """Return `whole` (n,) of 64 bits, less `low`, exact before it is converted to float."""
    about = whole.astype(np.float64) - float(low)
    with np.errstate(over="ignore"):
        exact = (whole - np.array(low, dtype=whole.dtype)).astype(np.int64)
    found, large = exact.astype(np.float64), np.abs(about) >= EXACT
    found[large] = [float(each - low) for each in whole[large].tolist()]
    return found


def as_dates(data: pd.Series, name: str) -> pd.Series:
    """Return dates, times or periods as a series of one of pandas' types of dates.

    Raises
    ------
    InputError
        They are of several kinds; `name` is what to call them.
    """
    if isinstance(data.dtype, pd.PeriodDtype):
        return data.dt.to_timestamp()
    if data.dtype.kind == "M" and not isinstance(data.dtype, pd.ArrowDtype):
        return data
    objects = data.astype(object)
    try:
        if isinstance(objects.iloc[0], pd.Period):
            return pd.Series(pd.PeriodIndex(objects).to_timestamp(), data.index)
        stamps = pd.to_datetime(objects)
    except (TypeError, ValueError) as error:
        raise _mixed(name) from error
    if stamps.dtype.kind != "M":
        raise _mixed(name)
    return stamps


def _mixed(name: str) -> InputError:
    return InputError(
        f"{name!r} holds dates that pandas cannot bring into one type, such as dates of several "
        f"time zones: convert it with pd.to_datetime(data[{name!r}], utc=True)"
    )


def _spans(values: Values) -> pd.Series:
    data = cast(pd.Series, values.data)
    if data.dtype.kind == "m" and not isinstance(data.dtype, pd.ArrowDtype):
        return data
    return pd.to_timedelta(data.astype(object))


def _ticks(times: pd.Series, unit: str) -> NDArray[np.int64]:
    """Return dates or durations (n,) as numbers of a unit; the farthest one beyond 64 bits."""
    if times.dtype.kind == "M" and times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    try:
        return times.dt.as_unit(unit).to_numpy().astype(np.int64)
    except pd.errors.OutOfBoundsDatetime:
        most = FARTHEST_TICK // TICKS[unit]
        seconds = times.dt.as_unit("s").to_numpy().astype(np.int64)
        return np.clip(seconds, -most, most) * TICKS[unit]


def _tick(stamp: pd.Timestamp) -> int:
    return int(_ticks(pd.Series([stamp]), stamp.unit)[0])
