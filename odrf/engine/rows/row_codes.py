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
