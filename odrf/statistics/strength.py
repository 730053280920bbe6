"""Strength of a forest's trees and correlation between them, out of bag (Breiman 2001).

Classes (Definitions 3 and 4, Appendix II): the margin of a row is the share of out-of-bag votes for
its class minus the largest other; strength s is its mean; the correlation ρ̄ is its variance, by
products of two different trees, over the squared mean of the trees' standard deviations. The error
is at most ρ̄(1 - s²)/s². Numbers (section 11): the mean error of a tree, and the correlation ρ̄ of
the residuals of two; very many trees have at most ρ̄ times the error of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import one_thread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

STEPS = 15


class Strength(NamedTuple):
    """Strength and correlation of the first `trees`; NaN if no row is out of bag for any."""

    trees: int
    strength: float
    correlation: float
    bound: float
    error: float


def sizes_to_try(n_trees: int) -> list[int]:
    """Return numbers of trees from 2 to all, in about equal ratios."""
    return np.unique(np.geomspace(2, n_trees, STEPS).round().astype(int)).tolist()


def of_classes(
    predicted: Integers,
    out_of_bag: Mask,
    y: Integers,
    weights: Floats,
    n_classes: int,
    sizes: Sequence[int],
) -> list[Strength]:
    """Return strength and correlation of the first trees, for each of the `sizes`, rising."""
    n, strengths, done = len(y), [], 0
    votes, rows = np.zeros((n, n_classes)), np.arange(n)
    for size in sizes:
        for b in range(done, size):
            votes[rows[out_of_bag[:, b]], predicted[out_of_bag[:, b], b]] += 1
        done = size
        if not out_of_bag[:, :size].any():
            strengths.append(_unknown(size))
            continue
        number = votes.sum(axis=1)
        known = number > 0
        share = votes[known] / number[known, None]
        true, mass, position = y[known], weights[known], np.arange(int(known.sum()))
        others = share.copy()
        others[position, true] = -1.0
        rival = np.full(n, -1)
        rival[known] = others.argmax(axis=1)
        margin = share[position, true] - others.max(axis=1)
        deviations = [
            _margin_deviation(predicted[:, b], out_of_bag[:, b], y, weights, rival)
            for b in range(size)
        ]
        strength = float(np.average(margin, weights=mass))
        matters = share[position, true] + others.max(axis=1)
        covariance = _mean_covariance(margin, matters, number[known], mass)
        correlation = _ratio(covariance, deviations)
        bound = _bound(correlation, (1 - strength**2) / strength**2) if strength > 0 else np.inf
        error = float(np.average(share.argmax(axis=1) != true, weights=mass))
        strengths.append(Strength(size, strength, correlation, bound, error))
    return strengths


def _ratio(product: float, deviations: Any) -> float:
    """Return the correlation of trees; NaN of trees that never err, which do not vary."""
    variance = np.nanmean(deviations) ** 2
    return float(np.clip(product / variance, -1.0, 1.0)) if variance > 0 else np.nan


def _bound(correlation: float, factor: float) -> float:
    return correlation * factor if correlation >= 0 else np.nan


def _unknown(size: int) -> Strength:
    """Return the strength of trees that all drew all rows."""
    return Strength(size, np.nan, np.nan, np.nan, np.nan)


def _margin_deviation(
    predicted: Integers, out_of_bag: Mask, y: Integers, weights: Floats, rival: Integers
) -> float:
    """Return the deviation of a tree's margin: 1 for the class, -1 for the rival, else 0."""
    if not out_of_bag.any():
        return np.nan
    mass = weights[out_of_bag]
    right = np.average(predicted[out_of_bag] == y[out_of_bag], weights=mass)
    wrong = np.average(predicted[out_of_bag] == rival[out_of_bag], weights=mass)
    return float(np.sqrt(right + wrong - (right - wrong) ** 2))


def _mean_covariance(margin: Floats, matters: Floats, number: Floats, weights: Floats) -> float:
    """Return the mean covariance of the raw margins of two trees; NaN if no row has two."""
    pairs = number > 1
    if not pairs.any():
        return np.nan
    k, mean, mass = number[pairs], margin[pairs], weights[pairs]
    # without the products of a tree with itself
    products = (k * mean**2 - matters[pairs]) / (k - 1)
    return float(np.average(products, weights=mass) - np.average(mean, weights=mass) ** 2)


@one_thread()
def of_numbers(
    residual: Floats, out_of_bag: Mask, weights: Floats, sizes: Sequence[int]
) -> list[Strength]:
    """Return tree error and correlation of the first trees, for each of the `sizes`, rising."""
    counted, there = np.where(out_of_bag, residual, 0.0), out_of_bag.astype(np.float64)
    totals, numbers = np.cumsum(counted, axis=1), np.cumsum(out_of_bag, axis=1)
    mass = weights[:, None]
    with np.errstate(invalid="ignore"):
        # of each tree (on the diagonal) and each pair of trees: NaN if no row is out of bag
        products = (mass * counted).T @ counted / ((mass * there).T @ there)
    squares = np.diag(products)
    strengths = []
    for size in sizes:
        if not out_of_bag[:, :size].any():
            strengths.append(_unknown(size))
            continue
        pairs = products[:size, :size][~np.eye(size, dtype=bool)]
        product = float(np.nanmean(pairs)) if not np.isnan(pairs).all() else np.nan
        tree = float(np.nanmean(squares[:size]))
        correlation = _ratio(product, np.sqrt(squares[:size]))
        total, number = totals[:, size - 1], numbers[:, size - 1]
        known = number > 0
        error = np.average((total[known] / number[known]) ** 2, weights=weights[known])
        strengths.append(Strength(size, tree, correlation, _bound(correlation, tree), float(error)))
    return strengths
