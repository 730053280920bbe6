"""Ridge and kernel ridge regression, whose penalty is chosen by leaving out one row at a time.

The prediction is an intercept and Σ_j coef_j·k(|x - x_j|) over training rows: the mean of a
Gaussian process with covariance k (Rasmussen and Williams 2006, sections 2.2 and 2.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.importance import effective_number, largest

Floats = NDArray[np.float64]

KERNELS: dict[str, Callable[[Floats], Floats]] = {
    "gauss": lambda distance: np.exp(-0.5 * distance**2),
    "laplace": lambda distance: np.exp(-distance),
}
"""Kernels as functions of the distance in units of the width."""
# What is tried: widths in median distances of rows, penalties in variances of a response.
WIDTHS = {"gauss": (0.25, 0.5, 1.0, 2.0), "laplace": (0.5, 1.0, 2.0, 4.0)}
PENALTIES = np.geomspace(1e-4, 1e2, 19)
# Rows on which the choices are made: they take a time in the third power of the number of rows.
ROWS_TO_CHOOSE = 500
# Keeps equal rows of large weights from having equal equations.
LEAST_NOISE = 1e-7
# Rows of a block of distances.
BLOCK = 1024


class Choice(NamedTuple):
    """A kernel, its `width` in usual distances, and the `penalty`: the variance of a row."""

    kernel: str
    width: float
    penalty: float


class KernelRidge(NamedTuple):
    """A kernel ridge regression of K responses, with `coef` (n, K) and `intercept` (K,)."""

    kernel: str
    width: float
    penalty: float
    coef: Floats
    intercept: Floats


def kernel_ridge(points: Floats, Y: Floats, weights: Floats) -> tuple[KernelRidge, Floats]:
    """Return the regression with the smallest error of rows left out, and their predictions (n, K).

    Kernel, width and penalty are chosen on the first `ROWS_TO_CHOOSE` rows, which should be in no
    order. The residual of a row left out is its element of Q·y over its diagonal element of Q, the
    matrix from responses to coefficients (Rasmussen and Williams 2006, equation 5.12). `points` (n,
    p).
    """
    with one_thread():
        few = slice(0, ROWS_TO_CHOOSE)
        choices = losses_of_choices(points[few], Y[few], weights[few])
        _, choice = min((float(weights[few] @ losses), choice) for choice, losses in choices)
        return _with_rows_left_out(points, Y, weights, choice)


def usual_distance(points: Floats) -> float:
    """Return the median distance of unequal rows among the first `ROWS_TO_CHOOSE`, or 1."""
    between = scipy.spatial.distance.pdist(points[:ROWS_TO_CHOOSE])
    return float(np.median(between[between > 0])) if (between > 0).any() else 1.0


def losses_of_choices(
    points: Floats, Y: Floats, weights: Floats
) -> Iterator[tuple[Choice, Floats]]:
    """Yield every choice, and the squared error (n,) of each row, left out of its regression."""
    distance = scipy.spatial.distance.cdist(points, points)
    unit = usual_distance(points)
    root = np.sqrt(weights / weights.mean())
    for kernel, widths in WIDTHS.items():
        for width in widths:
            K = KERNELS[kernel](distance / (width * unit))
            values, vectors = scipy.linalg.eigh(root[:, None] * K * root, driver="evd")
            scaled = root[:, None] * vectors
            along, ones = scaled.T @ Y, scaled.sum(axis=0)
            inverse = 1 / (np.maximum(values, 0.0)[:, None] + PENALTIES + LEAST_NOISE)
            of_one = scaled @ (ones[:, None] * inverse)
            total_of_one = of_one.sum(axis=0)
            diagonal = scaled**2 @ inverse - of_one**2 / total_of_one
            losses = np.zeros_like(diagonal)
            for of_response in along.T:
                solved = scaled @ (of_response[:, None] * inverse)
                coef = solved - of_one * (solved.sum(axis=0) / total_of_one)
                losses += (coef / diagonal) ** 2
            for penalty, of_penalty in zip(PENALTIES, losses.T, strict=True):
                yield Choice(kernel, width, float(penalty)), of_penalty


def regression(points: Floats, Y: Floats, weights: Floats, choice: Choice) -> KernelRidge:
    """Return the regression of that choice."""
    width, K = _width_and_noisy_kernel(points, weights, choice)
    factor = scipy.linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    with_ones = np.column_stack([np.ones(len(Y)), Y])
    solved = scipy.linalg.cho_solve(factor, with_ones, check_finite=False)
    of_one, of_response = solved[:, :1], solved[:, 1:]
    intercept = of_response.sum(axis=0) / of_one.sum()
    return KernelRidge(
        choice.kernel, width, choice.penalty, of_response - of_one * intercept, intercept
    )


def _with_rows_left_out(
    points: Floats, Y: Floats, weights: Floats, choice: Choice
) -> tuple[KernelRidge, Floats]:
    """Return the regression of that choice, and the predictions of rows that are left out."""
    width, K = _width_and_noisy_kernel(points, weights, choice)
    factor = scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    lower, _ = scipy.linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    inverse_times = partial(scipy.linalg.blas.dsymm, 1.0, lower, lower=True)
    of_one = inverse_times(np.ones((len(Y), 1)))[:, 0]
    intercept = of_one @ Y / of_one.sum()
    coef = inverse_times(Y - intercept)
    diagonal = np.diagonal(lower) - of_one**2 / of_one.sum()
    ridge = KernelRidge(choice.kernel, width, choice.penalty, coef, intercept)
    return ridge, Y - coef / diagonal[:, None]


def _width_and_noisy_kernel(
    points: Floats, weights: Floats, choice: Choice
) -> tuple[float, Floats]:
    """Return the width as a distance, and the covariances of the responses of rows (n, n)."""
    width = choice.width * usual_distance(points)
    K = KERNELS[choice.kernel](scipy.spatial.distance.cdist(points, points) / width)
    K[np.diag_indices_from(K)] += choice.penalty * weights.mean() / weights + LEAST_NOISE
    return width, K


def kernel_values(ridge: KernelRidge, points: Floats, new: Floats) -> Floats:
    """Return the predictions (m, K) of new rows (m, p); `points` (n, p) were fitted on."""
    out = np.empty((len(new), len(ridge.intercept)))
    for begin in range(0, len(new), BLOCK):
        rows = slice(begin, begin + BLOCK)
        distance = scipy.spatial.distance.cdist(new[rows], points)
        K = KERNELS[ridge.kernel](distance / ridge.width)
        for k, coef in enumerate(ridge.coef.T):
            # not by BLAS, which would round a row alone in another way than the row among others
            out[rows, k] = ridge.intercept[k] + (K * coef).sum(axis=1)
    return out


# Kernel ridge regression along the directions in which the response changes.
# A distance that counts all predictors alike is blind to what matters.  Importances of predictors
# tell it, as lengths of the axes.  So do the gradients of a first regression: in their mean outer
# product M a direction counts as much as the response changes along it (Samarov 1993; Trivedi et
# al. 2014).  The next regression has the distances (x - z)ᵀMᵛ(x - z), and so on (Radhakrishnan et
# al. 2024).  These directions are oblique: combinations of predictors, as the splits of this
# package.

_Rows: TypeAlias = tuple[Floats, Floats, Floats]


# Powers of importances, as lengths of axes, and of the mean product of gradients in the first and
# in the second of its rounds.  The second begins where the power `BETWEEN` has led.
OF_IMPORTANCE = (0.5, 1.0)
OF_PRODUCTS, BETWEEN = (0.5, 1.0), 1.0
# With more columns directions of gradients would fit noise; instead, few axes are tried.
MOST_COLUMNS = 150
# Rows on which directions are estimated, and on which the other choices are made.
ROWS_OF_DIRECTIONS, ROWS_TO_CHOOSE_DIRECTIONS = 1000, 200
# A direction of a smaller share in the largest one is left out.
LEAST_SHARE = 1e-10


class ObliqueKernelRidge(NamedTuple):
    """A regression on `directions` (p, r); `left_out` (n, K) are those without their fold."""

    directions: Floats
    ridge: KernelRidge
    left_out: Floats


def oblique_kernel_ridge(
    points: Floats,
    Y: Floats,
    weights: Floats,
    first: Choice,
    fold: NDArray[np.int64],
    importance: Sequence[Floats],
) -> ObliqueKernelRidge:
    """Return the regression on directions that predicts left out folds best.

    All choices are made without each fold, as directions fit the rows they were estimated on.
    `points` (n, p) are in no order; `first` are the options of the regressions whose gradients give
    directions; `fold` (n,) from 0; `importance`, F + 1 arrays (p,), without each fold and on all
    rows (Radhakrishnan and others 2024, Science 383, 1461-1467; Samarov 1993, JASA 88, 836-847;
    Trivedi and others 2014, UAI 30, 819-828).
    """
    with one_thread():
        rows = points, Y, weights
        folds = range(len(importance) - 1)
        candidates = [
            list(_directions(*_taken(rows, fold != f), first, importance[f])) for f in folds
        ]
        tried, choice = _best(rows, fold, candidates)
        left_out = np.empty(Y.shape)
        for f in folds:
            (x, y, w), held = _taken(rows, fold != f), fold == f
            T = candidates[f][tried]
            z = along(x, T)
            ridge = regression(z, y, w, choice)
            left_out[held] = kernel_values(ridge, z, along(points[held], T))
        T = list(_directions(*rows, first, importance[-1]))[tried]
        return ObliqueKernelRidge(T, regression(along(points, T), Y, weights, choice), left_out)


def along(points: Floats, directions: Floats) -> Floats:
    """Return the products (n, r) of rows and directions, added one by one.

    BLAS would round those of a row alone in another way than those of the row among others.
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


