"""By how much the losses of rows grow when variables lose what they alone tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import (
    FoldRows,
    check_training_rows,
    fold_numbers,
    most_folds,
    rows_to_divide,
)
from odrf.design.new_rows import with_values
from odrf.engine.factors import Matrix, with_rows
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit
from odrf.fits.importance_tests.distinct_draws import distinct_draws
from odrf.fits.importance_tests.grown_alike import grown_alike
from odrf.fits.importance_tests.stand_ins import laws_given_others, stand_ins
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.raw_rows import raw_rows

__all__ = ["CONDITIONAL", "DRAWS", "LOCO", "LossRises", "loss_rises"]

CONDITIONAL, LOCO = "conditional", "loco"
FOLDS, FIRST_JUDGED = 5, 2
DRAWS = 10


class LossRises(NamedTuple):
    """Rises of the losses of rows that did not grow what predicts them.

    Attributes
    ----------
    rises : (T, m) float64
        Of each set of variables and each row.
    rows : (m,) int64
        Which training rows these are.
    inflation : float
        How many times the variance over rows the variance of the mean rise is; see `_inflation`.
    """

    rises: NDArray[np.float64]
    rows: NDArray[np.int64]
    inflation: float


def loss_rises(
    fit: AnyFit,
    sets: Sequence[Sequence[str]],
    type: str,
    n_draws: int = DRAWS,
    advance: Callable[[], object] = lambda: None,
) -> LossRises:
    """Return the rises of the losses for sets of variables.

    The rows are five folds in random order, or in time.  Each of the last three judges the fit
    grown again on the folds before it.  The loss is the
    squared error, for classes the sum of the squared differences of indicators and probabilities.
    For ``"conditional"`` the rows that judge get stand-ins for the variables.  For ``"loco"`` the
    fit is grown again on stand-ins.  The loss is the mean over some draws of the rows that judge.

    Parameters
    ----------
    fit : AnyFit
    sets : sequence of T sequences of str
        The variables that get stand-ins together.
    type : {"conditional", "loco"}
    n_draws : int
        Draws of the stand-ins of the rows that judge.  Of one draw, rises are symmetric about 0 if
        the variable tells nothing; means over more draws vary less, but are skewed.
    advance : callable
        Called after each set.

    Raises
    ------
    InputError
        There are too few rows; a variable can have no stand-ins.
    """
    folds, control = _judging_folds(fit), fit.control
    frame, X, n = raw_rows(fit).frame, fit.data.X, fit.data.n_rows
    full = np.full(n, np.nan)
    grown = [grown_alike(fit, fit.data, fold.train) for fold in folds]
    for of_fold, fold in zip(grown, folds, strict=True):
        rows = np.flatnonzero(fold.test)
        full[rows] = _losses(fit, of_fold, with_rows(X, rows), rows)
    rises = np.zeros((len(sets), n))
    for t, names in enumerate(sets):
        laws = laws_given_others(frame, names, control.seed, control.n_jobs)
        rng = np.random.default_rng([control.seed, t])
        draws = [
            with_values(fit.design, frame, X, stand_ins(frame, laws, rng))
            for _ in range(n_draws + 1)
        ]
        for of_fold, fold in zip(grown, folds, strict=True):
            rows = np.flatnonzero(fold.test)
            judged, of_rows = of_fold, with_rows(X, rows)
            unchanged = full[rows]
            if type == LOCO:
                judged = grown_alike(fit, replace(fit.data, X=draws[-1]), fold.train)
                unchanged = _losses(fit, judged, of_rows, rows)
            drawn = distinct_draws(of_rows, [with_rows(draw, rows) for draw in draws[:-1]])
            loss = _losses(fit, judged, drawn.changed, rows[drawn.row])
            losses, changed = np.tile(unchanged, (n_draws, 1)), drawn.number >= 0
            losses[changed] = loss[drawn.number[changed]]
            rises[t, rows] = ((losses - full[rows]) / n_draws).sum(axis=0)
        advance()
    rows = np.flatnonzero(~np.isnan(full) & (fit.data.weights > 0))
    return LossRises(rises[:, rows], rows, _inflation(type, folds))


def _inflation(type: str, folds: Sequence[FoldRows]) -> float:
    """Return how many times the variance over rows the variance of the mean rise is.

    For ``"conditional"`` it is the same fit that has both losses.  For ``"loco"`` there are two
    fits, of which chance makes one better, and all rows that judge see the same two.  For least
    squares on m columns of noise, with coefficients β on the variables and γ on their stand-ins,
    both of variance σ²/N from N training rows, the difference of the two risks is |γ|² - |β|², of
    variance 4mσ⁴/N²; the mean over M rows of the rises 2ε(βx - γz) has the variance 8mσ⁴/(NM).  So
    the first is M/(2N) of the second.  A fit that averages shrinks such coefficients, and by as
    much the first beside the second.  So one half of it is added, which is in the middle between no
    shrinking and shrinking to 0.
    """
    if type == CONDITIONAL:
        return 1.0
    N = np.mean([fold.train.sum() for fold in folds])
    return float(1.0 + sum(fold.test.sum() for fold in folds) / (4 * N))


def _losses(fit: AnyFit, grown: AnyFit, X: Matrix, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the losses (m,) of some rows as they are in X (p, m), by what grew without them."""
    if not len(rows):
        return np.empty(0)
    offset = fit.offset.values[rows] if isinstance(fit, BoostedFit) else None
    value = expected_response(grown, X, offset)
    y, K = fit.data.y[rows], fit.design.response.n_classes
    target = y[:, None] if K == 1 else np.eye(K)[y.astype(np.int64)]
    return np.asarray(((value - target) ** 2).sum(axis=1))


def _judging_folds(fit: AnyFit) -> list[FoldRows]:
    """Return folds of which each is judged by trees of those before it: the last three of five.

    If each fold were judged by all others, two folds would share what chance put into them, and the
    mean over both would vary more than that of as many independent rows.  In a sequence, the rise
    of a fold is 0 on average given all folds before it, so that the rises are uncorrelated.
    """
    rows = rows_to_divide(fit.design, fit.data)
    if min(most_folds(rows), int((fit.data.weights > 0).sum()) // 2) < FOLDS:
        raise InputError(
            "tests of importance hold rows out, and there are too few rows, groups or times: fit "
            'with more, or use type="impurity"'
        )
    block = fold_numbers(rows, FOLDS, fit.control.seed)
    folds = [FoldRows(block < j, block == j) for j in range(FIRST_JUDGED, FOLDS)]
    check_training_rows(folds, rows, "tests of importance: fit with more rows of each class")
    return folds
