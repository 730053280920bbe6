"""Values of Python, NumPy and pandas that JSON has no word for: as a name and plain contents."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from odrf.errors import InputError

__all__ = ["AS_THEY_ARE", "SCALARS", "pandas_zone", "scalar_as_json", "zone_as_json"]

AS_THEY_ARE = (type(None), bool, int, str)
"""Types of which JSON has the values as they are; beside these finite floats."""

ZONE = re.compile(r"[A-Za-z0-9_+-]{1,32}(/[A-Za-z0-9_+-]{1,32}){0,3}")
UNITS = ("s", "ms", "us", "ns")
LONGEST = 5000
NUMPY_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


def scalar_as_json(value: Any) -> dict[str, Any] | None:
    """Return a value as a name and its contents; None if it is of another kind.

    Raises
    ------
    InputError
        It is a time of a zone that has no name.
    """
    kind = type(value)
    if value is pd.NaT or value is pd.NA:
        return {"missing": "NaT" if value is pd.NaT else "NA"}
    if kind is float:
        return {"float": str(value)}
    if kind is complex:
        return {"complex": [repr(value.real), repr(value.imag)]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is Decimal:
        return {"decimal": str(value)}
    if kind is Fraction:
        return {"fraction": [value.numerator, value.denominator]}
    if kind is pd.Timestamp:
        return {"timestamp": [_ticks(value), value.unit, zone_as_json(value.tzinfo)]}
    if kind is pd.Timedelta:
        return {"timedelta": [_ticks(value), value.unit]}
    if kind is pd.Period:
        return {"period": [value.ordinal, value.freqstr]}
    if kind is datetime.datetime:
        naive = value.replace(tzinfo=None).isoformat()
        return {"datetime": [naive, value.fold, zone_as_json(value.tzinfo)]}
    if kind is datetime.date or (kind is datetime.time and value.tzinfo is None):
        return {kind.__name__: value.isoformat()}
    if kind is datetime.timedelta:
        return {"duration": [value.days, value.seconds, value.microseconds]}
    return _numpy_as_json(value) if isinstance(value, np.generic) else None


def _numpy_as_json(value: np.generic) -> dict[str, Any] | None:
    dtype = value.dtype
    if dtype.kind in "mM":
        return {"numpy": [dtype.str, int(value.astype(np.int64))]}
    if dtype.kind == "U":
        return {"numpy": ["str", str(value)]}
    if dtype.kind in "biu":
        return {"numpy": [dtype.name, int(value)]}
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return {"numpy": [dtype.name, repr(float(value))]}
    return None


def _ticks(value: Any) -> int:
    """Return a time or duration in its own unit."""
    stamp = value.tz_convert("UTC").tz_localize(None) if getattr(value, "tzinfo", None) else value
    return int(stamp.to_numpy().astype(np.int64))


def zone_as_json(zone: Any) -> str | float | None:
    """Return the name of a time zone, its difference from UTC in seconds, or None."""
    if zone is None:
        return None
    fixed = zone.utcoffset(None)
    if fixed is not None:
        return float(fixed.total_seconds())
    of_file = str(getattr(zone, "_filename", "")).rpartition("zoneinfo/")[2]
    name = getattr(zone, "key", None) or getattr(zone, "zone", None) or of_file
    if not isinstance(name, str) or not ZONE.fullmatch(name):
        raise InputError(
            f"times of the zone {zone!r} cannot be saved: convert them with .dt.tz_convert() to a "
            'zone with a name, such as "Europe/Berlin"'
        )
    return name


def zone_of_json(zone: Any) -> datetime.tzinfo | None:
    """Return the time zone of what `zone_as_json` gives; raise `InputError` if there is none."""
    if zone is None:
        return None
    if type(zone) is float and abs(zone) < 86400:
        return datetime.timezone(datetime.timedelta(seconds=zone))
    if type(zone) is str and ZONE.fullmatch(zone):
        try:
            return zoneinfo.ZoneInfo(zone)
        except (OSError, ValueError, zoneinfo.ZoneInfoNotFoundError):
            pass
    raise InputError(f"it has times of the zone {zone!r}, which this machine does not know")


def pandas_zone(zone: Any) -> datetime.tzinfo | None:
    """Return the time zone as pandas makes it of a name, which depends on its version."""
    found = zone_of_json(zone)
    return pd.DatetimeTZDtype(tz=zone).tz if type(zone) is str else found


def _timestamp(ticks: int, unit: str, zone: Any) -> pd.Timestamp:
    stamp = pd.Timestamp(np.datetime64(ticks, _unit(unit)))
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(pandas_zone(zone))


def _numpy(name: str, value: Any) -> Any:
    if name == "str":
        return np.str_(value)
    if name[:3] in ("<M8", "<m8"):
        return np.array(value, dtype="<i8").view(name)[()]
    if name not in NUMPY_TYPES:
        raise InputError(f"it has a value of the unknown type {name!r}")
    return np.dtype(name).type(value)


def _unit(unit: Any) -> Any:
    if unit not in UNITS:
        raise InputError(f"it has times in the unknown unit {unit!r}")
    return unit


def _short(text: str) -> str:
    """Return a text of digits that is short enough to be read in no time."""
    if len(text) > LONGEST:
        raise InputError("it has a number of far too many digits")
    return text


SCALARS: dict[str, Callable[..., Any]] = {
    "bytes": lambda text: bytes.fromhex(text),
    "complex": lambda parts: complex(float(parts[0]), float(parts[1])),
    "date": lambda text: datetime.date.fromisoformat(text),
    "datetime": lambda parts: datetime.datetime.fromisoformat(parts[0]).replace(
        fold=parts[1], tzinfo=zone_of_json(parts[2])
    ),
    "decimal": lambda text: Decimal(_short(text)),
    "duration": lambda parts: datetime.timedelta(*parts),
    "float": float,
    "fraction": lambda parts: Fraction(*map(int, parts)),
    "missing": {"NaT": pd.NaT, "NA": pd.NA}.__getitem__,
    "numpy": lambda parts: _numpy(*parts),
    "period": lambda parts: pd.Period(ordinal=int(parts[0]), freq=str(parts[1])),
    "time": lambda text: datetime.time.fromisoformat(text),
    "timedelta": lambda parts: pd.Timedelta(np.timedelta64(parts[0], _unit(parts[1]))),
    "timestamp": lambda parts: _timestamp(*parts),
}
"""How the contents become a value again, by its name."""
