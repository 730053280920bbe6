"""An array that is appended to, and takes little more memory than what it holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AppendedArray"]

# What is reserved at first, and by how much it grows: large arrays are moved without a copy.
FIRST, LARGER = 2**12, 1.05


class AppendedArray:
    """An array that grows along its first axis.

    Parameters
    ----------
    empty : array of length 0
        Its type, and the sizes of its other axes.
    room : int
        What is reserved at first; the system hands it out only where it is written to.
    """

    def __init__(self, empty: NDArray[Any], room: int = FIRST) -> None:
        self._array = np.empty((room, *empty.shape[1:]), dtype=empty.dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def append(self, part: NDArray[Any]) -> None:
        """Append the entries of an array."""
        end = self._used + len(part)
        if end > len(self._array):
            room = int(LARGER * end) + 1
            self._array.resize((room, *self._array.shape[1:]), refcheck=False)
        self._array[self._used : end] = part
        self._used = end

    def taken(self) -> NDArray[Any]:
        """Return the array; nothing is appended afterwards."""
        self._array.resize((self._used, *self._array.shape[1:]), refcheck=False)
        return self._array
