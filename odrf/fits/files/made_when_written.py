"""Arrays that are made for a file, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import NDArray

__all__ = ["MadeWhenWritten"]


class MadeWhenWritten(NamedTuple):
    """An array that is no part of the fit: it is made when it is written, and dropped afterwards.

    Attributes
    ----------
    make : callable
        Returns the array.
    """

    make: Callable[[], NDArray]
