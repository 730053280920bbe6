"""Folds of cross-validation: which rows are held out together.

Rows alone, whole groups of rows, rows in the order of time.  Groups, strata and times are given as
codes 0, 1, … of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FoldRows",
    "block_of_times",
    "fold_of_groups",
    "fold_of_rows",
    "folds_apart",
    "last_times",
    "rolling_origin",
]

# Shares of strata are compared as whole numbers, so that rounding decides nothing.
UNIT = 1024


class FoldRows(NamedTuple):
    """The rows of one fold, two masks (n,): those that train, and those that are held out."""

    train: NDArray[np.bool_]
    test: NDArray[np.bool_]


def fold_of_rows(
    y: NDArray[np.float64] | NDArray[np.int64],
    n_classes: int,
    k: int,
    seed: int,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the random fold 0 … k - 1 of each row (n,); folds of classes are stratified.

    The rows of positive weight are divided evenly too, so that each fold leaves some of them.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    if n_classes > 1:
        order = order[np.argsort(y[order], kind="stable")]
    if weights is not None:
        order = order[np.argsort(weights[order] == 0, kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % k
    return fold


def fold_of_groups(
    groups: NDArray[np.int64], strata: NDArray[np.int64], k: int, seed: int
) -> NDArray[np.int64]:
    """Return the fold 0 … k - 1 of each row (n,), the same for all rows of a group.

    Groups are dealt out from the largest to the smallest, in random order among those of one size.
    Each goes to the fold that has the smallest share of the strata of its rows so far; then to the
    one with the fewest rows.  So no fold is empty if there are k groups, and without strata the
    sizes of two folds differ by no more than the largest group.

    Parameters
    ----------
    groups, strata : (n,) int64
        Codes 0, 1, …, each of which some row has.  Rows of one group can be of several strata.
    k, seed : int
    """
    n_groups, n_strata = int(groups.max()) + 1, int(strata.max()) + 1
    cells = np.bincount(groups * n_strata + strata, minlength=n_groups * n_strata)
    counts = cells.reshape(n_groups, n_strata)
    shares = counts * (UNIT * len(groups) // counts.sum(axis=0))
    sizes = counts.sum(axis=1)
    order = np.random.default_rng(seed).permutation(n_groups)
    fold_of_group = np.empty(n_groups, dtype=np.int64)
    held, rows = np.zeros((k, n_strata), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold = np.lexsort((rows, held @ shares[group]))[0]
        held[fold] += counts[group]
        rows[fold] += sizes[group]
        fold_of_group[group] = fold
    return fold_of_group[groups]


def block_of_times(order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the block 0 … k - 1 of each row (n,): consecutive times, about as many rows in each.

    Rows of one time stay together, and no block is empty.

    Parameters
    ----------
    order : (n,) int64
        Time of each row: codes 0, 1, …, each of which some row has.
    k : int
        At most as many as there are times.
    """
    until = np.cumsum(np.bincount(order))
    begin = np.zeros(k, dtype=np.int64)
    for j in range(1, k):
        even = np.searchsorted(until, j * len(order) / k)
        begin[j] = np.clip(even, begin[j - 1] + 1, len(until) - (k - j))
    return np.searchsorted(begin, order, side="right") - 1


def rolling_origin(order: NDArray[np.int64], k: int) -> list[FoldRows]:
    """Return k folds in time: each block of rows but the first is tested by all rows before it.

    Parameters
    ----------
    order : (n,) int64
        As in `block_of_times`.
    k : int
        Less than the number of times.
    """
    block = block_of_times(order, k + 1)
    return [FoldRows(block < j, block == j) for j in range(1, k + 1)]


def last_times(order: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Return which rows (n,) have the last times: the fewest that hold the `share` of the rows.

    If these would be all times, the first one is left out.

    Parameters
    ----------
    order : (n,) int64
        Time of each row, as numbers.
    share : float
        Above 0 and below 1.
    """
    times, counts = np.unique(order, return_counts=True)
    later = np.cumsum(counts[::-1])[::-1]
    begin = int(np.flatnonzero(later >= share * len(order))[-1])
    return order >= times[max(begin, min(1, len(times) - 1))]


def folds_apart(fold: NDArray[np.int64], k: int) -> list[FoldRows]:
    """Return k folds, in each of which the rows of one number 0 … k - 1 are held out."""
    return [FoldRows(fold != j, fold == j) for j in range(k)]
