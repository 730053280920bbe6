"""A base: a sum of functions of one predictor each, which a forest corrects.

Trees are slow to follow a smooth curve, and do not go on where the rows end.  A sum of lines, or of
natural cubic splines, follows it at once; what it leaves is for the forest (as in the local linear
forests of Friedberg et al. 2020, whose corrections are made in the leaves).  Outside of the range
of the training rows each function is constant, as trees are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.rows.coded import Matrix, indicated
from odrf.statistics.ridge_regression import one_blas_thread, ridge_regression

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
    """

    knots: NDArray[np.float64]
    centre: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: float

    def values(self, X: Matrix) -> NDArray[np.float64]:
        """Return the sums (n,) for predictors X (p, n), scaled as by the design."""
        terms = _terms(X, self.knots, self.centre)
        with one_blas_thread():
            return np.asarray(self.intercept + terms @ self.coef)

    def by_column(self, X: Matrix) -> NDArray[np.float64]:
        """Return what each column adds to the sums (n, p)."""
        terms = _terms(X, self.knots, self.centre) * self.coef
        begin = np.cumsum([0, *np.where(np.isnan(self.knots[:, 0]), 1, KNOTS)])
        return np.add.reduceat(terms, begin[:-1], axis=1)


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
    centre = np.zeros(len(X))
    for j, column in enumerate(X):
        known = column[~np.isnan(column) & (data.weights > 0)].astype(np.float64)
        if not len(known):
            continue
        centre[j] = known.mean()
        values = np.unique(known)
        if splines and len(values) >= FEWEST_VALUES:
            knots[j] = np.quantile(values, np.linspace(0, 1, KNOTS))
    found = ridge_regression(_terms(X, knots, centre), data.y, data.weights)
    return AdditiveBase(knots, centre, found.coef, found.intercept), found.left_out


def _terms(
    X: Matrix, knots: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the columns (n, m) that the coefficients multiply."""
    terms = []
    for column, at, middle in zip(indicated(X), knots, centre, strict=True):
        x = np.clip(np.where(np.isnan(column), middle, column).astype(np.float64), 0.0, 1.0)
        if np.isnan(at[0]):
            terms.append(x[:, None])
        else:
            # the spline through 1 at one knot and 0 at the others, for each knot
            spline = scipy.interpolate.CubicSpline(at, np.eye(KNOTS), bc_type="natural")
            terms.append(spline(np.clip(x, at[0], at[-1])))
    return np.hstack(terms)
