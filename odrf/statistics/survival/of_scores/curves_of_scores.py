"""What a score says of a row's time to the event."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

__all__ = ["CurvesOfScores"]

Floats = NDArray[np.float64]


class CurvesOfScores(ABC):
    """A survival curve for each score f."""

    @abstractmethod
    def risks(self, scores: Floats) -> Floats:
        """Return numbers (n,) that are higher where events come earlier."""

    @abstractmethod
    def hazards(self, scores: Floats, at: Floats) -> Floats:
        """Return the cumulative hazards (n, T) at the times `at` (T,)."""

    def survivals(self, scores: Floats, at: Floats) -> Floats:
        """Return the probabilities (n, T) that the event comes after the times `at` (T,)."""
        return np.exp(-self.hazards(scores, at))

    @abstractmethod
    def time_quantiles(self, scores: Floats, p: float) -> Floats:
        """Return the first times (n,) at which the event has come with probability `p` or more.

        Infinite where the curve does not go so far; 0 < p < 1.
        """

    @abstractmethod
    def restricted_means(self, scores: Floats, horizon: float) -> Floats:
        """Return the mean times (n,) without the event up to the horizon: E min(T, horizon)."""
