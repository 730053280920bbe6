"""Values of Python, NumPy and pandas as arrays and plain values, and back."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.fits.files.arrays import MadeWhenWritten

Integers = NDArray[np.int64]

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
    """Return a value as a name and its contents; None if it is of another kind."""
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
    """Return the time zone of a value of `zone_as_json`; raise `InputError` if there is none."""
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
    of_python = zone_of_json(zone)
    return pd.DatetimeTZDtype(tz=zone).tz if type(zone) is str else of_python


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


# Types are known by their names in files alone, not when code is checked.
make_array: Any = pd.array
string_type: Any = pd.StringDtype
MASKED = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)
MASKED_NAME = re.compile(r"boolean|U?Int(8|16|32|64)|Float(32|64)")
ARROW_TIME = re.compile(r"timestamp\[(s|ms|us|ns), tz=([A-Za-z0-9_+:/-]{1,64})\]")
ARROW_DECIMAL = re.compile(r"decimal(128|256)\((\d{1,2}), (-?\d{1,2})\)")
ARROW_DICTIONARY = re.compile(r"dictionary<values=(\w+), indices=(u?int\d+), ordered=([01])>")
ARROW_NAME = re.compile(r"[a-z0-9_]+(\[[a-z]+\])?")


def pandas_as_fields(value: Any) -> tuple[str, dict[str, Any]] | None:
    """Return the name of what builds a value of pandas again, and what it needs, or None."""
    if isinstance(value, pd.DataFrame):
        return "DataFrame", _table(value)
    if isinstance(value, pd.Series):
        return "Series", {"values": _values(value), "index": value.index, "name": value.name}
    if isinstance(value, pd.Index):
        return _index(value)
    return _column(value) if isinstance(value, pd.api.extensions.ExtensionArray) else None


def _table(table: pd.DataFrame) -> dict[str, Any]:
    """Columns of one of NumPy's types are one array, the others an array each."""

    def side_by_side(places: list[int]) -> NDArray:
        return np.ascontiguousarray(table.iloc[:, places].to_numpy().T)

    alike: dict[Any, list[int]] = {}
    for j, dtype in enumerate(table.dtypes):
        plain = isinstance(dtype, np.dtype) and dtype.kind in "biufc"
        alike.setdefault(dtype if plain else j, []).append(j)
    parts = [
        MadeWhenWritten(partial(side_by_side, places))
        if isinstance(dtype, np.dtype)
        else _values(table.iloc[:, places[0]])
        for dtype, places in alike.items()
    ]
    return {
        "columns": table.columns,
        "index": table.index,
        "places": tuple(tuple(places) for places in alike.values()),
        "parts": tuple(parts),
        "attrs": dict(table.attrs),
    }


def _index(index: pd.Index) -> tuple[str, dict[str, Any]]:
    if isinstance(index, pd.RangeIndex):
        ends = {"start": index.start, "stop": index.stop, "step": index.step}
        return "RangeIndex", {**ends, "name": index.name}
    if isinstance(index, pd.MultiIndex):
        levels, codes = tuple(index.levels), tuple(map(np.asarray, index.codes))
        return "MultiIndex", {"levels": levels, "codes": codes, "names": tuple(index.names)}
    freq = index.freqstr if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex) else None
    return "Index", {"values": _values(index), "name": index.name, "freq": freq}


def _values(column: pd.Series | pd.Index) -> Any:
    """Return an array of NumPy where there is one that pandas takes for the same."""
    array = column.array
    # before pandas 3 text is an array of NumPy's, too
    of_numpy = isinstance(array, pd.arrays.NumpyExtensionArray)
    return array.to_numpy() if of_numpy and not isinstance(array.dtype, pd.StringDtype) else array


def _column(array: Any) -> tuple[str, dict[str, Any]]:
    dtype = array.dtype
    if isinstance(array, pd.Categorical):
        codes = np.asarray(array.codes)
        fields = {"categories": array.categories, "ordered": bool(array.ordered)}
        return "Categorical", {"codes": codes, **fields}
    if isinstance(array, pd.arrays.DatetimeArray):
        stamps = pd.DatetimeIndex(array)
        if stamps.tz is not None:
            stamps = stamps.tz_convert("UTC").tz_localize(None)
        ticks = stamps.to_numpy().view(np.int64)
        return "DatetimeArray", {"ticks": ticks, "unit": array.unit, "zone": zone_as_json(array.tz)}
    if isinstance(array, pd.arrays.TimedeltaArray):
        ticks = pd.TimedeltaIndex(array).to_numpy().view(np.int64)
        return "TimedeltaArray", {"ticks": ticks, "unit": array.unit}
    if isinstance(array, pd.arrays.PeriodArray):
        return "PeriodArray", {"ordinals": pd.PeriodIndex(array).asi8, "freq": array.freqstr}
    if isinstance(array, pd.arrays.IntervalArray):
        ends = {"left": pd.Index(array.left), "right": pd.Index(array.right)}
        return "IntervalArray", {**ends, "closed": array.closed}
    if isinstance(array, MASKED):
        numbers = array.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
        empty = np.asarray(array.isna())
        return "MaskedArray", {"dtype": str(dtype), "numbers": numbers, "empty": empty}
    if isinstance(array, pd.arrays.SparseArray):
        return "SparseArray", {"values": np.asarray(array), "fill": array.fill_value}
    if isinstance(dtype, pd.StringDtype):
        texts = MadeWhenWritten(lambda: array.to_numpy(dtype=object, na_value=None))
        is_nan = dtype.na_value is not pd.NA
        return "StringArray", {"texts": texts, "storage": dtype.storage, "is_nan": is_nan}
    if isinstance(dtype, pd.ArrowDtype):
        name = str(dtype.pyarrow_dtype)
        if _arrow_type(name) != dtype.pyarrow_dtype:
            raise _unsaved(dtype)
        return "ArrowArray", {"values": array.to_numpy(dtype=object, na_value=None), "type": name}
    raise _unsaved(dtype)


