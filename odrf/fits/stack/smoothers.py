"""Kernel smoothers and additive functions for a stack of models.

Trees follow a function that bends in all directions at once slowly, and classes that lie around
each other; a weighted mean of near rows follows them.  It is a kernel ridge regression: of classes
on their indicators.  One smoother counts all predictors alike.  An oblique one counts rows as near
if they are near in what matters: in important predictors, or along the directions in which the
response changes.

Missing cells count as means, and values outside of the range of the training rows as its ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.factors import Matrix, indicated, layout_of, stored, with_rows
from odrf.statistics.importance import response_columns
from odrf.statistics.ridge import (
    Choice,
    KernelRidge,
    along,
    kernel_ridge,
    kernel_values,
    oblique_kernel_ridge,
    ridge_regression,
    usual_distance,
)

# Where the scaled columns of the training rows end: models of a stack are constant beyond.

USUAL = 0.0, 1.0


def column_ends(X: Matrix) -> NDArray[np.float64]:
    """Return between which two numbers (p, 2) the values of scaled columns X (p, n) count.

    These are 0 and 1.  A column with missing cells is scaled so that its mean is 0, and has values
    below: there they are the least and the largest value.
    """
    rows, layout = stored(X), layout_of(X)
    ends = np.tile(USUAL, (len(rows), 1))
    least, largest = np.fmin.reduce(rows, axis=1), np.fmax.reduce(rows, axis=1)
    centred = least < 0
    ends[centred] = np.column_stack([least, largest])[centred]
    return ends if layout is None else ends[layout.place]


def within_ends(
    values: NDArray[np.float64], ends: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return values (n, p) of columns, those beyond the ends (p, 2) of theirs being as these.

    Or values (n,) of one column with ends (2,).  None: as in files of earlier versions, 0 and 1.
    """
    least, largest = USUAL if ends is None else ends.T
    return np.clip(values, least, largest)


# Choices by importances fit the rows that these were estimated on.  So a model with such choices
# is evaluated on a fold of rows that had no part in them.


class FoldImportance(NamedTuple):
    """Folds of rows, and importances.

    `fold` (n,) is the fold of each row, from 0 to F - 1. `importance` are F + 1 arrays (p,): the
    importance of each column, at least 0, as estimated without each fold, and on all rows.
    """

    fold: NDArray[np.int64]
    importance: Sequence[NDArray[np.float64]]

    def without(self, f: int) -> NDArray[np.bool_]:
        """Return which rows (n,) are not of fold `f`; all of them if that is F."""
        return self.fold != f


# Kernel smoothers: smooth functions of all predictors at once, for a stack of models.

# The time grows with the third power of the number of rows, and rows times rows times columns.
MOST_ROWS, MOST_PRODUCTS = 3000, 2e10
FEWEST_ROWS = 5
# Rows that are predicted at a time; each has an indicator for every level of a factor.
BLOCK = 1024
TINY = 1e-18


