"""Folds of the training rows, and the importance of predictors as found without each fold.

What importances have chosen fits the rows that they were found on.  So a model that they choose
something for is judged on a fold of rows that had no part in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FoldImportance"]


class FoldImportance(NamedTuple):
    """Folds of rows, and importances.

    Attributes
    ----------
    fold : (n,) int64
        The fold of each row, from 0 to F - 1.
    importance : sequence of F + 1 arrays (p,)
        The importance of each column, at least 0, as found without each fold, and on all rows.
    """

    fold: NDArray[np.int64]
    importance: Sequence[NDArray[np.float64]]

    def without(self, f: int) -> NDArray[np.bool_]:
        """Return which rows (n,) are not of fold `f`; all of them if that is F."""
        return self.fold != f
