"""Ridge regression, with the penalty of the smallest error when single rows are left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RidgeFit", "ridge_fit"]

# From almost none to almost a constant, for columns of variance 1.
PENALTIES = 10.0 ** np.arange(-6, 3.1, 0.5)


class RidgeFit(NamedTuple):
    """A linear fit.

    Attributes
    ----------
    fitted : (n,) float64
    left_out : (n,) float64
        Residuals of rows from the fit to the other rows.
    """

    fitted: NDArray[np.float64]
    left_out: NDArray[np.float64]


def ridge_fit(X: NDArray[np.float64], y: NDArray[np.float64]) -> RidgeFit:
    """Fit y (n,) linearly on the columns of X (n, p), which are scaled to variance 1.

    The penalty of the squared coefficients, times n, is that of the smallest mean squared error
    when each row is predicted by the fit to the others.
    """
    n, mean = len(y), y.mean()
    centred = X - X.mean(axis=0)
    spread = centred.std(axis=0)
    U, d, _ = np.linalg.svd(centred[:, spread > 0] / spread[spread > 0], full_matrices=False)
    along, fits = U.T @ (y - mean), []
    for penalty in PENALTIES:
        shrunk = d**2 / (d**2 + n * penalty)
        fitted = mean + U @ (shrunk * along)
        leverage = np.minimum(1 / n + (U**2) @ shrunk, 1 - 1e-9)
        fits.append(RidgeFit(fitted, (y - fitted) / (1 - leverage)))
    return min(fits, key=lambda fit: float((fit.left_out**2).mean()))
