"""Kernel smoothers: smooth functions of all predictors at once, for a stack of models.

Trees follow a function that bends in all directions at once slowly, and classes that lie around
each other; a weighted mean of near rows follows them.  It is a kernel ridge regression: of classes
on their indicators.  One smoother counts all predictors alike.  An oblique one counts rows as near
if they are near in what matters: in important predictors, or along the directions in which the
response changes.

Empty cells count as means, and values outside of the range of the training rows as its ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.factors import Matrix, indicated, with_rows
from odrf.fits.stacked.column_ends import column_ends, within_ends
from odrf.fits.stacked.fold_importance import FoldImportance
from odrf.statistics.ridge import (
    Choice,
    KernelRidge,
    along,
    kernel_ridge,
    kernel_values,
    oblique_kernel_ridge,
    usual_distance,
)

__all__ = ["KernelSmoother", "kernel_smoothers_of"]

# The time grows with the third power of the number of rows, and rows times rows times columns.
MOST_ROWS, MOST_PRODUCTS = 3000, 2e10
FEWEST_ROWS = 5
# Rows that are predicted at a time; each has an indicator for every level of a factor.
BLOCK = 1024
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
        points = self._placed(self.points)
        out = np.empty((X.shape[1], len(self.ridge.intercept)))
        for begin in range(0, len(out), BLOCK):
            rows = slice(begin, begin + BLOCK)
            new = self._placed(indicated(with_rows(X, rows)).T)
            out[rows] = kernel_values(self.ridge, points, new)
        return out

    def _placed(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return rows (n, p) in the space in which the kernel measures distances."""
        scaled = _scaled(rows, self.centre, self.unit, self.ends)
        return scaled if self.directions is None else along(scaled, self.directions)


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
    used = np.flatnonzero(data.weights > 0)
    if len(used) < FEWEST_ROWS:
        return ()
    most = min(MOST_ROWS, int(np.sqrt(MOST_PRODUCTS / len(data.X))))
    drawn = np.random.default_rng(seed).permutation(used)[:most]
    rows = indicated(with_rows(data.X, drawn)).T
    centre, unit = _centre_and_unit(data, design.first)
    ends = column_ends(data.X)
    K = design.response.n_classes
    Y = data.y[:, None] if K == 1 else np.eye(K)[data.y.astype(np.int64)]
    points = _scaled(rows, centre, unit, ends)
    known = points, Y[drawn], data.weights[drawn]
    ridge, left_out = kernel_ridge(*known)
    plain = KernelSmoother(centre, unit, rows, ridge, left_out, ends=ends)
    if by_fold is None:
        return (_with_all_rows(plain, data.X, drawn),)
    first = Choice(ridge.kernel, ridge.width / usual_distance(points), ridge.penalty)
    found = oblique_kernel_ridge(*known, first, by_fold.fold[drawn], by_fold.importance)
    oblique = replace(
        plain, ridge=found.ridge, left_out=found.left_out, directions=found.directions
    )
    return tuple(_with_all_rows(smoother, data.X, drawn) for smoother in (plain, oblique))


def _with_all_rows(smoother: KernelSmoother, X: Matrix, drawn: NDArray[np.int64]) -> KernelSmoother:
    """Return a smoother that leaves out `drawn` rows with predictions of all others, too."""
    others = np.setdiff1d(np.arange(X.shape[1]), drawn)
    left_out = np.empty((X.shape[1], smoother.left_out.shape[1]))
    left_out[drawn] = smoother.left_out
    left_out[others] = smoother.values(with_rows(X, others))
    return replace(smoother, left_out=left_out)


def _centre_and_unit(
    data: TrainingData, first: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and units of columns; all columns of a predictor have variance 1 together."""
    centre, variance = np.zeros((2, len(data.X)))
    for j in range(len(data.X)):
        column = data.X[j]
        known = ~np.isnan(column) & (data.weights > 0)
        if known.any():
            share = data.weights[known] / data.weights[known].sum()
            values = column[known].astype(np.float64)
            # not by BLAS, which rounds long sums in another way if it has more threads
            centre[j] = (share * values).sum()
            variance[j] = (share * (values - centre[j]) ** 2).sum()
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
