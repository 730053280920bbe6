"""What a column holds, and its scale of measurement."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_numeric_dtype

from odrf.design.columns.listing import listed
from odrf.errors import InputError

__all__ = [
    "DATES",
    "DURATIONS",
    "LOGICAL",
    "NUMBERS",
    "PERIODS",
    "TEXT",
    "Measurement",
    "contents",
    "measurement",
]

Measurement = Literal["numeric", "logical", "nominal", "ordinal"]

NUMBERS = "numbers"
LOGICAL = "True and False"
TEXT = "text"
DATES = "dates"
DURATIONS = "durations"
PERIODS = "periods"
MIXED = "mixed values"

_INFERRED = {
    "string": TEXT,
    "boolean": LOGICAL,
    "integer": NUMBERS,
    "floating": NUMBERS,
    "mixed-integer-float": NUMBERS,
    "decimal": NUMBERS,
    "complex": "complex numbers",
    "datetime": DATES,
    "datetime64": DATES,
    "date": DATES,
    "timedelta": DURATIONS,
    "timedelta64": DURATIONS,
    "time": "times of day",
    "period": PERIODS,
    "interval": "intervals",
    "bytes": "bytes",
}
_HELD_BY_CELLS = {list: "lists", tuple: "lists", set: "sets", dict: "dictionaries"}
_ADVICE = {
    DATES: "take numbers from it first, such as data[{name!r}].dt.dayofyear",
    DURATIONS: "turn it into numbers first, such as data[{name!r}].dt.total_seconds()",
    "complex numbers": "use their real and imaginary parts as two columns",
    "lists": "make a column of each part, such as pd.DataFrame(data[{name!r}].tolist())",
    "arrays": "make a column of each part, such as pd.DataFrame(data[{name!r}].tolist())",
    "sets": "make a column for each element, which says whether the set has it",
    "dictionaries": "make a column of each part, such as pd.json_normalize(data[{name!r}])",
    "intervals": "make it an ordered factor with pd.Categorical(data[{name!r}], ordered=True)",
    "times of day": "take numbers from it first, such as the hour",
    "bytes": "decode it to text",
}


def contents(values: pd.Series) -> str:
    """Return what `values` hold, in words such as "numbers", "text", "dates", "mixed values".

    A category column holds what its categories are.
    """
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # Categories of any other kind, such as the intervals of pd.cut, serve as labels.
        return NUMBERS if is_numeric_dtype(dtype.categories.dtype) else TEXT
    if is_bool_dtype(dtype):
        return LOGICAL
    if is_numeric_dtype(dtype) and not is_complex_dtype(dtype):
        return NUMBERS
    if isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("dictionary"):
        return TEXT
    inferred = infer_dtype(values, skipna=True)
    return _INFERRED[inferred] if inferred in _INFERRED else _in_cells(values)


def _in_cells(values: pd.Series) -> str:
    """Return what cells hold that are themselves collections; else "mixed values"."""
    for value in values.array[np.flatnonzero(values.notna())[:1]]:
        if isinstance(value, np.ndarray):
            return "arrays"
        return next(
            (held for kind, held in _HELD_BY_CELLS.items() if isinstance(value, kind)), MIXED
        )
    return MIXED


def measurement(values: pd.Series, name: str) -> Measurement:
    """Return the scale on which `values` are measured.

    Parameters
    ----------
    values : pandas.Series
        A column of the data or the result of an expression.
    name : str
        What to call it in an error message.

    Returns
    -------
    "numeric", "logical", "nominal" (text and categories) or "ordinal" (ordered categories).

    Raises
    ------
    InputError
        The values are neither numbers nor labels: dates, complex numbers, mixed types.
    """
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "nominal"
    held = contents(values)
    if held == NUMBERS:
        return "numeric"
    if held == LOGICAL:
        return "logical"
    if held == TEXT:
        return "nominal"
    advice = _ADVICE[held].format(name=name) if held in _ADVICE else _of_mixed(values, name)
    raise InputError(
        f"{name!r} holds {held} (dtype {dtype}), neither numbers nor labels: {advice}, or leave it "
        "out"
    )


def _of_mixed(values: pd.Series, name: str) -> str:
    """Return what to do with a column of mixed values."""
    texts = dict.fromkeys(value for value in values.array if isinstance(value, str))
    found = f" (its texts are {listed(texts, 3)})" if texts else ""
    return (
        f"make it all numbers with pd.to_numeric(data[{name!r}], errors='coerce'), which makes "
        f"other cells missing{found}, or all text with .astype(str)"
    )
