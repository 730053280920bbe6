"""The expected response of rows, by any kind of fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.prediction.predicting import mean_values
from odrf.fits.stacked.kernel_smoother import KernelSmoother
from odrf.fits.stacked.stacked_fit import StackedFit
from odrf.fits.stacked.weighing import put_together

__all__ = ["expected_response"]


def expected_response(
    fit: AnyFit,
    X: Matrix,
    offset: NDArray[np.float64] | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the mean response (n, 1) or the class probabilities (n, K) of rows X (p, n).

    Parameters
    ----------
    fit : AnyFit
    X : Matrix (p, n)
        The rows; NaN for empty cells in columns without any in training.
    offset : (n,) float64, optional
        The offsets of boosted trees; by default 0.
    advance : callable
        Called with numbers of rows when they are done.
    """
    if isinstance(fit, StackedFit):
        return _of_parts(fit, X, offset, advance)
    fit, X = reading_empty_cells(fit, X)
    if not isinstance(fit, BoostedFit):
        return mean_values(fit, X, advance)
    offsets = np.zeros(X.shape[1]) if offset is None else offset
    return fit.loss.means(fit.scores(X, offsets, advance))


def _of_parts(
    fit: StackedFit,
    X: Matrix,
    offset: NDArray[np.float64] | None,
    advance: Callable[[int], object],
) -> NDArray[np.float64]:
    """Return what the parts of a stack expect, put together."""
    values, weights = [], []
    for part, weight in zip(fit.parts, fit.weights, strict=True):
        if weight > 0:
            if isinstance(part.fit, KernelSmoother):
                value = part.fit.values(X)
            else:
                used = X if part.columns is None else X[part.columns]
                value = expected_response(part.fit, used, offset)
            values.append(value if part.base is None else value + part.base.values(X)[:, None])
            weights.append(weight)
    advance(X.shape[1])
    return put_together(values, weights, fit.power)
