"""Kernel ridge regression, whose choices are made by leaving out one row at a time.

The prediction is an intercept and a sum over training rows j of coef_j·k(|x - x_j|), where k falls
with the distance.  It is the mean of a Gaussian process with that covariance, given the responses
(Rasmussen and Williams 2006, section 2.2 and, for the intercept, 2.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread

__all__ = [
    "KERNELS",
    "Choice",
    "KernelRidge",
    "kernel_ridge",
    "kernel_values",
    "losses_of_choices",
    "regression",
    "usual_distance",
]

Array = NDArray[np.float64]

KERNELS: dict[str, Callable[[Array], Array]] = {
    "gauss": lambda distance: np.exp(-0.5 * distance**2),
    "laplace": lambda distance: np.exp(-distance),
}
"""Kernels as functions of the distance in units of the width."""
# What is tried: widths in median distances of rows, penalties in variances of a response.
WIDTHS = {"gauss": (0.25, 0.5, 1.0, 2.0), "laplace": (0.5, 1.0, 2.0, 4.0)}
PENALTIES = np.geomspace(1e-4, 1e2, 19)
# Rows on which the choices are made: they take a time in the third power of the number of rows.
ROWS_TO_CHOOSE = 500
# Keeps equal rows of large weights from having equal equations.
LEAST_NOISE = 1e-7
# Rows of a block of distances.
BLOCK = 1024


class Choice(NamedTuple):
    """What is chosen of a kernel ridge regression.

    Attributes
    ----------
    kernel : str
        A name in `KERNELS`.
    width : float
        The distance that counts as 1, in usual distances of rows.
    penalty : float
        The variance of a row of weight 1 around the curve.
    """

    kernel: str
    width: float
    penalty: float


class KernelRidge(NamedTuple):
    """A kernel ridge regression of K responses.

    Attributes
    ----------
    kernel : str
        A name in `KERNELS`.
    width : float
        The distance that counts as 1.
    penalty : float
        The variance of a row of weight 1 around the curve.
    coef : (n, K) float64
    intercept : (K,) float64
    """

    kernel: str
    width: float
    penalty: float
    coef: Array
    intercept: Array


def kernel_ridge(points: Array, Y: Array, weights: Array) -> tuple[KernelRidge, Array]:
    """Return the regression with the smallest error of rows left out, and their predictions.

    These are (n, K): of each row by the regression on the other rows, of the same kernel, width and
    penalty.

    Kernel, width and penalty are chosen on the first `ROWS_TO_CHOOSE` rows, which should be in no
    order.  The error needs no further regressions: the residual of a row that is left out is its
    element of Q·y, divided by its diagonal element of Q, the matrix that turns responses into
    coefficients (Rasmussen and Williams 2006, equation 5.12).

    Parameters
    ----------
    points : (n, p) float64
        Predictors in comparable units, of at least two rows.
    Y : (n, K) float64
        Responses.
    weights : (n,) float64
        Case weights, above 0.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams (2006). Gaussian Processes for Machine Learning. MIT
    Press.
    """
    with one_thread():
        few = slice(0, ROWS_TO_CHOOSE)
        choices = losses_of_choices(points[few], Y[few], weights[few])
        _, choice = min((float(weights[few] @ losses), choice) for choice, losses in choices)
        return _with_rows_left_out(points, Y, weights, choice)


def usual_distance(points: Array) -> float:
    """Return the median distance of unequal rows among the first `ROWS_TO_CHOOSE`, or 1."""
    between = scipy.spatial.distance.pdist(points[:ROWS_TO_CHOOSE])
    return float(np.median(between[between > 0])) if (between > 0).any() else 1.0


def losses_of_choices(points: Array, Y: Array, weights: Array) -> Iterator[tuple[Choice, Array]]:
    """Yield every choice, and the squared error (n,) of each row, left out of its regression."""
    distance = scipy.spatial.distance.cdist(points, points)
    unit = usual_distance(points)
    root = np.sqrt(weights / weights.mean())
    for kernel, widths in WIDTHS.items():
        for width in widths:
            K = KERNELS[kernel](distance / (width * unit))
            values, vectors = scipy.linalg.eigh(root[:, None] * K * root, driver="evd")
            scaled = root[:, None] * vectors
            along, ones = scaled.T @ Y, scaled.sum(axis=0)
            inverse = 1 / (np.maximum(values, 0.0)[:, None] + PENALTIES + LEAST_NOISE)
            of_one = scaled @ (ones[:, None] * inverse)
            total_of_one = of_one.sum(axis=0)
            diagonal = scaled**2 @ inverse - of_one**2 / total_of_one
            losses = np.zeros_like(diagonal)
            for of_response in along.T:
                solved = scaled @ (of_response[:, None] * inverse)
                coef = solved - of_one * (solved.sum(axis=0) / total_of_one)
                losses += (coef / diagonal) ** 2
            for penalty, of_penalty in zip(PENALTIES, losses.T, strict=True):
                yield Choice(kernel, width, float(penalty)), of_penalty


def regression(points: Array, Y: Array, weights: Array, choice: Choice) -> KernelRidge:
    """Return the regression of that choice."""
    width, K = _width_and_noisy_kernel(points, weights, choice)
    factor = scipy.linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    with_ones = np.column_stack([np.ones(len(Y)), Y])
    solved = scipy.linalg.cho_solve(factor, with_ones, check_finite=False)
    of_one, of_response = solved[:, :1], solved[:, 1:]
    intercept = of_response.sum(axis=0) / of_one.sum()
    return KernelRidge(
        choice.kernel, width, choice.penalty, of_response - of_one * intercept, intercept
    )


def _with_rows_left_out(
    points: Array, Y: Array, weights: Array, choice: Choice
) -> tuple[KernelRidge, Array]:
    """Return the regression of that choice, and the predictions of rows that are left out."""
    width, K = _width_and_noisy_kernel(points, weights, choice)
    factor = scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    lower, _ = scipy.linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    inverse_times = partial(scipy.linalg.blas.dsymm, 1.0, lower, lower=True)
    of_one = inverse_times(np.ones((len(Y), 1)))[:, 0]
    intercept = of_one @ Y / of_one.sum()
    coef = inverse_times(Y - intercept)
    diagonal = np.diagonal(lower) - of_one**2 / of_one.sum()
    found = KernelRidge(choice.kernel, width, choice.penalty, coef, intercept)
    return found, Y - coef / diagonal[:, None]


def _width_and_noisy_kernel(points: Array, weights: Array, choice: Choice) -> tuple[float, Array]:
    """Return the width as a distance, and the covariances of the responses of rows (n, n)."""
    width = choice.width * usual_distance(points)
    K = KERNELS[choice.kernel](scipy.spatial.distance.cdist(points, points) / width)
    K[np.diag_indices_from(K)] += choice.penalty * weights.mean() / weights + LEAST_NOISE
    return width, K


def kernel_values(found: KernelRidge, points: Array, new: Array) -> Array:
    """Return the predictions (m, K) of new rows.

    Parameters
    ----------
    found : KernelRidge
    points : (n, p) float64
        The rows that it was fitted on.
    new : (m, p) float64
    """
    out = np.empty((len(new), len(found.intercept)))
    for begin in range(0, len(new), BLOCK):
        rows = slice(begin, begin + BLOCK)
        distance = scipy.spatial.distance.cdist(new[rows], points)
        K = KERNELS[found.kernel](distance / found.width)
        for k, coef in enumerate(found.coef.T):
            # not by BLAS, which would round a row alone in another way than the row among others
            out[rows, k] = found.intercept[k] + (K * coef).sum(axis=1)
    return out
