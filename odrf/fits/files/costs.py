"""About how much memory the parts of a file take, so that it can be known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from odrf.design.design import TrainingData
from odrf.engine.trees.forest import Forest
from odrf.fits.files.storable_classes import field_names

__all__ = ["bytes_in_memory", "cost_of_built", "cost_of_json"]

# Bytes of a value that was read from JSON.
VALUE = 128


def cost_of_json(content: bytes) -> int:
    """Return the most that JSON takes when it has been read, by its length and its marks."""
    marks = sum(content.count(mark) for mark in (b",", b"[", b"{", b"\n"))
    return VALUE * (marks + 1) + 4 * len(content)


def cost_of_built(value: Any) -> int:
    """Return what a table, series, index or column takes beside what it was made of."""
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(deep=False).sum())
    if isinstance(value, pd.RangeIndex):
        return VALUE
    if isinstance(value, pd.MultiIndex):
        return sum(codes.nbytes for codes in value.codes)
    return int(value.nbytes)


def bytes_in_memory(fit: Any) -> int:
    """Return the bytes of the arrays of a fit, which take nearly all of the time of saving it."""
    sizes: dict[int, int] = {}
    waiting = [fit]
    while waiting:
        value = waiting.pop()
        withheld = isinstance(value, TrainingData) and not value.has_rows
        if withheld or id(value) in sizes:
            continue
        is_array = isinstance(value, np.ndarray)
        sizes[id(value)] = value.nbytes if is_array else 0
        if not is_array:
            waiting += _parts(value)
    return sum(sizes.values())


def _parts(value: Any) -> list[Any]:
    if type(value) is Forest:
        return list(value.in_memory().values())
    if type(value) in (tuple, list):
        return list(value)
    return [getattr(value, name) for name in field_names(type(value))]
