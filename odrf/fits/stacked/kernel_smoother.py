"""Kernel smoothers: smooth functions of all predictors at once, for a stack of models.

Trees follow a function that bends in all directions at once slowly, and classes that lie around
each other; a weighted mean of near rows follows them.  It is a kernel ridge regression: of classes
on their indicators.  One smoother counts all predictors alike.  An oblique one counts rows as near
if they are near in what matters: in important predictors, or along the directions in which the
response changes.

Empty cells count as means, and values outside of the range of the training rows as its ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.rows.coded import Matrix, indicated
from odrf.fits.stacked.column_ends import column_ends, within_ends
from odrf.fits.stacked.fold_importance import FoldImportance
from odrf.statistics.ridge.kernel_directions import along, oblique_kernel_ridge
from odrf.statistics.ridge.kernel_ridge import (
    Choice,
    KernelRidge,
    kernel_ridge,
    kernel_values,
    usual_distance,
)

__all__ = ["KernelSmoother", "kernel_smoothers_of"]

# The time grows with the third power of the number of rows, and rows times rows times columns.
MOST_ROWS, MOST_PRODUCTS = 3000, 2e10
FEWEST_ROWS = 5
TINY = 1e-18


@dataclass(frozen=True, eq=False)
class KernelSmoother:
    """A kernel ridge regression on scaled columns.

    Attributes
    ----------
    centre, unit : (p,) float64
        A column counts as its difference from `centre`, divided by `unit`; infinite for a column
        that is constant.
    points : (m, p) float32
        The training rows that it uses.
    ridge : KernelRidge
        The regression on them.
    left_out : (n, K) float64
        The prediction of each training row without the row itself, or without its fold.
    directions : (p, r) float64, optional
        Of an oblique smoother: a row counts as its products with the columns of this matrix.
    ends : (p, 2) float64, optional
        See `column_ends`; None in files of earlier versions.
    """

    centre: NDArray[np.float64]
    unit: NDArray[np.float64]
    points: NDArray[np.float32]
    ridge: KernelRidge
    left_out: NDArray[np.float64]
    directions: NDArray[np.float64] | None = None
    ends: NDArray[np.float64] | None = None

    def values(self, X: Matrix) -> NDArray[np.float64]:
        """Return predictions (n, K) for predictors X (p, n), scaled as by the design."""
        points, new = (
            _scaled(rows, self.centre, self.unit, self.ends)
            for rows in (self.points, indicated(X).T)
        )
        if self.directions is not None:
            points, new = along(points, self.directions), along(new, self.directions)
        return kernel_values(self.ridge, points, new)


def kernel_smoothers_of(
    design: Design, data: TrainingData, seed: int, by_fold: FoldImportance | None
) -> tuple[KernelSmoother, ...]:
    """Return a smoother of the response, and an oblique one; none if there are too few rows.

    Parameters
    ----------
    design : Design
    data : TrainingData
    seed : int
        Which rows choose the kernel, and which are used if there are too many.
    by_fold : FoldImportance or None
        Folds and importances, for the oblique smoother; without them there is none.
    """
    rows = indicated(data.X).T
    used = np.flatnonzero(data.weights > 0)
    if len(used) < FEWEST_ROWS:
        return ()
    most = min(MOST_ROWS, int(np.sqrt(MOST_PRODUCTS / rows.shape[1])))
    drawn = np.random.default_rng(seed).permutation(used)[:most]
    centre, unit = _centre_and_unit(rows[used], data.weights[used], design.first)
    ends = column_ends(rows.T)
    K = design.response.n_classes
    Y = data.y[:, None] if K == 1 else np.eye(K)[data.y.astype(np.int64)]
    points = _scaled(rows[drawn], centre, unit, ends)
    known = points, Y[drawn], data.weights[drawn]
    others = np.setdiff1d(np.arange(len(Y)), drawn)
    beyond = _scaled(rows[others], centre, unit, ends)
    shared = centre, unit, np.asarray(rows[drawn], np.float32)
    left_out = np.empty(Y.shape)
    ridge, left_out[drawn] = kernel_ridge(*known)
    left_out[others] = kernel_values(ridge, points, beyond)
    plain = KernelSmoother(*shared, ridge, left_out, ends=ends)
    if by_fold is None:
        return (plain,)
    first = Choice(ridge.kernel, ridge.width / usual_distance(points), ridge.penalty)
    oblique = oblique_kernel_ridge(*known, first, by_fold.fold[drawn], by_fold.importance)
    left_out, directions = np.empty(Y.shape), oblique.directions
    left_out[drawn] = oblique.left_out
    left_out[others] = kernel_values(
        oblique.ridge, along(points, directions), along(beyond, directions)
    )
    return plain, KernelSmoother(*shared, oblique.ridge, left_out, directions, ends)


def _centre_and_unit(
    rows: NDArray[np.float32], weights: NDArray[np.float64], first: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and units of columns; all columns of a predictor have variance 1 together."""
    known = ~np.isnan(rows)
    share = weights[:, None] * known
    total = share.sum(axis=0)
    share /= np.where(total > 0, total, 1.0)
    values = np.where(known, rows, 0.0).astype(np.float64)
    centre = (share * values).sum(axis=0)
    variance = (share * (values - centre) ** 2).sum(axis=0)
    together = np.empty_like(variance)
    for begin, end in pairwise(first):
        together[begin:end] = variance[begin:end].sum()
    return centre, np.where(together > TINY, np.sqrt(together), np.inf)


def _scaled(
    rows: NDArray[np.float32],
    centre: NDArray[np.float64],
    unit: NDArray[np.float64],
    ends: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the rows (n, p) in units, with means for empty cells and ends for what lies beyond."""
    known = np.where(np.isnan(rows), centre, within_ends(rows.astype(np.float64), ends))
    return np.ascontiguousarray((known - centre) / unit)
