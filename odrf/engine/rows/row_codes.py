"""Which rows belong together, as numbers that the engine reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowCodes"]


class RowCodes(NamedTuple):
    """Codes of n rows; None for what they do not have.

    Attributes
    ----------
    groups : (n,) int64 or None
        Rows of one group are drawn together.  Groups that were added later have larger codes.
    order : (n,) int64 or None
        Rows with smaller codes are earlier in time.
    strata : (n,) int64 or None
        Each draw keeps the shares of the strata.
    """

    groups: NDArray[np.int64] | None = None
    order: NDArray[np.int64] | None = None
    strata: NDArray[np.int64] | None = None

    @property
    def timeless(self) -> RowCodes | None:
        """The codes without the order; None if nothing is left."""
        if self.groups is None and self.strata is None:
            return None
        return self._replace(order=None)

    def keeping(self, rows: NDArray[np.bool_]) -> RowCodes:
        """Return the codes of the `rows` (n,); some codes may then have no row."""
        return RowCodes(*(None if codes is None else codes[rows] for codes in self))

    def until(self, end: int) -> RowCodes:
        """Return the codes of the first `end` rows."""
        return RowCodes(*(None if codes is None else codes[:end] for codes in self))
