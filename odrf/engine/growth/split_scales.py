"""The scales on which a regression's splits are chosen: transforms of the response.

Splits by squared error follow the largest responses.  If a few of them hold most of the variance,
they decide nearly all splits.  On a scale that draws them in, the other rows count as well.  Only
the splits are chosen on it: the values of the nodes are means of the response itself.

References
----------
G. E. P. Box and D. R. Cox (1964). An analysis of transformations. Journal of the Royal Statistical
Society B 26, 211-252.

W. J. Conover and R. L. Iman (1981). Rank transformations as a bridge between parametric and
nonparametric statistics. The American Statistician 35, 124-129.

B. L. van der Waerden (1952). Order tests for the two-sample problem and their power. Indagationes
Mathematicae 14, 453-458.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.kernel_params import ON_BOX_COX, ON_LOG, ON_NORMAL, ON_RESPONSE

# What a response that is not positive is raised by before its logarithm is taken, beside its
# minimum: this many standard deviations.
RAISED = 0.1
# The powers that are tried, and the largest power times the range of logarithms: beyond it, equal
# steps of the response would differ too much for floating point numbers.
POWERS = np.arange(-20, 21) / 10
MOST_STRETCHED = 30.0
# The largest number below 1, so that normal scores are finite.
BELOW_ONE = np.nextafter(1.0, 0.0)


def splitting_response(
    y: NDArray[np.float64], weights: NDArray[np.float64], scale: int
) -> NDArray[np.float64] | None:
    """Return the responses (n,) by which splits are chosen; None if these are y itself.

    Rows of weight 0 have no part, and get 0.  `y`, `weights` (n,): response and case weights; a row
    of weight 2 counts as two equal rows.  `scale`: a code of `odrf.engine.kernel_params`.
    """
    if scale == ON_RESPONSE:
        return None
    scaled: NDArray[np.float64] = np.zeros(len(y))
    used = weights > 0
    if used.any():
        scaled[used] = _transformed(y[used], weights[used], scale)
    return scaled


def _transformed(
    y: NDArray[np.float64], weights: NDArray[np.float64], scale: int
) -> NDArray[np.float64]:
    if scale == ON_LOG:
        return _logarithms(y, weights)
    if scale == ON_BOX_COX:
        z = _logarithms(y, weights)
        z -= np.average(z, weights=weights)
        return _to_power(z, box_cox_power(z, weights))
    ranks = mid_ranks(y, weights)
    if scale == ON_NORMAL:
        return np.asarray(scipy.special.ndtri(np.minimum(ranks, BELOW_ONE)), dtype=np.float64)
    return ranks


def mid_ranks(y: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the weight below each row, with half of that of its ties: (n,)."""
    values, of_row = np.unique(y, return_inverse=True)
    tied = np.bincount(of_row, weights, len(values))
    below = np.cumsum(tied) - tied / 2
    return np.asarray((below / tied.sum())[of_row], dtype=np.float64)


def _logarithms(y: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(y) if all are positive; else log(y - min + 0.1·sd)."""
    least = y.min()
    if least > 0:
        return np.log(y)
    if least == y.max():
        return np.zeros(len(y))
    mean = np.average(y, weights=weights)
    deviation = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    return np.asarray(np.log(y - least + RAISED * deviation), dtype=np.float64)


def box_cox_power(z: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the power of largest likelihood, a multiple of 0.1 from -2 to 2.

    It is the power at which the responses, divided by their geometric mean, have the smallest
    variance (Box and Cox 1964, section 3); 0 stands for the logarithm.  `z`, `weights` (n,): the
    logarithms of positive responses less their mean, and case weights above 0.
    """
    tried = POWERS[np.abs(POWERS) * np.ptp(z) <= MOST_STRETCHED]
    return float(min(tried, key=lambda power: (_variance(_to_power(z, power), weights), power)))


def _to_power(z: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Return (exp(z)^power - 1) / power, whose limit for the power 0 is z."""
    return z if power == 0 else np.asarray(np.expm1(power * z) / power, dtype=np.float64)


def _variance(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    mean = np.average(values, weights=weights)
    return float(np.average((values - mean) ** 2, weights=weights))
