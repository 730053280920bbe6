"""Scaling of every column to [0, 1] by its range over the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError

__all__ = ["Scaling", "learn_scaling"]

# Cells that are scaled at a time: they stay in the cache of the processor.
CELLS = 2**15

FARTHEST = 1e30
NARROWEST = 1e-300


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map of each column that takes its training values onto [0, 1].

    The values of a column with empty cells are mapped so that their mean is 0, which is then the
    value of the empty cells too.

    Attributes
    ----------
    low : (p,) float64
        The value that is mapped to 0: the minimum over the training rows, or the mean of a column
        with empty cells.
    range : (p,) float64
        Maximum minus minimum; 0 for a column that was constant in training.  Such a column is
        scaled to 0, for new values too.
    holes : (p,) bool
        Whether empty cells of the column become 0.  Those of other columns stay NaN.
    """

    low: NDArray[np.float64]
    range: NDArray[np.float64]
    holes: NDArray[np.bool_]

    def of(self, columns: NDArray[np.int64]) -> Scaling:
        """Return the scaling of some of the columns."""
        return Scaling(self.low[columns], self.range[columns], self.holes[columns])

    def apply(self, columns: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return `columns` (p, m) scaled.

        Training rows and new rows go through the same operations, so a training row that is
        predicted again has exactly the same scaled values.  Values far outside the training range
        are clipped to ±1e30, so that their sums stay finite in float32.
        """
        result = np.empty(columns.shape, dtype=np.float32)
        step = max(1, CELLS // max(1, columns.shape[1]))
        for first in range(0, len(columns), step):
            part = slice(first, first + step)
            result[part] = self._scaled(columns[part], part)
        return result

    def _scaled(self, columns: NDArray[np.float64], part: slice) -> NDArray[np.float64]:
        """Return `columns`, which are a part of all, scaled, in 64 bits."""
        constant, holes = self.range[part] == 0, self.holes[part]
        with np.errstate(over="ignore"):
            scaled = columns - self.low[part, np.newaxis]
            scaled /= np.where(constant, 1.0, self.range[part])[:, np.newaxis]
        if constant.any():
            scaled[constant] = np.where(np.isnan(scaled[constant]), np.nan, 0.0)
        if holes.any():
            scaled[holes] = np.nan_to_num(scaled[holes], nan=0.0, posinf=np.inf, neginf=-np.inf)
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)


def learn_scaling(columns: NDArray[np.float64], names: Sequence[str]) -> Scaling:
    """Return the scaling of training `columns` (p, n), n ≥ 1, with these names (p,).

    Empty cells are NaN.

    Raises
    ------
    InputError
        A column varies by so little that coefficients in its unit would leave the range of floats.
    """
    low = np.fmin.reduce(columns, axis=1)
    span = np.fmax.reduce(columns, axis=1) - low
    holes = np.isnan(columns.min(axis=1))
    narrow = (span > 0) & (span < NARROWEST)
    if narrow.any():
        raise InputError(
            f"predictor {names[int(narrow.argmax())]!r} varies by less than {NARROWEST:g}, and "
            "coefficients in its unit would leave the range of floats: multiply it by a large "
            "number, or leave it out"
        )
    for j in np.flatnonzero(holes):
        low[j] += np.nanmean(columns[j] - low[j])
    return Scaling(low, span, holes)
