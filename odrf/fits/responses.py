"""Predicted responses: expected, of training rows, out of bag; and validation rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.design.encoding import unseen_levels_expected
from odrf.design.folds import (
    Division,
    FoldRows,
    check_held_out_once,
    most_folds,
    read_division,
    rows_to_divide,
)
from odrf.engine.boosting.runs import added_up_by_run, mean_of_other_runs
from odrf.engine.factors import Matrix
from odrf.engine.oob import OutOfBag, out_of_bag, out_of_bag_by_fold
from odrf.engine.resamples import BOOTSTRAP, n_drawn
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError, warn_user
from odrf.fits.fit import AnyFit, BoostedFit, Fit, Pruning
from odrf.fits.missing import reading_empty_cells
from odrf.fits.predicting import RowsToPredict, mean_values
from odrf.fits.stack.fit import StackedFit
from odrf.fits.stack.smoothers import KernelSmoother
from odrf.fits.stack.weights import put_together
from odrf.pruning.complexity import critical_alphas, pruned
from odrf.pruning.validation import OutOfBagChoice, losses_of
from odrf.statistics.jackknife import weighted_mean

# A tree that drew a row has seen its response.  So the mean over all trees is too close to the
# responses of the training rows, and residuals from it are too small.

OUT_OF_BAG, IN_BAG = "out-of-bag", "in-bag"

Predict = TypeVar("Predict", bound=Callable[..., Any])
Rows = TypeVar("Rows", pd.Series, pd.DataFrame)


def leaves_rows_out(fit: AnyFit) -> bool:
    """Return whether the options of a forest, or of boosting, leave rows out of some bags."""
    if isinstance(fit, StackedFit):
        return True
    if isinstance(fit, BoostedFit):
        return fit.control.n_runs > 1
    if not isinstance(fit, Fit) or fit.control.resample == "none":
        return False
    n = int((fit.data.weights > 0).sum())
    return any(each.resample == BOOTSTRAP or n_drawn(each, n) < n for each in fit.samplings)


def asked_out_of_bag(training: Any, newdata: pd.DataFrame | None, leaves_out: bool) -> bool:
    """Return whether rows are to be predicted out of bag, by arguments of `predict`.

    `leaves_out`: whether the fit has out-of-bag rows.  Raises `InputError` if `training` is
    unknown, is given with `newdata`, or needs out-of-bag rows that the fit does not have.
    """
    if training is None:
        return leaves_out and newdata is None
    checked_choice("training", training, (OUT_OF_BAG, IN_BAG))
    if newdata is not None:
        raise InputError(
            f"training={training!r} says how training rows are predicted, and all trees predict "
            "newdata=: leave one of them out"
        )
    if training == OUT_OF_BAG and not leaves_out:
        raise InputError(
            'training="out-of-bag" is for forests of odrf() whose trees leave rows out, and for '
            'boosted trees of several runs; this fit is neither: use training="in-bag", or fit '
            'with resample="bootstrap", or n_runs=10 in odbt()'
        )
    return bool(training == OUT_OF_BAG)


def training_rows(fit: AnyFit, oob: NDArray[np.float64] | None) -> RowsToPredict:
    """Return the training rows, to be predicted by all trees or, with values `oob`, out of bag."""
    index = fit.data.index
    return RowsToPredict(fit, fit.data.X, np.ones(len(index), dtype=bool), index, oob)


def warn_of_rows_always_drawn(oob: NDArray[np.float64], drawn_by: str) -> None:
    """Warn if rows have no out-of-bag value in `oob` (n, K); `drawn_by` is "tree" or "run"."""
    always = int(np.isnan(oob[:, 0]).sum())
    if always:
        warn_user(
            f"every {drawn_by} sampled {always} of {len(oob)} rows, whose out-of-bag predictions "
            f'are missing: fit more {drawn_by}s, or use predict(training="in-bag")'
        )


def residuals(fit: AnyFit, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return response minus mean (n,), or 1 minus the probability of the class, by `value`."""
    return residuals_of(fit.data.y, value, fit.design.response.classes is not None)


def residuals_of(
    y: NDArray[np.float64], value: NDArray[np.float64], classes: bool
) -> NDArray[np.float64]:
    """Return the residuals (n,) of responses or codes of `classes` y (n,), NaN where y is."""
    if not classes:
        return y - value[:, 0]
    known = ~np.isnan(y)
    resid = np.full(len(y), np.nan)
    resid[known] = 1.0 - value[known, y[known].astype(np.int64)]
    return resid