def _best(
    rows: _Rows, fold: NDArray[np.int64], candidates: list[list[Floats]]
) -> tuple[int, Choice]:
    """Return which of the directions, and of the choices, have the smallest error of held rows."""
    points, Y, weights = (array[:ROWS_TO_CHOOSE_DIRECTIONS] for array in rows)
    fold = fold[:ROWS_TO_CHOOSE_DIRECTIONS]
    total: dict[tuple[int, Choice], float] = {}
    for f in range(len(candidates)):
        held = np.where(fold == f, weights, 0.0)
        for tried, T in enumerate(candidates[f]):
            for choice, losses in losses_of_choices(along(points, T), Y, weights):
                total[tried, choice] = total.get((tried, choice), 0.0) + float(held @ losses)
    return min(total, key=lambda key: (total[key], key))


def _directions(
    points: Floats, Y: Floats, weights: Floats, first: Choice, importance: Floats
) -> Iterator[Floats]:
    """Yield the directions (p, r) of each method: axes, then rounds of gradients."""
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


def _axes(lengths: Floats) -> Floats:
    """Return axes of these lengths (p, r), of mean square 1, without those of no length."""
    if not (lengths > 0).any():
        return np.eye(len(lengths))
    return np.diag(lengths / np.sqrt((lengths**2).mean()))[:, lengths > 0]


