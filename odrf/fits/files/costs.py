"""About how much memory the parts of a file take, so that it can be known beforehand."""

from __future__ import annotations

from typing import Any

import pandas as pd

__all__ = ["cost_of_built", "cost_of_json"]

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
