"""How far responses are from what a stack predicts, near each row.

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
from odrf.fits.out_of_bag_values import forest_out_of_bag
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.stacked.stacked_fit import StackedFit

__all__ = ["LocalSpread", "local_spread"]

# Sizes are noisy: leaves of many rows.
TREES, LEAST_LEAF, SAMPLE_FRACTION = 100, 10, 0.5
# A share of the mean size is added: that of few rows may be almost 0 by chance.
ADDED = 0.1


class LocalSpread(NamedTuple):
    """The size of residuals near a row.

    Attributes
    ----------
    fit : Fit
        The forest that predicts sizes.
    of_rows : (n,) float64
        The size near each training row, by the trees that did not draw it; NaN if all did.
    added : float
        What is added to the predictions of the forest.
    """

    fit: Fit
    of_rows: NDArray[np.float64]
    added: float

    def at(self, X: Matrix) -> NDArray[np.float64]:
        """Return the size near each of the rows X (p, m)."""
        return expected_response(self.fit, X)[:, 0] + self.added


def local_spread(fit: StackedFit, size: NDArray[np.float64]) -> LocalSpread:
    """Return what tells the size of residuals near a row.

    Parameters
    ----------
    fit : StackedFit
        Of a regression.
    size : (n,) float64
        Absolute residuals of the training rows out of bag; NaN where there is none.
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
