"""Folds of the training rows of a fit, on which subtrees and stages of growth are judged."""

from __future__ import annotations

from typing import Any, NamedTuple

from odrf.design.folds import (
    Division,
    FoldRows,
    check_held_out_once,
    most_folds,
    read_division,
    rows_to_divide,
)
from odrf.errors import InputError
from odrf.fits.fit import Fit

__all__ = ["JudgingFolds", "folds_asked", "folds_at_most"]


class JudgingFolds(NamedTuple):
    """Folds, the seed of their trees, and the name of the method."""

    folds: list[FoldRows]
    seed: int
    by: str

    @property
    def mean_rows(self) -> float:
        """Mean number of training rows."""
        return sum(int(fold.train.sum()) for fold in self.folds) / len(self.folds)


def folds_asked(fit: Fit, cv: Any, seed: int, otherwise: str) -> JudgingFolds:
    """Return the folds that the argument `cv` asks for; each row is held out at most once.

    Raises
    ------
    InputError
        If `cv` is no number of folds, labels or splitter; `otherwise` ends the message.
    """
    rows, data = rows_to_divide(fit.design, fit.data), fit.data
    division = read_division(cv, rows, data.index, data.complete, otherwise=otherwise)
    folds = division.folds(rows, seed)
    check_held_out_once(folds)
    return JudgingFolds(folds, seed, division.words(len(folds), rows))


def folds_at_most(fit: Fit, k: int) -> JudgingFolds:
    """Return k folds, or as many as there can be, by the seed of the fit.

    Raises
    ------
    InputError
        If there is one group only, or if there are fewer than three times.
    """
    rows = rows_to_divide(fit.design, fit.data)
    k = min(k, most_folds(rows))
    if k < 2:
        raise InputError(
            "the size of the tree is to be found by cross-validation, and groups= and order= leave "
            "no two folds: give alpha= as a number, or alpha=None and max_leaves=None"
        )
    division, seed = Division(k), fit.control.seed
    return JudgingFolds(division.folds(rows, seed), seed, division.words(k, rows))
