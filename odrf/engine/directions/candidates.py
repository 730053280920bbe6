"""Candidate directions of a node, and the feature groups they are built from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PLAIN, INDICATORS, BASIS = 0, 1, 2
# A factor of more levels has many.  Alone, they are scored with shrinkage then, see
# `odrf.engine.directions.factors`; random directions count such a factor as one column.
TWO_LEVELS, FEW_LEVELS = 2, 6
# Most candidates in a round: enough for the lanes of `sort_lanes`, few enough for the cache.
ROUND = 32


NO_LEVEL = np.empty(0, dtype=np.bool_)
"""Of a tree without surrogates."""


class FeatureGroups(NamedTuple):
    """Which columns make up each predictor.

    `first` (P + 1,): predictor j has the columns ``first[j]:first[j + 1]``.  `types` (P,): `PLAIN`
    (one column), `INDICATORS` (one 0/1 column per level) or `BASIS` (several numeric columns, such
    as a spline).  `holes` (P,): whether cells of the predictor are empty, and it is no factor.  The
    last of its columns is then 1 in these rows, where the others are 0, and 0 elsewhere.  None if
    no predictor has empty cells or is a factor, and trees have no surrogates: as None has a type of
    its own in Numba, such tables need no code for any of these.  All other tables share one kernel.
    `missing_level` (P,): in a tree with surrogates, whether the predictor is a factor whose last
    column is the level of its empty cells.
    """

    first: np.ndarray
    types: np.ndarray
    holes: np.ndarray | None = None
    missing_level: np.ndarray = NO_LEVEL

    @property
    def n_numbers(self) -> NDArray[np.int64]:
        """Number of columns of each predictor (P,), without that of its empty cells."""
        if self.holes is None:
            return self.widths
        numbers: NDArray[np.int64] = self.widths - self.holes.astype(np.int64)
        return numbers

    @property
    def most_entries(self) -> NDArray[np.int64]:
        """Return how many coefficients each predictor (P,) has at most while one is estimated.

        Each of its numbers has a fill, and the column of empty cells a coefficient of its own.
        """
        if self.holes is None:
            return self.widths
        entries: NDArray[np.int64] = self.widths + np.where(self.holes, self.n_numbers, 0)
        return entries

    @property
    def n_holes(self) -> int:
        """Number of predictors with empty cells."""
        return 0 if self.holes is None else int(self.holes.sum())

    @property
    def widths(self) -> NDArray[np.int64]:
        """Number of columns of each predictor (P,)."""
        widths: NDArray[np.int64] = self.first[1:] - self.first[:-1]
        return widths


def feature_groups_of(
    first: NDArray[np.int64], types: NDArray[np.int8], holes: NDArray[np.bool_] | None = None
) -> FeatureGroups:
    """Return the feature groups; `holes` (P,), all False by default, are None for a plain table."""
    groups = FeatureGroups(first, types, np.zeros(len(types), np.bool_) if holes is None else holes)
    is_plain = not (groups.n_holes or has_levels(groups).any())
    return groups._replace(holes=None) if is_plain else groups


def has_levels(feature_groups: FeatureGroups) -> NDArray[np.bool_]:
    """Return which predictors (P,) are factors, of several levels."""
    return (feature_groups.types == INDICATORS) & (feature_groups.widths > 1)


def has_many_levels(feature_groups: FeatureGroups) -> NDArray[np.bool_]:
    """Return which predictors (P,) are factors of more than `FEW_LEVELS` levels."""
    return (feature_groups.types == INDICATORS) & (feature_groups.widths > FEW_LEVELS)


def indicator_levels(n_classes: int) -> int:
    """Return the most levels of a factor that enters a direction by an indicator for each level.

    The levels of other factors are scored.  A coefficient for each of a few levels makes trees of
    numbers more accurate; with many factors it costs several times the time, which for classes is
    not worth it.
    """
    return FEW_LEVELS if n_classes == 1 else TWO_LEVELS


def count_terms(feature_groups: FeatureGroups) -> NDArray[np.int64]:
    """Return the columns (P,) of each predictor but that of empty cells; one for many levels."""
    return np.where(has_many_levels(feature_groups), 1, feature_groups.n_numbers)


def columns_of(feature_groups: FeatureGroups, predictors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns of these predictors, in the order of the predictors."""
    first = feature_groups.first
    ranges = [np.arange(first[j], first[j + 1]) for j in predictors]
    return np.concatenate([np.empty(0, dtype=np.int64), *ranges])


