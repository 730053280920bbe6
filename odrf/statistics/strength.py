"""Strength of a forest's trees and correlation between them, out of bag (Breiman 2001).

Classes (Definitions 3 and 4, Appendix II): the margin of a row is the share of votes for its class
less the largest share for another; strength s is its mean; the correlation ρ̄ of the trees' raw
margins is the variance of the margin by the squared mean standard deviation of theirs; the error
is at most ρ̄(1 - s²)/s².  Votes are those of the trees that did not draw the row.

Numbers (section 11): the mean error of a tree, and the correlation ρ̄ of two trees' residuals,
weighted by their sizes; a forest of very many trees has no more than ρ̄ times the tree's error.

Means over rows are by case weights: a weight of 2 is the same as the row twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Strength", "of_classes", "of_numbers", "sizes_to_try"]

STEPS = 15


class Strength(NamedTuple):
    """What the first so many trees are worth.

    Attributes
    ----------
    trees : int
    strength : float
        Mean margin; for numbers the mean squared error of a tree.
    correlation : float
        ρ̄.
    bound : float
        Breiman's bound of the error of a forest of very many trees.
    error : float
        Out-of-bag error of these trees together.
    """

    trees: int
    strength: float
    correlation: float
    bound: float
    error: float


def sizes_to_try(n_trees: int) -> list[int]:
    """Return numbers of trees, from 2 to all, each about as many times the one before."""
    return np.unique(np.geomspace(2, n_trees, STEPS).round().astype(int)).tolist()


def of_classes(
    said: NDArray[np.int64],
    unseen: NDArray[np.bool_],
    y: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    sizes: Sequence[int],
) -> list[Strength]:
    """Return strength and correlation of the first trees, for each of the `sizes`, rising.

    Parameters
    ----------
    said : (n, B) int64
        The class that each tree says.
    unseen : (n, B) bool
        Which rows each tree did not draw.
    y : (n,) int64
    weights : (n,) float64
        Case weights, above 0.
    n_classes : int
    sizes : sequence of int
    """
    n, found, done = len(y), [], 0
    votes, rows = np.zeros((n, n_classes)), np.arange(n)
    for size in sizes:
        for b in range(done, size):
            votes[rows[unseen[:, b]], said[unseen[:, b], b]] += 1
        done = size
        number = votes.sum(axis=1)
        known = number > 0
        share = votes[known] / number[known, None]
        own, mass, right = y[known], weights[known], np.arange(int(known.sum()))
        others = share.copy()
        others[right, own] = -1.0
        rival = np.full(n, -1)
        rival[known] = others.argmax(axis=1)
        margin = share[right, own] - others.max(axis=1)
        spread = [_raw_spread(said[:, b], unseen[:, b], y, weights, rival) for b in range(size)]
        strength = float(np.average(margin, weights=mass))
        variance = np.average((margin - strength) ** 2, weights=mass)
        with np.errstate(invalid="ignore", divide="ignore"):  # trees that never err do not vary
            correlation = float(variance / np.nanmean(spread) ** 2)
        bound = correlation * (1 - strength**2) / strength**2 if strength > 0 else np.inf
        error = float(np.average(share.argmax(axis=1) != own, weights=mass))
        found.append(Strength(size, strength, correlation, bound, error))
    return found


def _raw_spread(
    said: NDArray[np.int64],
    unseen: NDArray[np.bool_],
    y: NDArray[np.int64],
    weights: NDArray[np.float64],
    rival: NDArray[np.int64],
) -> float:
    """Return the standard deviation of a tree's raw margin: 1 if right, -1 if the rival, else 0."""
    if not unseen.any():
        return np.nan
    mass = weights[unseen]
    right = np.average(said[unseen] == y[unseen], weights=mass)
    wrong = np.average(said[unseen] == rival[unseen], weights=mass)
    return float(np.sqrt(right + wrong - (right - wrong) ** 2))


def of_numbers(
    residual: NDArray[np.float64],
    unseen: NDArray[np.bool_],
    weights: NDArray[np.float64],
    sizes: Sequence[int],
) -> list[Strength]:
    """Return tree error and correlation of the first trees, for each of the `sizes`, rising.

    Parameters
    ----------
    residual : (n, B) float64
        Response less what each tree predicts.
    unseen : (n, B) bool
        Which rows each tree did not draw.
    weights : (n,) float64
        Case weights, above 0.
    sizes : sequence of int
    """
    mass = weights[:, None]
    left = np.where(unseen, residual, 0.0)
    totals = np.cumsum(left, axis=1)
    squares, numbers = np.cumsum(left**2, axis=1), np.cumsum(unseen, axis=1)
    with np.errstate(invalid="ignore"):
        spread = np.sqrt((mass * left**2).sum(axis=0) / (mass * unseen).sum(axis=0))
    found = []
    for size in sizes:
        total, square, number = (of[:, size - 1] for of in (totals, squares, numbers))
        pairs = np.sum(weights * number * (number - 1.0))
        product = np.sum(weights * (total**2 - square)) / pairs if pairs else np.nan
        tree = (weights * square).sum() / (weights * number).sum()
        correlation = product / np.nanmean(spread[:size]) ** 2
        known = number > 0
        error = np.average((total[known] / number[known]) ** 2, weights=weights[known])
        found.append(
            Strength(size, float(tree), float(correlation), float(correlation * tree), float(error))
        )
    return found