def _gradient_products(points: Floats, ridge: KernelRidge, weights: Floats) -> Floats:
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


def _root(M: Floats, power: float) -> Floats:
    """Return T (p, r) such that T·Tᵀ is proportional to Mᵛ and has trace p, for the power v."""
    values, vectors = np.linalg.eigh(M)
    if not values[-1] > 0:
        return np.eye(len(M))
    share = values / values[-1]
    kept = share > LEAST_SHARE
    length = share[kept] ** (power / 2)
    return np.asarray(vectors[:, kept] * length * np.sqrt(len(M) / (length**2).sum()))


# Penalties that are tried, for columns of variance 1 and one row.
RIDGE_PENALTIES = np.geomspace(1e-4, 1e4, 25) / 10
TINY = 1e-12


class RidgeRegression(NamedTuple):
    """A ridge regression on m columns; `left_out` (n,) are by the regressions on the other rows."""

    coef: Floats
    intercept: float
    left_out: Floats


def ridge_regression(
    Z: Floats, y: Floats, weights: Floats, penalties: Floats = RIDGE_PENALTIES
) -> RidgeRegression:
    """Minimise the weighted squares of y - intercept - Z·coef plus a penalty on coef².

    The penalty, times n, is the one with the smallest error of rows left out: the residual over 1
    less the leverage (Golub, Heath and Wahba 1979). Columns of Z (n, m) are in units of their
    deviations.
    """
    with one_thread():
        return _solved(Z, y, weights, penalties * len(Z))


def _solved(Z: Floats, y: Floats, weights: Floats, penalties: Floats) -> RidgeRegression:
    share = weights / weights.sum()
    centre, mean = share @ Z, float(share @ y)
    unit = np.sqrt(share @ (Z - centre) ** 2)
    unit[unit < TINY] = np.inf
    root = np.sqrt(share * len(Z))
    A, b = (Z - centre) / unit * root[:, None], (y - mean) * root
    U, squares, V = _decomposed(A)
    along = U.T @ b
    # What the columns cannot fit, and how much of a row that is: 0 if there are enough columns.
    beyond = b - U @ along
    free = np.maximum(1 - np.sum(U**2, axis=1) - share, 0.0)

    def left(penalty: float) -> Floats:
        """Return the residuals (n,) of the rows that are left out, times `root`."""
        shrunk = penalty / (squares + penalty)
        return np.asarray((beyond + U @ (shrunk * along)) / np.maximum(free + U**2 @ shrunk, TINY))

    penalty = min(penalties, key=lambda one: float(np.sum(left(one) ** 2)))
    coef = V @ (np.sqrt(squares) / (squares + penalty) * along) / unit
    intercept = mean - float(centre @ coef)
    used = root > 0
    left_out = intercept + Z @ coef
    left_out[used] = y[used] - left(penalty)[used] / root[used]
    return RidgeRegression(coef, intercept, left_out)


def _decomposed(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U (n, r), squares (r,) of singular values and V (m, r), by the smaller A·Aᵀ."""
    n, m = A.shape
    squares, vectors = np.linalg.eigh(A.T @ A if m <= n else A @ A.T)
    used = squares > max(squares.max(initial=0.0), TINY) * TINY
    squares, vectors = squares[used], vectors[:, used]
    other = (A if m <= n else A.T) @ vectors / np.sqrt(squares)
    return (other, squares, vectors) if m <= n else (vectors, squares, other)
