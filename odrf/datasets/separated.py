"""Tables of text: their numbers are read to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

__all__ = ["read_separated"]

# pandas before 3.1 reads numbers faster than exactly, unless it is told otherwise.
EXACT_BY_DEFAULT = (3, 1)
EXACTLY: dict[str, Any] = (
    {}
    if tuple(map(int, pd.__version__.split(".")[:2])) >= EXACT_BY_DEFAULT
    else {"float_precision": "round_trip"}
)


def read_separated(
    source: Any, separator: str = ",", decimal: str = ".", text: Iterable[str] = ()
) -> pd.DataFrame:
    """Read a table of text with separators from a path or a stream.

    Columns named in `text` stay text, as they are written; the table need not have them.
    """
    # with low_memory a column of numbers and text would be numbers in some parts, text in others
    return pd.read_csv(
        source,
        sep=separator,
        decimal=decimal,
        dtype=dict.fromkeys(text, str),
        low_memory=False,
        **EXACTLY,
    )
