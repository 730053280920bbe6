"""Scaling of every column to [0, 1] by its range in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scaling", "learn_scaling"]

FARTHEST = 1e30


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map of each column that takes its training rows onto [0, 1].

    Attributes
    ----------
    low : (p,) float64
        Least training value.
    range : (p,) float64
        Greatest less least training value; 0 for a column constant in training, which
        scales to 0 whatever its value.
    """

    low: NDArray[np.float64]
    range: NDArray[np.float64]

    def apply(self, columns: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return `columns` (p, m), which it overwrites, scaled.

        Training rows and new rows go through the same operations, value by value, so a training
        row met again falls exactly where it fell.  New values far outside are held at ±1e30,
        so that float32 can still add them up.

        The result takes the place of `columns`, half as large, and the rest is given back: the
        predictors in float64 and float32 side by side would need three times the room.
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


def learn_scaling(columns: NDArray[np.float64]) -> Scaling:
    """Return the scaling of training `columns` (p, n), n ≥ 1."""
    low = columns.min(axis=1)
    return Scaling(low, columns.max(axis=1) - low)
