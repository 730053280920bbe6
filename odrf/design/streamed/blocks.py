"""Rows in blocks of one size, however they are cut into chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

__all__ = ["ROWS_PER_BLOCK", "in_blocks_of_rows"]

ROWS_PER_BLOCK = 2**16


def in_blocks_of_rows(
    frames: Iterable[pd.DataFrame],
) -> Iterator[pd.DataFrame]:
    """Yield the rows of all frames in blocks of `ROWS_PER_BLOCK`, the last one smaller.

    What is computed block by block is then the same for any chunks.  The row labels are the numbers
    of the rows, from 0.
    """
    parts: list[pd.DataFrame] = []
    held, begin, size = 0, 0, ROWS_PER_BLOCK
    for frame in frames:
        first = 0
        while held + len(frame) - first >= size:
            last = first + size - held
            parts.append(frame.iloc[first:last])
            yield _joined(parts, begin)
            parts, held, first, begin = [], 0, last, begin + size
        if first < len(frame):
            parts.append(frame.iloc[first:])
            held += len(frame) - first
    if parts:
        yield _joined(parts, begin)


def _joined(parts: list[pd.DataFrame], begin: int) -> pd.DataFrame:
    whole = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    return whole.set_axis(pd.RangeIndex(begin, begin + len(whole)), axis=0)