def with_rows_apart(
    fit: AnyFit, own: Rows, predict: Callable[[pd.DataFrame], Rows], out_of_bag: bool
) -> Rows:
    """Return results of the training rows, `own`, with those of the rows of weight 0 among them.

    No tree has drawn these; but trees may have drawn others of their groups, or later ones: then
    `out_of_bag` results are missing.
    """
    apart, of_rows = fit.data.apart, fit.data.structure
    if apart is None:
        return own
    with unseen_levels_expected():
        others = predict(apart.frame)
    together = of_rows is not None and (of_rows.groups is not None or of_rows.order is not None)
    if out_of_bag and together:
        others = others.mask(np.ones(others.shape, dtype=bool))
    return apart.among(own, others)


def predicting_rows_apart(predict: Predict) -> Predict:
    """Let a method ``predict(newdata=None, …)`` predict rows of weight 0 with the training rows."""

    @wraps(predict)
    def predicted(self: Any, newdata: Any = None, *args: Any, **options: Any) -> Any:
        own = predict(self, newdata, *args, **options)
        if newdata is not None:
            return own
        as_new = {**options, "training": None}
        leaves = "leaf" in (options.get("type"), *args)
        evaluated = options.get("training") != IN_BAG and not leaves and leaves_rows_out(self.fit)
        return with_rows_apart(
            self.fit, own, lambda rows: predict(self, rows, *args, **as_new), evaluated
        )

    return predicted  # type: ignore[return-value]


def require_out_of_bag(fit: Fit, what: str, instead: str = "") -> None:
    """Raise `InputError`, which `instead` ends, if all trees use all rows; `what` needs others."""
    if leaves_rows_out(fit):
        return
    if fit.control.resample == "none":
        raise InputError(
            f'{what} need out-of-bag rows, and resample="none" leaves none: '
            f'fit with resample="bootstrap" or "subsample"{instead}'
        )
    raise InputError(
        f"{what} need out-of-bag rows, and sample_fraction={fit.control.sample_fraction:g} leaves "
        f"none: fit with a lower one{instead}"
    )


def forest_out_of_bag(fit: Fit) -> OutOfBag:
    """Return the out-of-bag predictions of a forest, and its error by the number of trees.

    If out-of-bag rows have chosen how the trees are pruned, each row is predicted by the trees as
    the other rows would prune them: see `odrf.pruning.validation`.
    """
    require_out_of_bag(fit, "Out-of-bag results")
    X, y, draws, pruning = fit.data.X, fit.data.y, fit.draws, fit.pruning
    if pruning is None or pruning.choice is None:
        return out_of_bag(fit.forest, X, y, draws)
    choice = pruning.choice
    return out_of_bag_by_fold(_by_other_folds(pruning, choice), choice.fold, X, y, draws)


def _by_other_folds(pruning: Pruning, choice: OutOfBagChoice) -> list[Forest]:
    """Return for each fold of `choice` the forest as the rows of the other folds would prune it."""
    grown = pruning.grown
    while (earlier := _choice_of(grown.pruning)) is not None and earlier.rule == choice.rule:
        assert grown.pruning is not None  # it has a choice, which `choice` contains
        grown = grown.pruning.grown
    if grown.pruning is None or earlier is None:
        critical = critical_alphas(grown.forest, choice.rule)
        return [pruned(grown.forest, critical, alpha) for alpha in choice.alphas]
    # rows have chosen before, among the subtrees of another rule
    return [
        pruned(forest, critical_alphas(forest, choice.rule), alpha)
        for forest, alpha in zip(
            _by_other_folds(grown.pruning, earlier), choice.alphas, strict=True
        )
    ]


def _choice_of(pruning: Pruning | None) -> OutOfBagChoice | None:
    return None if pruning is None else pruning.choice


def boosted_out_of_bag(fit: BoostedFit) -> NDArray[np.float64]:
    """Return the scores (K, n) of each row by the runs that did not sample it, with its offset."""
    if fit.control.n_runs == 1:
        raise InputError(
            "out-of-bag results need several runs: fit with n_runs=10 or so, or hold rows out by "
            "validation="
        )
    boosted = fit.boosted
    scores = added_up_by_run(boosted.forest, fit.data.X, boosted.starts, fit.control.n_jobs)
    return mean_of_other_runs(list(scores), rows_missed(fit)) + fit.offset.values