class Proposals(NamedTuple):
    """The candidate directions of a round: up to `ROUND`, on up to W columns each; and scratch.

    `columns` (ROUND, W): columns of each direction.
    `theta` (ROUND, W): their coefficients.
    `sizes` (ROUND,): number of columns of each direction.
    `reliability` (ROUND,): the share of a direction's relation with the target that would remain
      in new rows; below 1 if it has levels scored by the target, see
      `odrf.engine.directions.factors`.
    `two_sided` (ROUND,): whether the direction is a single predictor whose empty cells are tried
      on both sides; None if `FeatureGroups.holes` is.
    `factor` (ROUND,): the factor that all columns of the direction belong to; -1 if there is
      none.
    `order` (P,): a permutation of the predictors.
    `mixed`: a permutation of the columns, without those of empty cells.
    `units` (U,): the same with one entry -1 - j for all columns of predictor j if it is a factor
      of many levels.
    `empty` (p,): for each column the column of its predictor's empty cells; -1 if there are none.
      None if `FeatureGroups.holes` is.
    `singly` (1,): whether every predictor is tried singly at the node.
    `class_weight` (K,): scratch.
    `chosen` (K,): the classes that the target of a direction marks.
    `ordered`: whether classes are ordered: targets then separate low from high classes.
    `indicator_levels`: most levels of a factor that enters a direction of several predictors by
      its indicators.
    """

    columns: np.ndarray
    theta: np.ndarray
    sizes: np.ndarray
    reliability: np.ndarray
    two_sided: np.ndarray | None
    factor: np.ndarray
    order: np.ndarray
    mixed: np.ndarray
    units: np.ndarray
    empty: np.ndarray | None
    singly: np.ndarray
    class_weight: np.ndarray
    chosen: np.ndarray
    ordered: bool
    indicator_levels: int


def proposals_for(
    feature_groups: FeatureGroups, K: int, widest: int, ordered: bool = False,
    indicator_levels: int = TWO_LEVELS,
) -> Proposals:  # fmt: skip
    """Allocate scratch for K classes and directions on up to `widest` columns."""
    P = len(feature_groups.types)
    return Proposals(
        np.empty((ROUND, widest), dtype=np.int64), np.empty((ROUND, widest), dtype=np.float32),
        np.empty(ROUND, dtype=np.int64), np.ones(ROUND),
        None if feature_groups.holes is None else np.zeros(ROUND, dtype=np.bool_),
        np.empty(ROUND, dtype=np.int64), np.arange(P), _of_numbers(feature_groups),
        _units(feature_groups), _empty(feature_groups), np.zeros(1, dtype=np.bool_), np.empty(K),
        np.empty(K, dtype=np.bool_), ordered, indicator_levels,
    )  # fmt: skip


def _of_numbers(feature_groups: FeatureGroups) -> NDArray[np.int64]:
    """Return the columns in order, without those of empty cells."""
    columns, holes = np.arange(feature_groups.first[-1]), feature_groups.holes
    return columns if holes is None else np.delete(columns, feature_groups.first[1:][holes] - 1)


def _empty(feature_groups: FeatureGroups) -> NDArray[np.int64] | None:
    """Return for each column that of its predictor's empty cells, see `Proposals`."""
    if feature_groups.holes is None:
        return None
    column = np.where(feature_groups.holes, feature_groups.first[1:] - 1, -1)
    return np.repeat(column, feature_groups.widths)


def _units(feature_groups: FeatureGroups) -> NDArray[np.int64]:
    """Return the same, with -1 - j for the columns of a factor j of many levels."""
    columns, many = _of_numbers(feature_groups), has_many_levels(feature_groups)
    if not many.any():
        return columns
    predictor = np.searchsorted(feature_groups.first, columns, side="right") - 1
    is_first = columns == feature_groups.first[predictor]
    return np.where(many[predictor], -1 - predictor, columns)[is_first | ~many[predictor]]
