"""Surrogate splits, row by row, on a table whose missing values are NaN."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

MOST = 5


class Surrogate(NamedTuple):
    """A split: the weights of its columns, or the side of each level of a factor."""

    predictors: tuple[int, ...]
    agreement: float
    goes_left: list  # for each row True, False, or None if it has no value


def majority(side, weights):
    """Return the weights of the rows that go left and right."""
    left = sum(w for s, w in zip(side, weights, strict=True) if s is True)
    right = sum(w for s, w in zip(side, weights, strict=True) if s is False)
    return left, right


def agreement(side, weights, goes_left):
    """Return the weight of the rows that go to the same side."""
    pairs = zip(side, weights, goes_left, strict=True)
    return sum(w for s, w, sent in pairs if s is not None and s == sent)


def best_cut(x, side, weights):
    """Return (agreement, goes_left) of the best cut of x (n,), or None.

    At least two rows with a side lie on either side of the cut, and it sends more weight to its
    side than sending all rows that have a value to one side.  Of equally good cuts the leftmost is
    best, and of its two directions that in which low values go right.
    """
    known = ~np.isnan(x)
    of_known = [s if k else None for s, k in zip(side, known, strict=True)]
    best, found = max(majority(of_known, weights)), None
    values = np.unique(x[known])
    for low, high in pairwise(values.tolist()):
        counted = [v <= low for v, s in zip(x, of_known, strict=True) if s is not None]
        if sum(counted) < 2 or len(counted) - sum(counted) < 2:
            continue
        for low_goes_left in (False, True):
            cut = (low + high) / 2
            sent = [
                ((v <= cut) == low_goes_left) if k else None for v, k in zip(x, known, strict=True)
            ]
            reached = agreement(side, weights, sent)
            if reached > best + 1e-9:
                best, found = reached, (reached, sent)
    return found


def best_levels(levels, side, weights):
    """Return (agreement, goes_left): each level goes where more of its weight does.

    A level that is half and half goes with all rows that have a level, right if these are too.  A
    level without rows that have a side goes nowhere.
    """
    known = [level is not None for level in levels]
    of_known = [s if k else None for s, k in zip(side, known, strict=True)]
    all_left, all_right = majority(of_known, weights)
    sent_left = {}
    for level in {level for level, s in zip(levels, of_known, strict=True) if s is not None}:
        of_level = [
            s if other == level else None for s, other in zip(of_known, levels, strict=True)
        ]
        left, right = majority(of_level, weights)
        sent_left[level] = left > right or (left == right and all_left > all_right)
    goes_left = [sent_left.get(level) for level in levels]
    return agreement(side, weights, goes_left), goes_left


def surrogates(columns, side, weights, used):
    """Return the best surrogates on single predictors, best first, as pairs (adj, Surrogate).

    Parameters
    ----------
    columns : list
        For each predictor an array with NaN for missing values, or a list of levels with None.
    side : list of bool or None
        Where the split sends each row; None if it needs a missing value.
    weights : (n,) array
    used : set of int
        The predictors of the split; its only one has no surrogate.
    """
    left, right = majority(side, weights)
    total, larger = left + right, max(left, right)
    found = []
    for j, column in enumerate(columns):
        if used == {j}:
            continue
        numbers = isinstance(column, np.ndarray)
        best = (best_cut if numbers else best_levels)(column, side, weights)
        if best is None or best[0] <= larger + 1e-9:
            continue
        adj = (best[0] - larger) / (total - larger)
        found.append((adj, Surrogate((j,), best[0] / total, best[1])))
    found.sort(key=lambda pair: -pair[1].agreement)
    return found[:MOST]


def sent(side, weights, ranked):
    """Return which rows go left, and how many take each of the surrogates."""
    left, right = majority(side, weights)
    rows, counts = [], [0] * len(ranked)
    for i, own in enumerate(side):
        goes_left = own
        for s, surrogate in enumerate(ranked):
            if goes_left is None and surrogate.goes_left[i] is not None:
                goes_left = surrogate.goes_left[i]
                counts[s] += 1
        rows.append(left >= right if goes_left is None else goes_left)
    return rows, counts


def best_known_gain(x, y, min_leaf):
    """Return the largest decrease of the squared error by a cut of x (n,), NaN where it is empty.

    It is that among the rows with a value, divided by the number of all rows.  If y is (n, K), the
    errors of its columns are added up.
    """
    known, best = ~np.isnan(x), 0.0
    values = np.unique(x[known])
    for cut in values[:-1]:
        left, right = y[known & (x <= cut)], y[known & (x > cut)]
        if min(len(left), len(right)) >= min_leaf:
            sides = sum(((side - side.mean(axis=0)) ** 2).sum() for side in (left, right))
            total = ((y[known] - y[known].mean(axis=0)) ** 2).sum()
            best = max(best, (total - sides) / len(y))
    return best


def is_known(row, columns, marks, own_levels=False):
    """Whether a row of scaled columns has values for a direction on these columns."""
    predictors = {int(marks.predictor[column]) for column in columns}
    if own_levels and len(predictors) == 1 and marks.factor[min(predictors)]:
        return any(row[column] == 1 for column in columns)
    for j in predictors:
        of_j = range(marks.first[j], marks.first[j + 1])
        if marks.factor[j] and not any(row[c] == 1 for c in of_j if c != marks.mark[j]):
            return False
        if marks.mark[j] >= 0 and row[marks.mark[j]] == 1:
            return False
    return True


def leaf_by_surrogates(forest, row):
    """Return the leaf that a row of scaled columns reaches in a tree, by itself."""
    splits, node = forest.surrogates, 0

    def goes_left(terms, column, coef, threshold):
        projected = np.float32(0.0)
        for t in terms:
            projected = np.float32(projected + coef[t] * row[column[t]])
        return bool(projected <= threshold)

    while forest.left[node] >= 0:
        terms = range(forest.start[node], forest.start[node + 1])
        left = bool(splits.majority_left[node])
        if is_known(row, forest.index[list(terms)], splits.marks):
            left = goes_left(terms, forest.index, forest.coef, forest.threshold[node])
        else:
            for s in range(splits.first[node], splits.first[node + 1]):
                terms = range(splits.start[s], splits.start[s + 1])
                if is_known(row, splits.column[list(terms)], splits.marks, own_levels=True):
                    left = goes_left(terms, splits.column, splits.coef, splits.threshold[s])
                    left = left != splits.flipped[s]
                    break
        node = forest.left[node] + (not left)
    return node


def ridge_direction(Z, target, weights, share):
    """Return θ (d,) of least squares of the target on Z (d, n), with a relative ridge."""
    mean = Z @ weights / weights.sum()
    centred = Z - mean[:, None]
    A = (weights * centred) @ centred.T
    A += share * np.trace(A) / len(A) * np.eye(len(A))
    return np.linalg.solve(A, (weights * centred) @ (target - target @ weights / weights.sum()))
