"""The pixel grid of a data frame whose columns are the pixels of images or series.

It is stored in the frame's ``attrs``, which pandas copies when rows are selected: ``shape`` is
(height, width), ``channels`` a number, by default 1.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from odrf.checks import is_whole

__all__ = ["grid_of", "set_grid"]

SHAPE, CHANNELS = "shape", "channels"


def grid_of(data: pd.DataFrame) -> tuple[int, int, int] | None:
    """Return channels, height and width, or None if the frame has no valid ``attrs["shape"]``.

    Examples
    --------
    >>> data = pd.DataFrame({"a": [1.0], "b": [2.0]})
    >>> data.attrs["shape"] = (1, 2)
    >>> grid_of(data)
    (1, 1, 2)
    """
    shape, channels = data.attrs.get(SHAPE), data.attrs.get(CHANNELS, 1)
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        return None
    if not all(_is_size(part) for part in (channels, *shape)):
        return None
    return int(channels), int(shape[0]), int(shape[1])


def set_grid(data: pd.DataFrame, channels: int, height: int, width: int) -> None:
    """Store in the frame that its columns are pixels, in the order channel, row, column."""
    data.attrs[SHAPE] = (height, width)
    if channels > 1:
        data.attrs[CHANNELS] = channels


def _is_size(value: Any) -> bool:
    return is_whole(value) and int(value) >= 1