def _unsaved(dtype: Any) -> InputError:
    return InputError(
        f"a column of type {dtype} cannot be saved: convert it to one of pandas' types"
    )


def _data_frame(
    columns: pd.Index,
    index: pd.Index,
    places: tuple[tuple[int, ...], ...],
    parts: tuple[Any, ...],
    attrs: dict[str, Any],
) -> pd.DataFrame:
    order = [place for of_part in places for place in of_part]
    if sorted(order) != list(range(len(columns))):
        raise ValueError("the columns are not numbered from 0")
    tables = []
    for of_part, values in zip(places, parts, strict=True):
        if isinstance(values, np.ndarray) and values.ndim == 2:
            table = pd.DataFrame(values.T, index=index, copy=False)
        else:
            table = _series(values, index, None).to_frame()
        if table.shape != (len(index), len(of_part)):
            raise ValueError("a column has too few rows")
        tables.append(table)
    whole = pd.concat(tables, axis=1) if tables else pd.DataFrame(index=index)
    whole = whole.iloc[:, np.argsort(order)] if order != sorted(order) else whole
    whole.columns = columns
    whole.attrs.update(attrs)
    return whole


def _series(values: Any, index: pd.Index, name: Any) -> pd.Series:
    return pd.Series(values, index=index, name=name, dtype=_object(values), copy=False)


def _object(values: Any) -> Any:
    """Return the type of objects for an array of them, of which pandas would guess another."""
    return object if isinstance(values, np.ndarray) and values.dtype == object else None


def _any_index(values: Any, name: Any, freq: Any) -> pd.Index:
    index = pd.Index(values, name=name, dtype=_object(values))
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex):
        return type(index)(index, freq=freq, name=name)
    return index


def _dates(ticks: Integers, unit: str, zone: Any) -> Any:
    stamps = pd.DatetimeIndex(ticks.view(f"M8[{unit}]"))
    if zone is not None:
        stamps = stamps.tz_localize("UTC").tz_convert(pandas_zone(zone))
    return stamps.array


def _masked(dtype: str, numbers: NDArray, empty: NDArray[np.bool_]) -> Any:
    if not MASKED_NAME.fullmatch(dtype):
        raise ValueError("an unknown type")
    array = make_array(numbers, dtype=dtype)
    array[empty] = pd.NA
    return array


def _strings(texts: NDArray, storage: str, is_nan: bool) -> Any:
    if storage not in ("python", "pyarrow", "pyarrow_numpy"):
        raise ValueError("an unknown type")
    try:
        dtype = string_type(storage, np.nan) if is_nan else string_type(storage)
    except (ImportError, TypeError):  # without pyarrow, or pandas before 2.3
        dtype = string_type("python")
    return make_array(texts, dtype=dtype)


def _arrow(values: NDArray, type: str) -> Any:
    known = _arrow_type(type)
    if known is None:
        raise InputError(f"it has a column of the unknown type {type}[pyarrow]")
    return make_array(values.tolist(), dtype=pd.ArrowDtype(known))


def _arrow_type(name: str) -> Any:
    """Return pyarrow's type of this name; None if there is none, or it is made of other types."""
    try:
        import pyarrow  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError("it has a column of pyarrow's types: install pyarrow") from None
    if time := ARROW_TIME.fullmatch(name):
        return pyarrow.timestamp(time[1], tz=time[2])
    if decimal := ARROW_DECIMAL.fullmatch(name):
        make = pyarrow.decimal128 if decimal[1] == "128" else pyarrow.decimal256
        return make(int(decimal[2]), int(decimal[3]))
    if coded := ARROW_DICTIONARY.fullmatch(name):
        codes, values = (pyarrow.type_for_alias(coded[i]) for i in (2, 1))
        return pyarrow.dictionary(codes, values, coded[3] == "1")
    return pyarrow.type_for_alias(name) if ARROW_NAME.fullmatch(name) else None


BUILDERS: dict[str, Callable[..., Any]] = {
    "ArrowArray": _arrow,
    "Categorical": lambda codes, categories, ordered: pd.Categorical.from_codes(
        codes, categories=categories, ordered=ordered
    ),
    "DataFrame": _data_frame,
    "DatetimeArray": _dates,
    "Index": _any_index,
    "IntervalArray": lambda left, right, closed: pd.arrays.IntervalArray.from_arrays(
        left, right, closed
    ),
    "MaskedArray": _masked,
    "MultiIndex": lambda levels, codes, names: pd.MultiIndex(levels, codes, names=names),
    "PeriodArray": lambda ordinals, freq: pd.arrays.PeriodArray(
        ordinals, dtype=pd.PeriodDtype(freq)
    ),
    "RangeIndex": lambda start, stop, step, name: pd.RangeIndex(start, stop, step, name=name),
    "Series": _series,
    "SparseArray": lambda values, fill: pd.arrays.SparseArray(values, fill_value=fill),
    "StringArray": _strings,
    "TimedeltaArray": lambda ticks, unit: pd.TimedeltaIndex(ticks.view(f"m8[{unit}]")).array,
}
"""What builds a value again, from no other fields, by the name that `pandas_as_fields` gives it."""
