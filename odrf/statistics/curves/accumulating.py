"""Accumulated local effects, from mean differences of predictions within intervals or cells.

Every function is linear in the differences, and takes those of one curve or of many.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["accumulated", "accumulated_levels", "accumulated_pairs"]


def accumulated(
    difference: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the accumulated local effects (..., J + 1) at the ends of J intervals.

    The curve grows by the mean difference of each interval (..., J); its mean over the rows is 0,
    whose weight (J,) in an interval is divided between its two ends (Apley and Zhu 2020).
    """
    curve = _grown(difference, -1)
    middle = (curve[..., 1:] + curve[..., :-1]) / 2
    return curve - (middle @ weight)[..., np.newaxis] / weight.sum()


def accumulated_levels(
    difference: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the same (..., L) for L levels in an order, of differences (..., L - 1) of neighbours.

    `weight` (L,) is that of the rows of each level.
    """
    curve = _grown(difference, -1)
    return curve - (curve @ weight)[..., np.newaxis] / weight.sum()


def accumulated_pairs(
    difference: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the second-order effects (..., J + 1, M + 1) of two variables at the corners of cells.

    What the two variables add together to the sum of their own effects.  `difference` (..., J, M)
    is the mean over the rows of a cell of the difference of differences; a cell without rows has
    that of the nearest cell with rows.  `weight` (J, M) is that of the rows of each cell; if an
    interval of one variable has no rows, its cells count alike.
    """
    surface = _grown(_grown(_filled(difference, weight), -2), -1)
    first, second = np.diff(surface, axis=-2), np.diff(surface, axis=-1)
    first = (first[..., 1:] + first[..., :-1]) / 2
    first = np.sum(first * _shares(weight, 1), axis=-1)
    second = (second[..., 1:, :] + second[..., :-1, :]) / 2
    second = np.sum(second * _shares(weight, 0), axis=-2)
    alone = _grown(first, -1)[..., :, np.newaxis] + _grown(second, -1)[..., np.newaxis, :]
    surface = surface - alone
    corners = surface[..., 1:, 1:] + surface[..., 1:, :-1]
    corners = (corners + surface[..., :-1, 1:] + surface[..., :-1, :-1]) / 4
    mean = (corners * weight).sum(axis=(-2, -1), keepdims=True) / weight.sum()
    return np.asarray(surface - mean)


def _shares(weight: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the weights of cells (J, M) as shares along an axis, equal ones if all are 0."""
    known = np.where(weight.sum(axis=axis, keepdims=True) > 0, weight, 1.0)
    return np.asarray(known / known.sum(axis=axis, keepdims=True))


def _grown(difference: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the cumulated sums along an axis, from 0 on."""
    shape = list(difference.shape)
    shape[axis] = 1
    return np.concatenate([np.zeros(shape), np.cumsum(difference, axis=axis)], axis=axis)


def _filled(difference: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences with those of the nearest cell with rows in cells without."""
    nearest = scipy.ndimage.distance_transform_edt(
        weight == 0, return_distances=False, return_indices=True
    )
    return np.asarray(difference[..., nearest[0], nearest[1]])
