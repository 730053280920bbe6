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
        """
        constant = self.range == 0
        columns -= self.low[:, np.newaxis]
        columns /= np.where(constant, 1.0, self.range)[:, np.newaxis]
        columns[constant] = 0.0
        return np.clip(columns, -FARTHEST, FARTHEST, out=columns).astype(np.float32)


def learn_scaling(columns: NDArray[np.float64]) -> Scaling:
    """Return the scaling of training `columns` (p, n), n ≥ 1."""
    low = columns.min(axis=1)
    return Scaling(low, columns.max(axis=1) - low)
