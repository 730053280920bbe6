"""Curves that are constant between steps: survival, cumulative hazard, cumulative incidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["StepCurve"]


@dataclass(frozen=True)
class StepCurve:
    """A right-continuous step curve.

    Attributes
    ----------
    times : (R,) float64
        Where it steps, ascending.
    values : (R,) float64
        From each of these times on, up to the next.
    before : float
        Its value before the first time.

    Examples
    --------
    >>> curve = StepCurve(np.array([1.0, 3.0]), np.array([0.5, 0.2]), 1.0)
    >>> curve([0.0, 1.0, 2.9, 3.0])
    array([1. , 0.5, 0.5, 0.2])
    >>> curve.just_before([1.0, 3.0])
    array([1. , 0.5])
    >>> curve.integral(4.0)
    array(2.2)
    >>> curve.first_at_most(0.5)
    1.0
    """

    times: NDArray[np.float64]
    values: NDArray[np.float64]
    before: float

    @property
    def all_values(self) -> NDArray[np.float64]:
        """The value before the first time, then those from each time on: (R + 1,)."""
        return np.concatenate([[self.before], self.values])

    def __call__(self, at: ArrayLike) -> NDArray[np.float64]:
        """Return the values at times of any shape."""
        return self.all_values[np.searchsorted(self.times, at, side="right")]

    def just_before(self, at: ArrayLike) -> NDArray[np.float64]:
        """Return the limits from the left at times of any shape."""
        return self.all_values[np.searchsorted(self.times, at, side="left")]

    def integral(self, horizon: ArrayLike) -> NDArray[np.float64]:
        """Return the area under the curve from 0 to each horizon ≥ 0, of any shape."""
        begins = np.concatenate([[0.0], self.times])
        values = self.all_values
        areas = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(begins))])
        piece = np.searchsorted(self.times, horizon, side="right")
        return np.asarray(areas[piece] + values[piece] * (np.asarray(horizon) - begins[piece]))

    def first_at_most(self, level: float) -> float:
        """Return the first time at which the values are at most `level`; infinite if none are.

        For a survival curve and the level 1/2 this is the median.
        """
        low = np.flatnonzero(self.values <= level)
        return float(self.times[low[0]]) if len(low) else float("inf")
