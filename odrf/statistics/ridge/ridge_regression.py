"""Ridge regression, whose penalty is chosen by leaving out one row at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import one_thread

__all__ = ["RidgeRegression", "ridge_regression"]

# Penalties that are tried, for columns of variance 1 and one row.
PENALTIES = np.geomspace(1e-4, 1e4, 25) / 10
TINY = 1e-12


class RidgeRegression(NamedTuple):
    """A ridge regression on m columns.

    Attributes
    ----------
    coef : (m,) float64
    intercept : float
    left_out : (n,) float64
        The prediction of each row by the regression on the other rows.
    """

    coef: NDArray[np.float64]
    intercept: float
    left_out: NDArray[np.float64]


def ridge_regression(
    Z: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalties: NDArray[np.float64] = PENALTIES,
) -> RidgeRegression:
    """Minimise the weighted squares of y - intercept - Z·coef plus a penalty on coef².

    The penalty is the one with the smallest error of the rows that are left out, one at a time.
    That error needs no further regressions: it is the residual, divided by 1 less the leverage
    (Golub, Heath and Wahba 1979).  Columns are compared in units of their standard deviations.

    Parameters
    ----------
    Z : (n, m) float64
    y : (n,) float64
    weights : (n,) float64
        Case weights; rows of weight 0 have no part in the regression.
    penalties : array of float64
        Those that are tried; each is multiplied by n.
    """
    with one_thread():
        return _solved(Z, y, weights, penalties * len(Z))


def _solved(
    Z: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalties: NDArray[np.float64],
) -> RidgeRegression:
    share = weights / weights.sum()
    centre, mean = share @ Z, float(share @ y)
    unit = np.sqrt(share @ (Z - centre) ** 2)
    unit[unit < TINY] = np.inf
    root = np.sqrt(share * len(Z))
    A, b = (Z - centre) / unit * root[:, None], (y - mean) * root
    U, squares, V = _decomposed(A)
    along = U.T @ b
    # What the columns cannot fit, and how much of a row that is: 0 if there are enough columns.
    beyond = b - U @ along
    free = np.maximum(1 - np.sum(U**2, axis=1) - share, 0.0)

    def left(penalty: float) -> NDArray[np.float64]:
        """Return the residuals (n,) of the rows that are left out, times `root`."""
        shrunk = penalty / (squares + penalty)
        return np.asarray((beyond + U @ (shrunk * along)) / np.maximum(free + U**2 @ shrunk, TINY))

    penalty = min(penalties, key=lambda one: float(np.sum(left(one) ** 2)))
    coef = V @ (np.sqrt(squares) / (squares + penalty) * along) / unit
    intercept = mean - float(centre @ coef)
    used = root > 0
    left_out = intercept + Z @ coef
    left_out[used] = y[used] - left(penalty)[used] / root[used]
    return RidgeRegression(coef, intercept, left_out)


def _decomposed(
    A: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return U (n, r), the squares (r,) of the singular values, and V (m, r), of A = U·D·Vᵀ.

    They are from the smaller of the products of A with itself, which takes less time.
    """
    n, m = A.shape
    squares, vectors = np.linalg.eigh(A.T @ A if m <= n else A @ A.T)
    used = squares > max(squares.max(initial=0.0), TINY) * TINY
    squares, vectors = squares[used], vectors[:, used]
    other = (A if m <= n else A.T) @ vectors / np.sqrt(squares)
    return (other, squares, vectors) if m <= n else (vectors, squares, other)