def rows_missed(fit: Fit | BoostedFit) -> NDArray[np.bool_]:
    """Return the rows (M, n) that each tree, or run, did not sample; no run draws held-out rows."""
    if isinstance(fit, Fit):
        return fit.draws.all_unseen()
    missed = np.ones((fit.control.n_runs, len(fit.data.y)), dtype=bool)
    missed[:, ~fit.held] = [run.missed for run in fit.boosted.drawn]
    return missed


def validation_rows(fit: BoostedFit, value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows (n,) have an out-of-bag value (n, K) and a weight."""
    return ~np.isnan(value[:, 0]) & (fit.data.weights > 0)


def boosted_error(fit: BoostedFit, value: NDArray[np.float64]) -> float:
    """Return the mean squared error or misclassification rate of out-of-bag values (n, K)."""
    data, known = fit.data, validation_rows(fit, value)
    if not known.any():
        raise InputError("every run sampled every row: use more runs, as in n_runs=10")
    losses = losses_of(value[known], data.y[known], fit.ordered)
    return weighted_mean(losses, data.weights[known])


def expected_response(
    fit: AnyFit,
    X: Matrix,
    offset: NDArray[np.float64] | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the mean response (n, 1) or the class probabilities (n, K) of rows X (p, n).

    X has NaN for missing cells in columns without any in training.  `offset` (n,) are those of
    boosted trees, by default 0.
    """
    if isinstance(fit, StackedFit):
        return _of_parts(fit, X, offset, advance)
    fit, X = reading_empty_cells(fit, X)
    if not isinstance(fit, BoostedFit):
        return mean_values(fit, X, advance)
    offsets = np.zeros(X.shape[1]) if offset is None else offset
    return fit.loss.means(fit.scores(X, offsets, advance))


def _of_parts(
    fit: StackedFit, X: Matrix, offset: NDArray[np.float64] | None, advance: Callable[[int], object]
) -> NDArray[np.float64]:
    """Return the expected responses of a stack, from those of its parts."""
    values, weights = [], []
    for part, weight in zip(fit.parts, fit.weights, strict=True):
        if weight > 0:
            if isinstance(part.fit, KernelSmoother):
                value = part.fit.values(X)
            else:
                used = X if part.columns is None else X[part.columns]
                value = expected_response(part.fit, used, offset)
            values.append(value if part.base is None else value + part.base.values(X)[:, None])
            weights.append(weight)
    advance(X.shape[1])
    return put_together(values, weights, fit.power)


def groups_of_rows(
    fit: AnyFit, newdata: pd.DataFrame | None, used: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return codes of the groups of the `used` rows, of training or new; None without groups."""
    structure = None if fit.rows is None else fit.rows.structure
    if structure is None or structure.groups is None:
        return None
    if newdata is None:
        return structure.groups[used]
    column = structure.columns.get("groups")
    if column is None or column not in newdata.columns:
        return None
    return pd.factorize(newdata[column][used], use_na_sentinel=False)[0].astype(np.int64)


class ValidationFolds(NamedTuple):
    """Folds, the seed of their trees, and the name of the method."""

    folds: list[FoldRows]
    seed: int
    by: str

    @property
    def mean_rows(self) -> float:
        """Mean number of training rows."""
        return sum(int(fold.train.sum()) for fold in self.folds) / len(self.folds)


def folds_asked(fit: AnyFit, cv: Any, seed: int, otherwise: str) -> ValidationFolds:
    """Return the folds of the argument `cv`, which do not overlap; `otherwise` ends an error."""
    rows, data = rows_to_divide(fit.design, fit.data), fit.data
    division = read_division(cv, rows, data.index, data.complete, otherwise=otherwise)
    folds = division.folds(rows, seed)
    check_held_out_once(folds)
    return ValidationFolds(folds, seed, division.words(len(folds), rows))


def folds_at_most(fit: Fit, k: int) -> ValidationFolds:
    """Return k folds, or as many as there can be, by the seed of the fit."""
    rows = rows_to_divide(fit.design, fit.data)
    k = min(k, most_folds(rows))
    if k < 2:
        raise InputError(
            "the size of the tree is to be found by cross-validation, and groups= and order= leave "
            "no two folds: give alpha= as a number, or alpha=None and max_leaves=None"
        )
    division, seed = Division(k), fit.control.seed
    return ValidationFolds(division.folds(rows, seed), seed, division.words(k, rows))