@dataclass(frozen=True, eq=False)
class KernelSmoother:
    """A kernel ridge regression on scaled columns.

    `points` (m, p), `ends` (p, 2).  `centre`, `unit` (p,): infinite for a column that is constant.
    `left_out` (n, K): fold.  `directions` (p, r): this matrix; or None.
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

    The seed draws which rows choose the kernel, and which are used if there are too many.  The
    oblique one needs `by_fold`; without folds and importances there is none.
    """
    used = np.flatnonzero(data.weights > 0)
    if len(used) < FEWEST_ROWS:
        return ()
    most = min(MOST_ROWS, int(np.sqrt(MOST_PRODUCTS / len(data.X))))
    drawn = np.random.default_rng(seed).permutation(used)[:most]
    rows = indicated(with_rows(data.X, drawn)).T
    centre, unit = _centre_and_unit(data, design.first)
    ends = column_ends(data.X)
    Y = response_columns(data.y, design.response.n_classes)
    points = _scaled(rows, centre, unit, ends)
    known = points, Y[drawn], data.weights[drawn]
    ridge, left_out = kernel_ridge(*known)
    plain = KernelSmoother(centre, unit, rows, ridge, left_out, ends=ends)
    if by_fold is None:
        return (_with_all_rows(plain, data.X, drawn),)
    first = Choice(ridge.kernel, ridge.width / usual_distance(points), ridge.penalty)
    fitted = oblique_kernel_ridge(*known, first, by_fold.fold[drawn], by_fold.importance)
    oblique = replace(
        plain, ridge=fitted.ridge, left_out=fitted.left_out, directions=fitted.directions
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
    """Return the rows (n, p) in units, with means for missing cells and values cut at the ends."""
    known = np.where(np.isnan(rows), centre, within_ends(rows.astype(np.float64), ends))
    return np.ascontiguousarray((known - centre) / unit)


# Trees are slow to follow a smooth curve.  A sum of lines, or of natural cubic splines, follows it
# at once, and what it leaves is for the forest.  (In the local linear forests of Friedberg et al.
# 2020 lines are fitted in the leaves instead.)  Outside of the range of the training rows each
# function is constant, as trees are.

# Knots of a spline, at quantiles of the distinct values, and the fewest values that have a spline.
KNOTS, FEWEST_VALUES = 6, 8
# The most multiplications of the decomposition; a base of more would take longer than the forest.
MOST_WORK = 2e10


@dataclass(frozen=True, eq=False)
class AdditiveBase:
    """A sum of functions of single columns.

    `centre` (p,), `coef` (m,), `ends` (p, 2).  `knots` (p, KNOTS): line.
    """

    knots: NDArray[np.float64]
    centre: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: float
    ends: NDArray[np.float64] | None = None

    def values(self, X: Matrix) -> NDArray[np.float64]:
        """Return the sums (n,) for predictors X (p, n), scaled as by the design."""
        total = np.full(X.shape[1], self.intercept)
        for added in self._added(X):
            total += added
        return total

    def by_column(self, X: Matrix) -> NDArray[np.float64]:
        """Return what each column adds to the sums (n, p)."""
        return np.stack(list(self._added(X)), axis=1)

    def _added(self, X: Matrix) -> Iterator[NDArray[np.float64]]:
        """Yield what each column adds (n,).

        Products are added one by one: BLAS would round those of a row alone in another way than
        those of the row among others.
        """
        begin = 0
        for terms in _terms(X, self.knots, self.centre, self.ends):
            end = begin + terms.shape[1]
            products = terms * self.coef[begin:end]
            begin, added = end, products[:, 0]
            for product in products.T[1:]:
                added = added + product
            yield added


def can_have_base(n: int, p: int, splines: bool) -> bool:
    """Return whether a base of `p` columns is computed soon enough for n rows."""
    m = p * KNOTS if splines else p
    return float(n) * m * min(n, m) <= MOST_WORK


def base_of(data: TrainingData, splines: bool) -> tuple[AdditiveBase, NDArray[np.float64]]:
    """Return a base for the response, and its values (n,), each without the row itself.

    With `splines`, columns of many values have splines; all others have lines.
    """
    X = indicated(data.X)
    knots = np.full((len(X), KNOTS), np.nan)
    centre, ends = np.zeros(len(X)), column_ends(X)
    for j, column in enumerate(X):
        known = column[~np.isnan(column) & (data.weights > 0)].astype(np.float64)
        if not len(known):
            continue
        centre[j] = known.mean()
        values = np.unique(known)
        if splines and len(values) >= FEWEST_VALUES:
            knots[j] = np.quantile(values, np.linspace(0, 1, KNOTS))
    terms = np.hstack(list(_terms(X, knots, centre, ends)))
    ridge = ridge_regression(terms, data.y, data.weights)
    return AdditiveBase(knots, centre, ridge.coef, ridge.intercept, ends), ridge.left_out


def _terms(
    X: Matrix,
    knots: NDArray[np.float64],
    centre: NDArray[np.float64],
    ends: NDArray[np.float64] | None,
) -> Iterator[NDArray[np.float64]]:
    """Yield what the coefficients multiply: for each column one array (n, 1), or (n, KNOTS)."""
    for j, (column, at, middle) in enumerate(zip(indicated(X), knots, centre, strict=True)):
        known = np.where(np.isnan(column), middle, column).astype(np.float64)
        x = within_ends(known, None if ends is None else ends[j])
        if np.isnan(at[0]):
            yield x[:, None]
        else:
            # the spline through 1 at one knot and 0 at the others, for each knot
            spline = scipy.interpolate.CubicSpline(at, np.eye(KNOTS), bc_type="natural")
            yield spline(np.clip(x, at[0], at[-1]))
