"""The distribution that a stack predicts for a new response.

Residuals of rows out of bag differ in size from place to place.  A small forest, grown on their
sizes, predicts the size near a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.fits.predicting import RowsToPredict
from odrf.fits.responses import expected_response, forest_out_of_bag
from odrf.fits.stack.fit import StackedFit
from odrf.statistics.conformal import residual_quantile, residual_quantiles, shares_below

# How far responses are from what a stack predicts, near each row.

# Sizes are noisy: leaves of many rows.
TREES, LEAST_LEAF, SAMPLE_FRACTION = 100, 10, 0.5
# A share of the mean size is added: that of few rows may be almost 0 by chance.
ADDED = 0.1


class LocalSpread(NamedTuple):
    """The size of residuals near a row, as predicted by a forest.

    `of_rows` (n,) is the size near each training row, by the trees that did not sample it; NaN if
    all did. `added` is added to the predictions of the forest.
    """

    fit: Fit
    of_rows: NDArray[np.float64]
    added: float

    def at(self, X: Matrix) -> NDArray[np.float64]:
        """Return the size near each of the rows X (p, m)."""
        return expected_response(self.fit, X)[:, 0] + self.added


def local_spread(fit: StackedFit, size: NDArray[np.float64]) -> LocalSpread:
    """Return the size of residuals near a row, for a stack of a regression.

    `size` (n,) are absolute out-of-bag residuals of the training rows; NaN where there is none.
    """
    forest, known = fit.parts[0].fit, ~np.isnan(size)
    assert isinstance(forest, Fit)
    data = replace(fit.data, y=size).keeping(known)
    request = forest.request.giving(
        n_trees=TREES,
        blend=False,
        min_leaf=min(LEAST_LEAF, len(data.y)),
        resample="subsample",
        sample_fraction=SAMPLE_FRACTION,
    )
    grown = grow_fit(fit.call, fit.design, data, request)
    mean = float(np.average(data.y, weights=data.weights))
    # any number does if there are no residuals
    added = ADDED * mean if mean > 0 else 1.0
    of_rows = np.full(len(size), np.nan)
    of_rows[known] = forest_out_of_bag(grown).value[:, 0] + added
    return LocalSpread(grown, of_rows, added)


# It is that of the out-of-bag residuals, each divided by the size of residuals near its row, times
# the size near the new row, around its prediction (Lei et al. 2018, section 5.2).


class PredictedDistribution(NamedTuple):
    """The distribution of a response around its prediction.

    `relative` (n,) is the out-of-bag residual of each training row, divided by the size near it
    (NaN where there is none), `weights` (n,) are case weights.
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
    """Return the distribution of a response around its prediction, for a stack of a regression.

    `residual` (n,) are out-of-bag residuals; NaN where there is none.
    """
    spread = local_spread(fit, np.abs(residual))
    return PredictedDistribution(spread, residual / spread.of_rows, fit.data.weights)
