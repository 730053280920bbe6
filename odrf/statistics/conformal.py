"""Prediction intervals from out-of-bag residuals: the jackknife+ after bootstrap.

Out-of-bag residuals around the forest's own prediction (Johansson et al. 2014) would do in
practice, yet nothing is proved of them: a residual is left by the few trees that did not draw its
row, the new response by all of them.  The jackknife+ after bootstrap (Kim, Xu and Barber 2020)
puts each residual around what these same few trees say of the new row.  Then the two are
exchangeable: whatever the distribution and the trees, a share of 1 - 2α is covered at the least,
1 - α as a rule.  That also holds for a blend, whose kinds leave out different shares of the rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order, row_blocks
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaves_of

__all__ = ["calibrating", "fewest_rows", "jackknife_plus", "upper_bounds"]

# Training rows whose residuals calibrate: more would say little more.
CALIBRATING = 10_000

# Numbers that the new rows of a block may have: one for each of those.
ROOM = 2**21

SLACK = 1e-10


def calibrating(unseen: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return training rows that calibrate: of positive weight, and out of bag for some tree.

    unseen (B, n) says which tree did not draw which row.  Of very many rows some are taken,
    evenly: residuals of any part are exchangeable with that of a new row.
    """
    rows = np.flatnonzero(unseen.any(axis=0) & (weights > 0))
    some = np.linspace(0, len(rows) - 1, min(len(rows), CALIBRATING))
    return rows[some.astype(np.int64)]


def fewest_rows(level: float) -> int:
    """Return how many residuals it takes for intervals of this level to be finite."""
    return math.ceil(level / (1 - level) * (1 - SLACK))


def upper_bounds(
    values: NDArray[np.float64], weights: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return the least value of each row (k, m) with a part `level` of the weight up to it.

    The new row weighs as much as the others do on average and counts as above them all: among m
    values of the same weight it is the ⌈(m + 1)·level⌉-th smallest; infinite if there are too few.
    """
    m = values.shape[1]
    wanted = level * (m + 1) * (1 - SLACK)
    if wanted > m:
        return np.full(len(values), np.inf)
    if (weights == weights[0]).all():
        k = math.ceil(wanted) - 1
        return np.partition(values, k, axis=1)[:, k]
    order = np.argsort(values, axis=1)
    reached = np.cumsum(weights[order], axis=1) / weights.mean()
    first = np.argmax(reached >= min(wanted, float(reached[:, -1].min())), axis=1)
    return values[np.arange(len(values)), order[np.arange(len(values)), first]]


def jackknife_plus(
    forest: Forest,
    new: NDArray[np.float32],
    unseen: NDArray[np.bool_],
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    level: float,
    n_jobs: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper ends (m,) of intervals for the responses of the rows `new` (p, m).

    With μ_i(x) the mean over the trees that did not draw training row i, and R_i the residual
    |y_i - μ_i(x_i)|, they are the ⌊(k + 1)(1 - level)⌋-th smallest of the k values μ_i(x) - R_i and
    the ⌈(k + 1)·level⌉-th smallest of μ_i(x) + R_i; with case weights, the like by weight.

    Parameters
    ----------
    forest : Forest
        Trees for a numeric response.
    new : (p, m) float32
        Predictors of the rows to predict.
    unseen : (B, k) bool
        Which tree did not draw which of the rows that calibrate; each is unseen by some tree.
    residuals : (k,) float64
        R_i of these rows.
    weights : (k,) float64
        Their case weights, above 0.
    level : float
        Above 0 and below 1.
    n_jobs : int
        Threads.

    References
    ----------
    Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+, Annals
    of Statistics 49, 486-507.

    Johansson, Boström, Löfström and Linusson (2014), Regression conformal prediction with random
    forests, Machine Learning 97, 155-176.

    Kim, Xu and Barber (2020), Predictive inference is free with the jackknife+-after-bootstrap,
    NeurIPS 33.

    Tibshirani, Barber, Candès and Ramdas (2019), Conformal prediction under covariate shift,
    NeurIPS 32.
    """
    part = unseen / unseen.sum(axis=0)
    lower, upper = np.empty(new.shape[1]), np.empty(new.shape[1])

    def run(block: slice) -> None:
        mean = forest.value[leaves_of(forest.packed, new, block), 0].T @ part
        upper[block] = upper_bounds(mean + residuals, weights, level)
        lower[block] = -upper_bounds(residuals - mean, weights, level)

    for _ in in_order(run, row_blocks(new.shape[1], max(1, ROOM // len(residuals))), n_jobs):
        pass
    return lower, upper
