"""Scratch for finding and using the surrogates of a node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.directions.candidates import ROUND
from odrf.engine.directions.workspace import Workspace, workspace
from odrf.engine.radix_sorting import DigitScratch, digit_scratch
from odrf.engine.surrogates.surrogate_splits import MOST_SURROGATES, Marks, SurrogateSplits

__all__ = ["CompleteRows", "Ranked", "SurrogateScratch", "surrogate_scratch"]


class CompleteRows(NamedTuple):
    """The rows of a node that have values for a direction, as `describe` reads them.

    Attributes
    ----------
    y, weights : (n,) float64
    counts : (n,) int32
    unit : bool
        Whether gains are computed from numbers of rows.
    """

    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    unit: bool


class Ranked(NamedTuple):
    """The best surrogates so far; the s-th, in the order of their agreement, is in row place[s].

    Attributes
    ----------
    place : (MOST_SURROGATES,) int64
    sizes : (MOST_SURROGATES,) int64
    columns : (MOST_SURROGATES, W) int64
    theta : (MOST_SURROGATES, W) float32
    threshold : (MOST_SURROGATES,) float32
    flipped : (MOST_SURROGATES,) bool
    agree, adj : (MOST_SURROGATES,) float64
    """

    place: np.ndarray
    sizes: np.ndarray
    columns: np.ndarray
    theta: np.ndarray
    threshold: np.ndarray
    flipped: np.ndarray
    agree: np.ndarray
    adj: np.ndarray


class SurrogateScratch(NamedTuple):
    """Scratch for the surrogates of a tree of n rows, with p columns of P predictors.

    Attributes
    ----------
    marks : Marks
    tested : (1, p) int64; ones : (1, p) float32
        A test as `odrf.engine.surrogates.complete_rows.write_test` writes it.
    columns : (1, p) int64; theta : (1, p) float32
        A candidate.
    values : (n,) float32
    complete, waiting : (n,) bool
    side : (n,) int8
    sorting : DigitScratch
        For n keys.
    levels : (n,) int32
    left, right : (L + 1,) float64; n_rows : (L + 1,) int64; sent : (L + 1,) int8
        For the levels of a factor.
    used : (P,) bool
        The predictors of the split, False between calls.
    complete_node : CompleteRows
    complete_values : (n,) float32; moments : (n,) float64; mean : (K,) float64
        The values of these rows, and scratch for describing them.
    is_scored : (ROUND,) bool
        Which candidates of a round were scored on a part of the rows.
    ranked : Ranked
    n_sent : (MOST_SURROGATES,) int32
        How many rows took each surrogate of a node.
    n_incomplete : (1,) int64
        How many rows of a node did not have all values for its split.
    chosen : SurrogateSplits
        Those of one node.
    work : Workspace
        For the direction of an oblique surrogate.
    case_weights : (N,) float64
        What the training rows count for surrogates, by their numbers, where weights for splits are
        others; empty: the same.
    weights : (n,) float64
        What the rows of a node count.
    """

    marks: Marks
    tested: np.ndarray
    ones: np.ndarray
    columns: np.ndarray
    theta: np.ndarray
    values: np.ndarray
    complete: np.ndarray
    waiting: np.ndarray
    side: np.ndarray
    sorting: DigitScratch
    levels: np.ndarray
    left: np.ndarray
    right: np.ndarray
    n_rows: np.ndarray
    sent: np.ndarray
    used: np.ndarray
    complete_node: CompleteRows
    complete_values: np.ndarray
    moments: np.ndarray
    mean: np.ndarray
    is_scored: np.ndarray
    ranked: Ranked
    n_sent: np.ndarray
    n_incomplete: np.ndarray
    chosen: SurrogateSplits
    work: Workspace
    case_weights: np.ndarray
    weights: np.ndarray


def surrogate_scratch(
    n: int, marks: Marks, K: int, case_weights: np.ndarray | None = None
) -> SurrogateScratch:
    """Allocate scratch for n rows, K classes, and these predictors.

    `case_weights` (N,) are given if weights for splits are others.
    """
    p, P, most = len(marks.predictor), len(marks.mark), MOST_SURROGATES
    widths = np.diff(marks.first)[marks.factor]
    L = 1 + int(widths.max(initial=0))
    ranked = Ranked(
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty((most, p), dtype=np.int64),
        np.empty((most, p), dtype=np.float32),
        np.empty(most, dtype=np.float32),
        np.empty(most, dtype=np.bool_),
        np.empty(most),
        np.empty(most),
    )
    chosen = SurrogateSplits(
        np.zeros(2, dtype=np.int32),
        np.zeros(1, dtype=np.bool_),
        np.zeros(most + 1, dtype=np.int32),
        np.empty(most, dtype=np.float32),
        np.empty(most, dtype=np.bool_),
        np.empty(most),
        np.empty(most),
        np.empty(most, dtype=np.int32),
        np.empty(most * p, dtype=np.int32),
        np.empty(most * p, dtype=np.float32),
        marks,
    )
    return SurrogateScratch(
        marks,
        np.empty((1, p), dtype=np.int64),
        np.empty((1, p), dtype=np.float32),
        np.empty((1, p), dtype=np.int64),
        np.empty((1, p), dtype=np.float32),
        np.empty(n, dtype=np.float32),
        np.empty(n, dtype=np.bool_),
        np.empty(n, dtype=np.bool_),
        np.empty(n, dtype=np.int8),
        digit_scratch(np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)),
        np.empty(n, dtype=np.int32),
        np.empty(L),
        np.empty(L),
        np.empty(L, dtype=np.int64),
        np.empty(L, dtype=np.int8),
        np.zeros(P, dtype=np.bool_),
        CompleteRows(np.empty(n), np.empty(n), np.empty(n, dtype=np.int32), False),
        np.empty(n, dtype=np.float32),
        np.empty(n),
        np.empty(K),
        np.zeros(ROUND, dtype=np.bool_),
        ranked,
        np.zeros(most, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
        chosen,
        workspace(most, n),
        np.empty(0) if case_weights is None else case_weights,
        np.empty(n),
    )
