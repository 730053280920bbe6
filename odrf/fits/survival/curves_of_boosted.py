"""Predicted curves of rows by their scores, and numbers of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.statistics.survival.score_curves import CurvesOfScores, FailureTimes

__all__ = ["PredictedScores"]


@dataclass(frozen=True)
class PredictedScores:
    """Rows whose curves are predicted from scores.

    Attributes
    ----------
    curves : CurvesOfScores
    scores : (n,) float64
        NaN for rows without a prediction.
    """

    curves: CurvesOfScores
    scores: NDArray[np.float64]

    @property
    def follow_a_law(self) -> bool:
        """Whether the curves go on by a law where no training row was observed."""
        return isinstance(self.curves, FailureTimes)

    def risk(self) -> NDArray[np.float64]:
        """Return numbers (n,) that are higher where events come earlier."""
        return self.curves.risks(self.scores)

    def survival(
        self, times: NDArray[np.float64], advance: Callable[[int], object] = lambda n: None
    ) -> NDArray[np.float64]:
        """Return the survival (n, G) at times (G,)."""
        self._require_memory(times)
        advance(len(self.scores))
        return self.curves.survivals(self.scores, times)

    def hazard(
        self, times: NDArray[np.float64], advance: Callable[[int], object] = lambda n: None
    ) -> NDArray[np.float64]:
        """Return the cumulative hazard (n, G) at times (G,)."""
        self._require_memory(times)
        advance(len(self.scores))
        return self.curves.hazards(self.scores, times)

    def restricted_mean(self, horizons: Sequence[float]) -> NDArray[np.float64]:
        """Return the restricted mean survival time (n, G) up to each of the horizons (G,)."""
        return np.column_stack([self.curves.restricted_means(self.scores, tau) for tau in horizons])

    def quantiles(
        self, shares: Sequence[float], advance: Callable[[int], object] = lambda n: None
    ) -> NDArray[np.float64]:
        """Return the time (n, G) by which each share (G,) has had the event; inf if it is never."""
        times = [self.curves.time_quantiles(self.scores, share) for share in shares]
        advance(len(self.scores))
        return np.where(np.isnan(self.scores)[:, None], np.nan, np.column_stack(times))

    def _require_memory(self, times: NDArray[np.float64]) -> None:
        n, G = len(self.scores), len(times)
        require_memory(
            16.0 * n * G, f"curves of {n} rows at {G} times", "predict fewer rows, or fewer times="
        )
