"""Arrays that are made for a file, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import NDArray

__all__ = ["Passing"]


class Passing(NamedTuple):
    """An array that no part of the fit is: it is made when it is written, and let go then.

    Attributes
    ----------
    make : callable
        Returns the array.
    """

    make: Callable[[], NDArray]
