"""Covariances of the points of predicted curves over training samples, row by row."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.averaged.functionals import FunctionalCovariance
from odrf.statistics.jackknife import RowsOfTrees, deviations, jackknife_sums

__all__ = ["curve_covariances"]


def curve_covariances(
    values: NDArray[np.float64], rows: RowsOfTrees, used: NDArray[np.bool_] | None = None
) -> list[FunctionalCovariance]:
    """Estimate the covariances (G, G) of the points of m curves over training samples.

    Each curve is the mean over trees.  The covariance of two of its points is that of two
    functionals of the forest: see `odrf.statistics.averaged.functionals.functional_covariance`,
    which this equals for each curve.

    Parameters
    ----------
    values : (B, m, G) float64
        The curves of each tree.
    rows : RowsOfTrees
    used : (B, m) bool, optional
        The trees that predict each curve; by default all.
    """
    B, m, G = values.shape
    used = np.ones((B, m), dtype=np.bool_) if used is None else used
    deviation = deviations(values.reshape(B, m * G), rows.kinds, np.repeat(used, G, axis=1))
    sums = jackknife_sums(deviation, rows, partial(_products, m=m))
    return [FunctionalCovariance(*parts, rows.n, B) for parts in zip(*sums, strict=True)]


def _products(
    first: NDArray[np.float64], second: NDArray[np.float64], m: int
) -> NDArray[np.float64]:
    """Return sums (m, G, G) over trees of products of two points of each of m curves."""
    b = len(first)
    left = first.reshape(b, m, -1).transpose(1, 2, 0)
    return np.asarray(left @ second.reshape(b, m, -1).transpose(1, 0, 2))
