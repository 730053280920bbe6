"""Candidate directions of a node, and the feature groups they are built from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BASIS",
    "FEW_LEVELS",
    "INDICATORS",
    "PLAIN",
    "ROUND",
    "FeatureGroups",
    "Proposals",
    "columns_of",
    "count_terms",
    "has_many_levels",
    "proposals_for",
]

PLAIN, INDICATORS, BASIS = 0, 1, 2
# A factor of more levels has many.  They are scored, see `odrf.engine.directions.level_scores`: a
# coefficient for each level would be slow to estimate and poorly determined.
FEW_LEVELS = 6
# Most candidates in a round: enough for the lanes of `sort_lanes`, few enough for the cache.
ROUND = 32


class FeatureGroups(NamedTuple):
    """Which columns make up each predictor.

    Attributes
    ----------
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    types : (P,) int8
        `PLAIN` (one column), `INDICATORS` (one 0/1 column per level) or `BASIS` (several
        numeric columns, such as a spline).
    """

    first: np.ndarray
    types: np.ndarray

    @property
    def widths(self) -> NDArray[np.int64]:
        """Number of columns of each predictor (P,)."""
        widths: NDArray[np.int64] = self.first[1:] - self.first[:-1]
        return widths


def has_many_levels(feature_groups: FeatureGroups) -> NDArray[np.bool_]:
    """Return which predictors (P,) are factors of more than `FEW_LEVELS` levels."""
    return (feature_groups.types == INDICATORS) & (feature_groups.widths > FEW_LEVELS)


def count_terms(feature_groups: FeatureGroups) -> NDArray[np.int64]:
    """Return how many terms (P,) each predictor is in a direction: one for each column.

    A factor of many levels is one term.
    """
    return np.where(has_many_levels(feature_groups), 1, feature_groups.widths)


def columns_of(feature_groups: FeatureGroups, predictors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns of these predictors, in the order of the predictors."""
    first = feature_groups.first
    ranges = [np.arange(first[j], first[j + 1]) for j in predictors]
    return np.concatenate([np.empty(0, dtype=np.int64), *ranges])


class Proposals(NamedTuple):
    """The candidate directions of a round: up to `ROUND`, on up to W columns each; and scratch.

    Attributes
    ----------
    columns : (ROUND, W) int64
        Columns of each direction.
    theta : (ROUND, W) float32
        Their coefficients.
    sizes : (ROUND,) int64
        Number of columns of each direction.
    reliability : (ROUND,) float64
        The share of a direction's relation with the target that would remain in new rows; below 1
        if it has levels scored by the target, see `odrf.engine.directions.level_scores`.
    order : (P,) int64
        A permutation of the predictors.
    mixed : (p,) int64
        A permutation of the columns.
    units : (U,) int64
        A permutation of the columns, with one entry -1 - j for all columns of predictor j if it is
        a factor of many levels.
    singly : (1,) bool
        Whether every predictor is tried singly at the node.
    class_weight : (K,) float64
        Scratch.
    chosen : (K,) bool
        The classes that the target of a direction marks.
    ordered : bool
        Whether classes are ordered: targets then separate low from high classes.
    """

    columns: np.ndarray
    theta: np.ndarray
    sizes: np.ndarray
    reliability: np.ndarray
    order: np.ndarray
    mixed: np.ndarray
    units: np.ndarray
    singly: np.ndarray
    class_weight: np.ndarray
    chosen: np.ndarray
    ordered: bool


def proposals_for(
    feature_groups: FeatureGroups, K: int, widest: int, ordered: bool = False
) -> Proposals:
    """Allocate scratch for K classes and directions on up to `widest` columns."""
    P, p = len(feature_groups.types), int(feature_groups.first[-1])
    return Proposals(
        np.empty((ROUND, widest), dtype=np.int64),
        np.empty((ROUND, widest), dtype=np.float32),
        np.empty(ROUND, dtype=np.int64),
        np.ones(ROUND),
        np.arange(P),
        np.arange(p),
        _units(feature_groups),
        np.zeros(1, dtype=np.bool_),
        np.empty(K),
        np.empty(K, dtype=np.bool_),
        ordered,
    )


def _units(feature_groups: FeatureGroups) -> NDArray[np.int64]:
    """Return the columns in order, and -1 - j for those of a factor j of many levels."""
    columns, many = np.arange(feature_groups.first[-1]), has_many_levels(feature_groups)
    if not many.any():
        return columns
    predictor = np.repeat(np.arange(len(many)), feature_groups.widths)
    is_first = columns == feature_groups.first[predictor]
    return np.where(many[predictor], -1 - predictor, columns)[is_first | ~many[predictor]]
