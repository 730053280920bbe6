"""Scratch for estimating directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import part

__all__ = ["LevelScores", "Workspace", "forget_levels", "note_free_target", "workspace"]


class LevelScores(NamedTuple):
    """Scratch for scoring the levels of factors, and the scores that a node keeps.

    Attributes
    ----------
    weight, moment : (W + 1,) float64
        Sums over the rows of each level of a factor.
    seen : (W + 1,) bool
        Scratch, False between calls.
    present : (W,) int64
        The levels that a node has.
    dismissed : (F,) int64
        On how many rows of the node each factor, of many levels, was seen to differ by no more than
        chance for the present target; 0 if it was not.
    kept : (F, 3) int64
        For each factor of many levels, on how many rows its levels were scored for the present
        target, how many of these rows are used, and how many levels were scored.  The first is 0
        if they were not.
    kept_columns : (F, L) int64
    kept_scores : (F, L) float64
    kept_rows : (F, R) float64
    kept_covariance : (F, 2) float64
        Their columns and scores, the scores of the rows, covariance and excess; for the next
        direction with the factor.  F is 0 if every direction has a target of its own.
    freedom : (1,) float64
        In how many other directions the target could vary, if it was chosen by the levels that it
        scores, see `odrf.engine.directions.class_shares`; else 0.
    """

    weight: np.ndarray
    moment: np.ndarray
    seen: np.ndarray
    present: np.ndarray
    dismissed: np.ndarray
    kept: np.ndarray
    kept_columns: np.ndarray
    kept_scores: np.ndarray
    kept_rows: np.ndarray
    kept_covariance: np.ndarray
    freedom: np.ndarray


class Workspace(NamedTuple):
    """Scratch for estimating directions on up to D terms, of up to W columns, and R rows.

    The levels of factors are scored on up to S rows, of which the first R are used for the rest.

    A term is a column, or the scores of a factor of many levels.

    Attributes
    ----------
    Z, weighted : (D, R) float64
    weights, target, moment : (S,) float64
    product, eta, mean, variance, residual : (R,) float64
    power : (R,) int64
    term : (W,) int64
    scores : (W,) float64
        The term that each column of a direction belongs to, and its coefficient in that term.
    column : (W,) int64
    coefficient : (W,) float64
        The columns and their coefficients.
    levels : LevelScores or None
        None if no predictor has empty cells or is a factor: as None has a type of its own in Numba,
        such tables need no code for scores of levels.
    covariance, excess : (D,) float64
        Covariance of each term with the target, and what is only noise besides; see
        `odrf.engine.directions.level_scores`.
    size : (5,) int64
        Number of columns; of terms if one of them is a factor whose levels are scored with
        shrinkage, else 0; of free coefficients of factors of more than two levels that enter by
        indicators; of terms; and of rows on which the direction is estimated.
    A : (D + 1, D + 1) float64
    theta, step, sums : (D + 1,) float64
    """

    Z: np.ndarray
    weighted: np.ndarray
    weights: np.ndarray
    target: np.ndarray
    moment: np.ndarray
    product: np.ndarray
    eta: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    residual: np.ndarray
    power: np.ndarray
    term: np.ndarray
    scores: np.ndarray
    column: np.ndarray
    coefficient: np.ndarray
    levels: LevelScores | None
    covariance: np.ndarray
    excess: np.ndarray
    size: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    step: np.ndarray
    sums: np.ndarray


def workspace(
    D: int, R: int, W: int | None = None, S: int | None = None, F: int = 1, L: int = 0
) -> Workspace:
    """Allocate the scratch for D terms of W columns (by default D), R rows and S (by default R).

    F is the number of factors, L that of the levels whose scores are kept, 0 if they are not.
    """
    W, S = D if W is None else W, R if S is None else S
    return Workspace(
        np.empty((D, R)),
        np.empty((D, R)),
        np.empty(S),
        np.empty(S),
        np.empty(S),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R),
        np.empty(R, dtype=np.int64),
        np.empty(W, dtype=np.int64),
        np.empty(W),
        np.empty(W, dtype=np.int64),
        np.empty(W),
        _level_scores(W, R, F, L) if F > 0 else None,
        np.empty(D),
        np.empty(D),
        np.zeros(5, dtype=np.int64),
        np.empty((D + 1, D + 1)),
        np.empty(D + 1),
        np.empty(D + 1),
        np.empty(D + 1),
    )


def _level_scores(W: int, R: int, F: int, L: int) -> LevelScores:
    kept = F if L > 0 else 0
    return LevelScores(
        np.empty(W + 1),
        np.empty(W + 1),
        np.zeros(W + 1, dtype=np.bool_),
        np.empty(W, dtype=np.int64),
        np.zeros(F, dtype=np.int64),
        np.zeros((kept, 3), dtype=np.int64),
        np.empty((kept, L), dtype=np.int64),
        np.empty((kept, L)),
        np.empty((kept, R)),
        np.empty((kept, 2)),
        np.zeros(1),
    )


@part
def forget_levels(levels):
    """Forget what is kept of the levels of factors, for a new target."""
    if levels is None:
        return
    levels.dismissed[:], levels.kept[:, 0] = 0, 0


@part
def note_free_target(levels, another):
    """Note that the levels of factors did not choose the target, and whether it is `another` one.

    Then factors that were dismissed may be related to it.
    """
    if levels is None:
        return
    levels.freedom[0] = 0.0
    if another:
        levels.dismissed[:] = 0
