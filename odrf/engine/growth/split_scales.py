"""The scales on which a regression's splits are chosen: transforms of the response.

Splits by squared error follow the largest responses.  If a few of them hold most of the variance,
they decide nearly all splits.  On a scale that draws them in, the other rows count as well.  Only
the splits are chosen on it: the values of the nodes are means of the response itself.

References
----------
W. J. Conover and R. L. Iman (1981). Rank transformations as a bridge between parametric and
nonparametric statistics. The American Statistician 35, 124-129.

B. L. van der Waerden (1952). Order tests for the two-sample problem and their power. Indagationes
Mathematicae 14, 453-458.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.settings import ON_LOG, ON_NORMAL, ON_RESPONSE

__all__ = ["mid_ranks", "splitting_response"]

# What a response that is not positive is raised by before its logarithm is taken, beside its
# minimum: this many standard deviations.
RAISED = 0.1
# The largest number below 1, so that normal scores are finite.
BELOW_ONE = np.nextafter(1.0, 0.0)


def splitting_response(
    y: NDArray[np.float64], weights: NDArray[np.float64], scale: int
) -> NDArray[np.float64] | None:
    """Return the responses (n,) by which splits are chosen; None if these are y itself.

    Rows of weight 0 have no part, and get 0.

    Parameters
    ----------
    y, weights : (n,) float64
        Response and case weights; a row of weight 2 counts as two equal rows.
    scale : int
        A code of `odrf.engine.settings`.
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
