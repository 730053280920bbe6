"""Kernel ridge regression along the directions in which the response changes.

A distance that counts all predictors alike is blind to what matters.  Importances of predictors
tell it, as lengths of the axes.  So do the gradients of a first regression: in their mean outer
product M a direction counts as much as the response changes along it (Samarov 1993; Trivedi et al.
2014).  The next regression has the distances (x - z)ᵀMᵛ(x - z), and so on (Radhakrishnan et al.
2024).  These directions are oblique: combinations of predictors, as the splits of this package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.effective_number import effective_number, largest
from odrf.statistics.ridge.kernel_ridge import (
    KERNELS,
    Choice,
    KernelRidge,
    kernel_values,
    losses_of_choices,
    regression,
)

__all__ = ["ObliqueKernelRidge", "along", "oblique_kernel_ridge"]

Array = NDArray[np.float64]
_Rows: TypeAlias = tuple[Array, Array, Array]


# Powers of importances, as lengths of axes, and of the mean product of gradients in the first and
# in the second of its rounds.  The second begins where the power `BETWEEN` has led.
OF_IMPORTANCE = (0.5, 1.0)
OF_PRODUCTS, BETWEEN = (0.5, 1.0), 1.0
# With more columns directions of gradients would fit noise; instead, few axes are tried.
MOST_COLUMNS = 150
# Rows on which directions are found, and on which the other choices are made.
ROWS_OF_DIRECTIONS, ROWS_TO_CHOOSE = 1000, 200
# A direction of a smaller share in the largest one is left out.
LEAST_SHARE = 1e-10


class ObliqueKernelRidge(NamedTuple):
    """A kernel ridge regression on directions.

    Attributes
    ----------
    directions : (p, r) float64
        A row counts as its products with the columns of this matrix.
    ridge : KernelRidge
        The regression on these products.
    left_out : (n, K) float64
        Predictions of the rows by regressions, on directions, that were found without their fold.
    """

    directions: Array
    ridge: KernelRidge
    left_out: Array


def oblique_kernel_ridge(
    points: Array,
    Y: Array,
    weights: Array,
    first: Choice,
    fold: NDArray[np.int64],
    importance: Sequence[Array],
) -> ObliqueKernelRidge:
    """Return the regression on directions that predicts left out folds best.

    Directions fit the rows that they were found on.  So everything is done without each fold of
    rows, which then judges: the way to the directions, kernel, width and penalty.

    Parameters
    ----------
    points : (n, p) float64
        Predictors in comparable units, of at least ten rows in no order.
    Y : (n, K) float64
        Responses.
    weights : (n,) float64
        Case weights, above 0.
    first : Choice
        Of the regressions whose gradients tell the directions.
    fold : (n,) int64
        The fold of each row, from 0 to F - 1.
    importance : sequence of F + 1 arrays (p,)
        The importance of each column, at least 0, as found without each fold, and on all rows.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin (2024). Mechanism for feature learning
    in neural networks and backpropagation-free machine learning models. Science 383, 1461-1467.

    A. M. Samarov (1993). Exploring regression structure using nonparametric functional estimation.
    Journal of the American Statistical Association 88, 836-847.

    S. Trivedi, J. Wang, S. Kpotufe and G. Shakhnarovich (2014). A consistent estimator of the
    expected gradient outerproduct. Uncertainty in Artificial Intelligence 30, 819-828.
    """
    with one_thread():
        rows = points, Y, weights
        folds = range(len(importance) - 1)
        found = [list(_directions(*_taken(rows, fold != f), first, importance[f])) for f in folds]
        tried, choice = _best(rows, fold, found)
        left_out = np.empty(Y.shape)
        for f in folds:
            (x, y, w), held = _taken(rows, fold != f), fold == f
            T = found[f][tried]
            z = along(x, T)
            ridge = regression(z, y, w, choice)
            left_out[held] = kernel_values(ridge, z, along(points[held], T))
        T = list(_directions(*rows, first, importance[-1]))[tried]
        return ObliqueKernelRidge(T, regression(along(points, T), Y, weights, choice), left_out)


def along(points: Array, directions: Array) -> Array:
    """Return the products (n, r) of rows and directions.

    They are added one by one: BLAS would round those of a row alone in another way than those of
    the row among others.
    """
    total = np.zeros((len(points), directions.shape[1]))
    for column, row in zip(points.T, directions, strict=True):
        if (row != 0).all():
            total += column[:, None] * row
        else:  # an axis, or few of them
            at = np.flatnonzero(row)
            total[:, at] += column[:, None] * row[at]
    return total


def _taken(rows: _Rows, which: NDArray[np.bool_]) -> _Rows:
    points, Y, weights = rows
    return points[which], Y[which], weights[which]


def _best(rows: _Rows, fold: NDArray[np.int64], found: list[list[Array]]) -> tuple[int, Choice]:
    """Return which of the directions, and of the choices, have the smallest error of held rows."""
    points, Y, weights = (array[:ROWS_TO_CHOOSE] for array in rows)
    fold = fold[:ROWS_TO_CHOOSE]
    total: dict[tuple[int, Choice], float] = {}
    for f in range(len(found)):
        held = np.where(fold == f, weights, 0.0)
        for tried, T in enumerate(found[f]):
            for choice, losses in losses_of_choices(along(points, T), Y, weights):
                total[tried, choice] = total.get((tried, choice), 0.0) + float(held @ losses)
    return min(total, key=lambda key: (total[key], key))


def _directions(
    points: Array, Y: Array, weights: Array, first: Choice, importance: Array
) -> Iterator[Array]:
    """Yield the directions (p, r) found in each way: axes, then rounds of gradients."""
    points, Y, weights = (array[:ROWS_OF_DIRECTIONS] for array in (points, Y, weights))
    for power in OF_IMPORTANCE:
        yield _axes(importance**power)
    if points.shape[1] > MOST_COLUMNS:
        few, at = np.zeros(len(importance)), largest(importance, effective_number(importance, 2))
        few[at] = importance[at]
        yield _axes(few ** OF_IMPORTANCE[0])
        return
    T = np.eye(points.shape[1])
    for power in OF_PRODUCTS:
        z = along(points, T)
        M = T @ _gradient_products(z, regression(z, Y, weights, first), weights) @ T.T
        yield _root(M, power)
        T = _root(M, BETWEEN)


def _axes(lengths: Array) -> Array:
    """Return axes of these lengths (p, r), of mean square 1, without those of no length."""
    if not (lengths > 0).any():
        return np.eye(len(lengths))
    return np.diag(lengths / np.sqrt((lengths**2).mean()))[:, lengths > 0]


def _gradient_products(points: Array, ridge: KernelRidge, weights: Array) -> Array:
    """Return the weighted mean (r, r) of outer products of gradients, summed over responses."""
    distance = scipy.spatial.distance.cdist(points, points) / ridge.width
    # the derivative of the kernel by the distance, divided by the distance
    slope = -KERNELS[ridge.kernel](distance)
    if ridge.kernel == "laplace":
        slope /= np.where(distance > 0, distance, np.inf)
    total = np.zeros((points.shape[1],) * 2)
    for coef in ridge.coef.T:
        pull = slope * coef
        gradient = pull.sum(axis=1)[:, None] * points - pull @ points
        total += (weights[:, None] * gradient).T @ gradient
    return total / weights.sum()


def _root(M: Array, power: float) -> Array:
    """Return T (p, r) such that T·Tᵀ is proportional to Mᵛ and has trace p, for the power v."""
    values, vectors = np.linalg.eigh(M)
    if not values[-1] > 0:
        return np.eye(len(M))
    share = values / values[-1]
    kept = share > LEAST_SHARE
    length = share[kept] ** (power / 2)
    return np.asarray(vectors[:, kept] * length * np.sqrt(len(M) / (length**2).sum()))
