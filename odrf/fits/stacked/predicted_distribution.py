"""The distribution that a stack predicts for a new response.

It is that of the out-of-bag residuals, each divided by the size of residuals near its row, times
the size near the new row, around its prediction (Lei et al. 2018, section 5.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.fits.prediction.predicting import RowsToPredict
from odrf.fits.stacked.local_spread import LocalSpread, local_spread
from odrf.fits.stacked.stacked_fit import StackedFit
from odrf.statistics.conformal import residual_quantile, residual_quantiles, shares_below

__all__ = ["PredictedDistribution", "predicted_distribution"]


class PredictedDistribution(NamedTuple):
    """What the distribution of a response around its prediction is made of.

    Attributes
    ----------
    spread : LocalSpread
        The size of residuals near a row.
    relative : (n,) float64
        The out-of-bag residual of each training row, divided by the size near it; NaN where there
        is none.
    weights : (n,) float64
        Case weights.
    """

    spread: LocalSpread
    relative: NDArray[np.float64]
    weights: NDArray[np.float64]

    def half_widths(self, rows: RowsToPredict, level: float) -> NDArray[np.float64]:
        """Return half the width (m,) of the prediction interval of each row."""
        return residual_quantile(np.abs(self.relative), self.weights, level) * self._sizes(rows)

    def quantiles(
        self, rows: RowsToPredict, mean: NDArray[np.float64], levels: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return quantiles (m, q) of the responses of rows whose predictions are `mean` (m,)."""
        of_residuals = residual_quantiles(self.relative, self.weights, levels)
        return np.asarray(mean[:, np.newaxis] + self._sizes(rows)[:, np.newaxis] * of_residuals)

    def shares_below(
        self, rows: RowsToPredict, residual: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the share (m,) of its distribution that is below the response of each row.

        `residual` (m,) are responses minus predictions.
        """
        return shares_below(self.relative, self.weights, residual / self._sizes(rows))

    def _sizes(self, rows: RowsToPredict) -> NDArray[np.float64]:
        """Return the size of residuals near each row (m,); of training rows without the row."""
        return self.spread.at(rows.X) if rows.oob is None else self.spread.of_rows


def predicted_distribution(fit: StackedFit, residual: NDArray[np.float64]) -> PredictedDistribution:
    """Return what the distribution of a response is made of.

    Parameters
    ----------
    fit : StackedFit
        Of a regression.
    residual : (n,) float64
        Out-of-bag residuals; NaN where there is none.
    """
    spread = local_spread(fit, np.abs(residual))
    return PredictedDistribution(spread, residual / spread.of_rows, fit.data.weights)
