"""Candidate directions of a node, and the feature groups they are built from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BASIS",
    "INDICATORS",
    "PLAIN",
    "ROUND",
    "FeatureGroups",
    "Proposals",
    "columns_of",
    "proposals_for",
]

PLAIN, INDICATORS, BASIS = 0, 1, 2
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
    order : (P,) int64
        A permutation of the predictors.
    mixed : (p,) int64
        A permutation of the columns.
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
    order: np.ndarray
    mixed: np.ndarray
    singly: np.ndarray
    class_weight: np.ndarray
    chosen: np.ndarray
    ordered: bool


def proposals_for(P: int, p: int, K: int, widest: int, ordered: bool = False) -> Proposals:
    """Allocate scratch for P predictors of p columns, directions on up to `widest` of them."""
    return Proposals(
        np.empty((ROUND, widest), dtype=np.int64),
        np.empty((ROUND, widest), dtype=np.float32),
        np.empty(ROUND, dtype=np.int64),
        np.arange(P),
        np.arange(p),
        np.zeros(1, dtype=np.bool_),
        np.empty(K),
        np.empty(K, dtype=np.bool_),
        ordered,
    )
