"""Out-of-bag predictions: those of the trees, or runs, that did not draw a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.runs import added_up_by_run, mean_of_other_runs
from odrf.engine.oob import OutOfBag, out_of_bag, out_of_bag_by_fold
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import Fit, Pruning
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.pruning.complexity import critical_alphas, pruned
from odrf.pruning.validation import OutOfBagChoice, losses_of
from odrf.statistics.jackknife import weighted_mean

__all__ = [
    "boosted_error",
    "boosted_out_of_bag",
    "forest_out_of_bag",
    "judging_rows",
    "require_out_of_bag",
    "rows_missed",
]


def require_out_of_bag(fit: Fit, what: str, instead: str = "") -> None:
    """Raise `InputError` if every tree uses all rows; the message says that `what` need others.

    `instead` ends the message, with another way out.
    """
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

    Raises
    ------
    InputError
        If every tree uses all rows.
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
    """Return the scores (K, n) of each row by the runs that did not draw it, with its offset.

    Raises
    ------
    InputError
        If there is only one run.
    """
    if fit.control.n_runs == 1:
        raise InputError(
            "out-of-bag results need several runs: fit with n_runs=10 or so, or hold rows out by "
            "validation="
        )
    boosted = fit.boosted
    scores = added_up_by_run(boosted.forest, fit.data.X, boosted.starts, fit.control.n_jobs)
    return mean_of_other_runs(list(scores), rows_missed(fit)) + fit.offset.values


def rows_missed(fit: BoostedFit) -> NDArray[np.bool_]:
    """Return the rows (M, n) that each run did not draw; no run draws held-out rows."""
    missed = np.ones((fit.control.n_runs, len(fit.data.y)), dtype=bool)
    missed[:, ~fit.held] = [run.missed for run in fit.boosted.drawn]
    return missed


def judging_rows(fit: BoostedFit, value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows (n,) have an out-of-bag value (n, K) and a weight."""
    return ~np.isnan(value[:, 0]) & (fit.data.weights > 0)


def boosted_error(fit: BoostedFit, value: NDArray[np.float64]) -> float:
    """Return the mean squared error or misclassification rate of out-of-bag values (n, K).

    Raises
    ------
    InputError
        If every run drew every row.
    """
    data, known = fit.data, judging_rows(fit, value)
    if not known.any():
        raise InputError("every run drew every row: use more runs, as in n_runs=10")
    losses = losses_of(value[known], data.y[known], fit.ordered)
    return weighted_mean(losses, data.weights[known])
