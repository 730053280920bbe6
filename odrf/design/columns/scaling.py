"""Scaling of every column to [0, 1] by its range over the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError

__all__ = ["Scaling", "learn_scaling"]

FARTHEST = 1e30
NARROWEST = 1e-300


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map of each column that takes its training values onto [0, 1].

    Attributes
    ----------
    low : (p,) float64
        Minimum over the training rows.
    range : (p,) float64
        Maximum minus minimum; 0 for a column that was constant in training.  Such a column is
        scaled to 0, for new values too.
    """

    low: NDArray[np.float64]
    range: NDArray[np.float64]

    def apply(self, columns: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return `columns` (p, m) scaled; the memory of `columns` is overwritten.

        Training rows and new rows go through the same operations, so a training row that is
        predicted again has exactly the same scaled values.  Values far outside the training range
        are clipped to ±1e30, so that their sums stay finite in float32.

        The float32 result is written into the memory of `columns`, and the other half of it is
        freed: float64 and float32 side by side would need three times the memory of the result.
        """
        p, m = columns.shape
        narrow = columns.reshape(-1).view(np.float32)
        for j in range(p):
            scaled = columns[j] - self.low[j]
            if self.range[j] == 0:
                scaled[:] = 0.0
            else:
                scaled /= self.range[j]
            narrow[j * m : (j + 1) * m] = np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        if columns.flags.owndata:
            columns.resize((p * m + 1) // 2, refcheck=False)
            narrow = columns.view(np.float32)
        return narrow[: p * m].reshape(p, m)


def learn_scaling(columns: NDArray[np.float64], names: Sequence[str]) -> Scaling:
    """Return the scaling of training `columns` (p, n), n ≥ 1, with these names (p,).

    Raises
    ------
    InputError
        A column varies by so little that coefficients in its unit would leave the range of floats.
    """
    low = columns.min(axis=1)
    span = columns.max(axis=1) - low
    narrow = (span > 0) & (span < NARROWEST)
    if narrow.any():
        raise InputError(
            f"predictor {names[int(narrow.argmax())]!r} varies by less than {NARROWEST:g}, and "
            "coefficients in its unit would leave the range of floats: multiply it by a large "
            "number, or leave it out"
        )
    return Scaling(low, span)
