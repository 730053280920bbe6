"""Where the scaled columns of the training rows end: models of a stack are constant beyond."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, layout_of, stored

__all__ = ["column_ends", "within_ends"]

USUAL = 0.0, 1.0


def column_ends(X: Matrix) -> NDArray[np.float64]:
    """Return between which two numbers (p, 2) the values of scaled columns X (p, n) count.

    These are 0 and 1.  A column with empty cells is scaled so that its mean is 0, and has values
    below: there they are the least and the largest value.
    """
    rows, layout = stored(X), layout_of(X)
    ends = np.tile(USUAL, (len(rows), 1))
    least, largest = np.fmin.reduce(rows, axis=1), np.fmax.reduce(rows, axis=1)
    centred = least < 0
    ends[centred] = np.column_stack([least, largest])[centred]
    return ends if layout is None else ends[layout.place]


def within_ends(
    values: NDArray[np.float64], ends: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return values (n, p) of columns, those beyond the ends (p, 2) of theirs being as these.

    Or values (n,) of one column with ends (2,).  None: as in files of earlier versions, 0 and 1.
    """
    least, largest = USUAL if ends is None else ends.T
    return np.clip(values, least, largest)
