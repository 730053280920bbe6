"""Factors of many levels: one code for each row, instead of an indicator column for each level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups, has_many_levels
from odrf.engine.rows.coded import Coded, Matrix

__all__ = ["NO_FACTORS", "Factors", "factors_of", "narrowed"]


class Factors(NamedTuple):
    """The codes of factors of many levels, by which growth reads them.

    The columns of such a factor are indicators, one for each level.  Growth moves and reads one
    code instead: so the cost of a node does not depend on the number of levels.

    Attributes
    ----------
    codes : (F, n) int32
        The level of each row, 1, 2, …; 0 if it has none of the levels.
    place : (p,) int32
        -1 - f for a column of factor f; for another column its row in the array X of predictors.
    level : (p,) int32
        The level that a column of a factor indicates; 0 for other columns.
    """

    codes: NDArray[np.int32]
    place: NDArray[np.int32]
    level: NDArray[np.int32]


NO_FACTORS = Factors(
    np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
)
"""Of a table without such factors."""


def factors_of(X: Matrix, feature_groups: FeatureGroups) -> Factors:
    """Return the codes of the factors of many levels in X (p, n)."""
    if isinstance(X, Coded):
        place, level, n_numbers = X.layout
        codes = X.stored[n_numbers:].astype(np.int32)
        return Factors(codes, np.where(level > 0, n_numbers - 1 - place, place), level)
    many = np.flatnonzero(has_many_levels(feature_groups))
    if not len(many):
        return NO_FACTORS
    first, p = feature_groups.first, int(feature_groups.first[-1])
    codes = np.zeros((len(many), X.shape[1]), dtype=np.int32)
    level, place = np.zeros(p, dtype=np.int32), np.zeros(p, dtype=np.int32)
    for f, j in enumerate(many):
        place[first[j] : first[j + 1]] = -1 - f
        level[first[j] : first[j + 1]] = 1 + np.arange(first[j + 1] - first[j])
        for column in range(first[j], first[j + 1]):
            codes[f, X[column] > 0] = level[column]
    return Factors(codes, np.where(place < 0, place, np.arange(p, dtype=np.int32)), level)


def narrowed(
    X: NDArray[np.float32], factors: Factors, columns: NDArray[np.int64]
) -> tuple[NDArray[np.float32], Factors]:
    """Return the matrix and the factors of these columns (q,) alone, in their order.

    The matrix leaves out the columns of factors of many levels.
    """
    if not len(factors.codes):
        return X[columns], factors
    place, level = factors.place[columns], factors.level[columns]
    others = place >= 0
    kept, number = np.unique(-1 - place[~others], return_inverse=True)
    renumbered = np.empty(len(place), dtype=np.int32)
    renumbered[~others], renumbered[others] = -1 - number, np.arange(others.sum())
    return X[place[others]], Factors(factors.codes[kept], renumbered, level)
