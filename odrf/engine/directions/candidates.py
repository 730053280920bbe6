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


def feature_groups_of(
    first: NDArray[np.int64], types: NDArray[np.int8], holes: NDArray[np.bool_] | None = None
) -> FeatureGroups:
    """Return the feature groups; `holes` (P,), all False by default, are None for a plain table."""
    if holes is None:
        holes = np.zeros(len(types), np.bool_)
    groups = FeatureGroups(first, types, holes)
    is_plain = not (holes.any() or has_levels(groups).any())
    return groups._replace(holes=None) if is_plain else groups


def has_levels(feature_groups: FeatureGroups, more_than: int = 1) -> NDArray[np.bool_]:
    """Return which predictors (P,) are factors of more levels than so many."""
    return (feature_groups.types == INDICATORS) & (np.diff(feature_groups.first) > more_than)


def indicator_levels(n_classes: int) -> int:
    """Return the most levels of a factor that enters a direction by an indicator for each level.

    The levels of other factors are scored.  A coefficient for each of a few levels makes trees of
    numbers more accurate; with many factors it costs several times the time, which for classes is
    not worth it.
    """
    return FEW_LEVELS if n_classes == 1 else TWO_LEVELS


def count_terms(feature_groups: FeatureGroups) -> NDArray[np.int64]:
    """Return the columns (P,) of each predictor but that of empty cells; one for many levels."""
    widths, holes = np.diff(feature_groups.first), feature_groups.holes
    many = (feature_groups.types == INDICATORS) & (widths > FEW_LEVELS)
    return np.where(many, 1, widths if holes is None else widths - holes)


def most_coefficients(feature_groups: FeatureGroups, q: int) -> int:
    """Return the most coefficients that q predictors have while a direction is estimated on them.

    Each number of a predictor with empty cells has a fill, and their column a coefficient.
    """
    entries, holes = np.diff(feature_groups.first), feature_groups.holes
    if holes is not None:
        entries = np.where(holes, 2 * entries - 1, entries)
    return int(np.sort(entries)[::-1][:q].sum())


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
    first, P, holes = feature_groups.first, len(feature_groups.types), feature_groups.holes
    mixed, empty, two_sided = np.arange(first[-1]), None, None
    if holes is not None:
        mixed = np.delete(mixed, first[1:][holes] - 1)
        empty = np.repeat(np.where(holes, first[1:] - 1, -1), np.diff(first))
        two_sided = np.zeros(ROUND, dtype=np.bool_)
    units, many = mixed.copy(), has_levels(feature_groups, FEW_LEVELS)
    if many.any():
        predictor = np.searchsorted(first, mixed, side="right") - 1
        of_many, is_first = many[predictor], mixed == first[predictor]
        units = np.where(of_many, -1 - predictor, mixed)[is_first | ~of_many]
    return Proposals(
        np.empty((ROUND, widest), dtype=np.int64), np.empty((ROUND, widest), dtype=np.float32),
        np.empty(ROUND, dtype=np.int64), np.ones(ROUND), two_sided, np.empty(ROUND, dtype=np.int64),
        np.arange(P), mixed, units, empty, np.zeros(1, dtype=np.bool_), np.empty(K),
        np.empty(K, dtype=np.bool_), ordered, indicator_levels,
    )  # fmt: skip
