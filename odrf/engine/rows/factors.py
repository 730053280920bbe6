"""Factors as growth reads them: one code for each row, not an indicator column for each level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups, has_levels
from odrf.engine.rows.coded import Matrix, layout_of, stored

__all__ = ["NO_FACTORS", "Factors", "factors_of", "n_kept", "narrowed"]


class Factors(NamedTuple):
    """The codes of factors, by which growth reads them.

    The columns of a factor are indicators, one for each level.  Growth moves and reads one code
    instead: so the cost of a node does not depend on the number of levels.

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
"""Of a table without factors."""


def factors_of(X: Matrix, feature_groups: FeatureGroups) -> Factors:
    """Return the codes of the factors in X (p, n)."""
    factors = np.flatnonzero(has_levels(feature_groups))
    if not len(factors):
        return NO_FACTORS
    first, layout, array = feature_groups.first, layout_of(X), stored(X)
    codes = np.zeros((len(factors), X.shape[1]), dtype=np.int32)
    place, level = np.arange(len(X), dtype=np.int32), np.zeros(len(X), dtype=np.int32)
    if layout is not None:
        place = layout.place.copy()
    for f, j in enumerate(factors):
        columns = np.arange(first[j], first[j + 1])
        level[columns] = 1 + np.arange(len(columns))
        if layout is not None and layout.level[first[j]] > 0:
            codes[f] = array[place[first[j]]]
        else:
            for column in columns:
                codes[f, array[place[column]] > 0] = level[column]
        place[columns] = -1 - f
    return Factors(codes, place, level)


def n_kept(X: NDArray[np.float32], factors: Factors) -> int:
    """Return how many numbers growth keeps of a row of the array X (r, n)."""
    n_factors = len(factors.codes)
    return int((factors.place >= 0).sum()) + n_factors if n_factors else len(X)


def narrowed(
    X: NDArray[np.float32], factors: Factors, columns: NDArray[np.int64]
) -> tuple[NDArray[np.float32], Factors]:
    """Return the array X and the factors of these columns (q,) alone, in their order.

    The matrix leaves out the columns of factors.
    """
    if not len(factors.codes):
        return X[columns], factors
    place, level = factors.place[columns], factors.level[columns]
    others = place >= 0
    kept, number = np.unique(-1 - place[~others], return_inverse=True)
    renumbered = np.empty(len(place), dtype=np.int32)
    renumbered[~others], renumbered[others] = -1 - number, np.arange(others.sum())
    return X[place[others]], Factors(factors.codes[kept], renumbered, level)
