"""Prediction intervals from out-of-bag residuals (jackknife+ after bootstrap); quantiles.

The residual of a training row is added to the prediction for the new row by the same trees, which
did not sample it (Kim, Xu and Barber 2020): both are exchangeable, so that coverage is at least 1 -
2α for any distribution and trees, usually about 1 - α. If trees draw whole groups, each counts
once, and the new row is one of a new group (Lee, Barber and Willett 2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, with_rows
from odrf.engine.resamples import Draws
from odrf.engine.running import in_blocks, one_thread, row_blocks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.quantiles import forest_quantiles, leaf_members
from odrf.engine.trees.routing import leaves_of
from odrf.statistics.discrimination import placements

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Largest number of training rows that calibrate; more would change the intervals little.
CALIBRATING = 10_000

# Size of a block of new rows: it holds one number per new row and calibrating row.
ROOM = 2**21

SLACK = 1e-10


def calibrating(out_of_bag: Mask, weights: Floats) -> Integers:
    """Return the training rows of positive weight that some tree, in `out_of_bag` (B, n), missed.

    Of more than 10 000 evenly spaced ones: the residuals of any subset are exchangeable with a new
    one.
    """
    rows = np.flatnonzero(out_of_bag.any(axis=0) & (weights > 0))
    positions = np.linspace(0, len(rows) - 1, min(len(rows), CALIBRATING))
    return rows[positions.astype(np.int64)]


def fewest_rows(level: float) -> int:
    """Return the least number of rows, or groups, for which intervals of this level are finite."""
    return math.ceil(level / (1 - level) * (1 - SLACK))


def residual_quantile(size: Floats, weights: Floats, level: float) -> float:
    """Return the size of residuals that a new one exceeds with probability 1 - `level` at most.

    The new row counts as one more of mean weight, and may have the largest residual; infinite if
    there are too few. `size` (n,) are NaN where there is no residual.
    """
    known = ~np.isnan(size) & (weights > 0)
    order = np.argsort(size[known], kind="stable")
    sizes, added = size[known][order], np.cumsum(weights[known][order])
    if not len(sizes):
        return math.inf
    needed = level * (added[-1] + added[-1] / len(sizes)) * (1 - SLACK)
    place = int(np.searchsorted(added, needed))
    return float(sizes[place]) if place < len(sizes) else math.inf


def shared_in_groups(weights: Floats, groups: Integers) -> Floats:
    """Return weights (k,) of rows, divided by how many of the rows their group has."""
    return weights / np.bincount(groups)[groups]


def upper_bounds(
    values: Floats, weights: Floats, level: float, groups: Integers | None = None
) -> Floats:
    """Return the weighted quantile at `level` of each row of `values` (k, m), with one value added.

    The added value, of a new row or with `groups` (m,) of a new group, has the mean weight and
    exceeds all others: of equal weights it is the ⌈(m + 1)·level⌉-th smallest; infinite if m is too
    small. `weights` are (m,) or (k, m); values of weight 0 are ignored.
    """
    weights = np.atleast_2d(weights)
    known, rows = weights > 0, np.arange(len(values))
    count = known.sum(axis=1) if groups is None else _groups_known(known, groups)
    beyond = level * (count + 1) * (1 - SLACK) > count
    equal = groups is None and np.array_equal(known, weights == weights.max())
    if equal:  # no need to sort
        rank = np.ceil(level * (count + 1) * (1 - SLACK)).astype(np.int64) - 1
        rank = np.where(beyond, 0, rank)
        there = values if known.all() else np.where(known, values, np.inf)
        ranked = np.partition(there, np.unique(rank), axis=1)
        return np.where(beyond, np.inf, ranked[rows, rank])
    total = weights.sum(axis=1)
    order = np.argsort(values, axis=1)
    of_rows = np.broadcast_to(weights, values.shape)
    reached = np.cumsum(np.take_along_axis(of_rows, order, axis=1), axis=1)
    wanted = level * total * (1 + 1 / np.maximum(count, 1)) * (1 - SLACK)
    first = np.argmax(reached >= np.minimum(wanted, reached[:, -1])[:, None], axis=1)
    return np.where(beyond, np.inf, values[rows, order[rows, first]])


def _groups_known(known: Mask, groups: Integers) -> Integers:
    """Return how many groups have a value that is known, for each row of `known` (k, m)."""
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return np.logical_or.reduceat(known[:, order], first, axis=1).sum(axis=1)


@one_thread()
def jackknife_plus(
    forest: Forest,
    new: Matrix,
    out_of_bag: Mask,
    residuals: Floats,
    weights: Floats,
    level: float,
    n_jobs: int,
    advance: Callable[[int], object] = lambda n: None,
    groups: Integers | None = None,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends (m,) of intervals for the responses of the rows `new` (p, m).

    With μ_i(x), the mean of the trees that did not sample row i of k, and R_i = |y_i - μ_i(x_i)|,
    they are the ⌊(k + 1)(1 - level)⌋-th smallest of μ_i(x) - R_i and the ⌈(k + 1)·level⌉-th
    smallest of μ_i(x) + R_i, or weighted quantiles (Barber, Candès, Ramdas and Tibshirani 2021,
    Annals of Statistics 49, 486-507; weights: Tibshirani and others 2019). `out_of_bag` (B, k); the
    others are (k,).
    """
    share = out_of_bag / out_of_bag.sum(axis=0)
    if groups is not None:
        weights = shared_in_groups(weights, groups)
    lower, upper = np.empty(new.shape[1]), np.empty(new.shape[1])

    def run(block: slice) -> None:
        mean = forest.value[leaves_of(forest.packed_for(new), new, block), 0].T @ share
        upper[block] = upper_bounds(mean + residuals, weights, level, groups)
        lower[block] = -upper_bounds(residuals - mean, weights, level, groups)

    blocks = row_blocks(new.shape[1], max(1, ROOM // len(residuals)))
    for _ in in_blocks(run, blocks, n_jobs, advance):
        pass
    return lower, upper


@one_thread()
def leave_one_out(
    forest: Forest,
    X: Matrix,
    y: Floats,
    weights: Floats,
    out_of_bag: Mask,
    calibrating_rows: Integers,
    level: float,
    n_jobs: int,
    advance: Callable[[int], object] = lambda n: None,
    groups: Integers | None = None,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends (n,) of intervals for the responses of training rows X (p, n).

    Row i is new to the trees that did not sample it: its interval is that of `jackknife_plus` by
    these, of rows j of other groups that they missed, too. NaN for a row that every tree sampled.
    """
    own_group = np.arange(len(y)) if groups is None else groups
    shared = weights[calibrating_rows]
    if groups is not None:
        shared = shared_in_groups(shared, groups[calibrating_rows])
    packed, j = forest.packed_for(X), calibrating_rows
    other = out_of_bag[:, j].astype(np.float64)
    by_other = other * forest.value[leaves_of(packed, with_rows(X, j), slice(0, len(j))), 0]
    lower, upper = np.empty(len(y)), np.empty(len(y))

    def run(block: slice) -> None:
        own = out_of_bag[:, block].astype(np.float64)
        by_own = own * forest.value[leaves_of(packed, X, block), 0]
        trees = own.T @ other
        known = (trees > 0) & (own_group[j] != own_group[block][:, None])
        counted = np.maximum(trees, 1.0)
        mean, residual = by_own.T @ other / counted, np.abs(y[j] - own.T @ by_other / counted)
        calibrated = np.where(known, shared, 0.0)
        of_groups = None if groups is None else groups[j]
        upper[block] = upper_bounds(mean + residual, calibrated, level, of_groups)
        lower[block] = -upper_bounds(residual - mean, calibrated, level, of_groups)
        nowhere = ~out_of_bag[:, block].any(axis=0)
        lower[block][nowhere] = upper[block][nowhere] = np.nan

    for _ in in_blocks(run, row_blocks(len(y), max(1, ROOM // len(j))), n_jobs, advance):
        pass
    return lower, upper


# Quantile regression forests: the distribution of a response, not only its mean.
def conditional_quantiles(
    forest: Forest,
    new: Matrix,
    levels: Floats,
    X: Matrix,
    y: Floats,
    draws: Draws,
    predicting: Mask | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> Floats:
    """Return quantiles (m, q) of the response, given the predictors `new` (p, m).

    The smallest y with Σ w_i(x)·1{y_i ≤ y} ≥ q, for the weights w_i(x) with which the prediction is
    Σ w_i(x)·y_i (Meinshausen 2006, JMLR 7, 983-999, with the rows drawn). As responses that chose
    the splits are used again, outer quantiles can be too close together. `predicting` (B, m): the
    trees.
    """
    members = leaf_members(forest, X, draws)
    order = np.argsort(levels, kind="stable")
    out = np.empty((new.shape[1], len(levels)))
    out[:, order] = forest_quantiles(
        members, forest, y, new, levels[order], draws.n_jobs, predicting, advance
    )
    return out


# Quantiles of a new residual, and the share of residuals below one.
def residual_quantiles(residual: Floats, weights: Floats, levels: Floats) -> Floats:
    """Return the quantiles (q,) of a new residual that is exchangeable with known ones (n,).

    It is below the k-th smallest of n with probability k / (n + 1); quantiles are linear between,
    and infinite beyond.
    """
    known = ~np.isnan(residual) & (weights > 0)
    if not known.any():
        return np.where(levels < 0.5, -np.inf, np.inf)
    order = np.argsort(residual[known], kind="stable")
    added = np.cumsum(weights[known][order])
    reached = added / (added[-1] * (1 + 1 / len(added)))
    quantiles = np.interp(levels, reached, residual[known][order])
    quantiles[levels < reached[0] * (1 - SLACK)] = -np.inf
    quantiles[levels > reached[-1] * (1 + SLACK)] = np.inf
    return quantiles


def shares_below(residual: Floats, weights: Floats, observed: Floats) -> Floats:
    """Return the share (m,) of known residuals below each observed one, equal ones half."""
    known = ~np.isnan(residual) & (weights > 0)
    share = placements(observed, residual[known], weights[known]) if known.any() else np.nan
    return np.where(np.isnan(observed), np.nan, share)
