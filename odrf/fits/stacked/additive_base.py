"""A base: a sum of functions of one predictor each, which a forest corrects.

Trees are slow to follow a smooth curve.  A sum of lines, or of natural cubic splines, follows it at
once, and what it leaves is for the forest.  (In the local linear forests of Friedberg et al. 2020
lines are fitted in the leaves instead.)  Outside of the range of the training rows each function is
constant, as trees are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.factors import Matrix, indicated
from odrf.fits.stacked.column_ends import column_ends, within_ends
from odrf.statistics.ridge import ridge_regression

__all__ = ["AdditiveBase", "base_of", "can_have_base"]

# Knots of a spline, at quantiles of the distinct values, and the fewest values that have a spline.
KNOTS, FEWEST_VALUES = 6, 8
# The most multiplications of the decomposition; a base of more would take longer than the forest.
MOST_WORK = 2e10


@dataclass(frozen=True, eq=False)
class AdditiveBase:
    """A sum of functions of single columns.

    Attributes
    ----------
    knots : (p, KNOTS) float64
        The knots of each column's natural cubic spline; NaN for a column with a line.
    centre : (p,) float64
        What an empty cell counts as.
    coef : (m,) float64
        The coefficients: of a line one, of a spline its values at the knots.
    intercept : float
    ends : (p, 2) float64 or None
        See `column_ends`; None in files of earlier versions.
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

    Parameters
    ----------
    data : TrainingData
    splines : bool
        Whether columns of many values have splines; all others have lines.
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
    found = ridge_regression(terms, data.y, data.weights)
    return AdditiveBase(knots, centre, found.coef, found.intercept, ends), found.left_out


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
