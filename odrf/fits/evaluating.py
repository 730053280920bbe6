"""Errors of subtrees and stages of growth on held-out rows: folds, out of bag, or new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.folds import rows_to_divide
from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.oob import out_of_bag
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.judging.groups_of_rows import groups_of_rows
from odrf.fits.judging.judging_folds import JudgingFolds
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.prediction.scores import out_of_bag_losses
from odrf.fits.pruned import judged_folds
from odrf.fits.survival.by_deviance.trees_to_prune import trees_to_prune
from odrf.fits.survival.grown_response import grown_response
from odrf.fits.survival.judged.judged_by_deviance import deviances_of_new_rows, judged_by_deviance
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.pruning.complexity import (
    CHOICES,
    ERROR,
    IMPURITY,
    Subtrees,
    chosen_row,
    critical_alphas,
    nested_subtrees,
    pruned,
    root_errors,
)
from odrf.pruning.growth_stages import Stages, evaluated_stages, stage_alphas
from odrf.pruning.validation import (
    Fold,
    Growth,
    HeldOut,
    OutOfBagChoice,
    SubtreePath,
    chosen_elsewhere,
    common_alphas,
    cross_validated,
    folds_grown,
    geometric_means,
    held_out,
    held_out_sums,
    losses_of,
    subtree_path,
)
from odrf.public.progress import progress_bar
from odrf.text.layouts import quantity

__all__ = [
    "ForestSizes",
    "forest_sizes",
    "grown_without",
    "labelled_rows",
    "path_by_arrays",
    "path_by_folds",
    "path_by_rows",
    "root_error",
    "stages_by_folds",
    "stages_out_of_bag",
    "training_path",
]


@dataclass(frozen=True, eq=False)
class ForestSizes:
    """A forest pruned at increasing α, the same for each tree.

    Attributes
    ----------
    rule : {"weakest_link", "growth"}
        Which subtrees of each tree are candidates.
    table : DataFrame
        The table of `odrf.reports.forest_path.ForestPath`.
    fold : (n,) int64
        The fold of each training row.
    elsewhere : dict
        For "min" and "1se", which row of the table is chosen by the rows outside of each fold.
    """

    rule: str
    table: pd.DataFrame
    fold: NDArray[np.int64]
    elsewhere: dict[str, list[int]]

    def alpha(self, rule: str) -> float:
        """Return the α that `rule`, "min" or "1se", chooses."""
        return float(self.table["alpha"].iloc[chosen_row(self.table, rule)])

    def choice(self, rule: str, of_row: Callable[[int], float] | None = None) -> OutOfBagChoice:
        """Return the α that `rule` chooses for the rows of each fold by those of the others.

        `of_row` gives the α of a row of the table; by default it is the one in the table.
        """
        rows = self.elsewhere[rule]
        alphas = self.table["alpha"].to_numpy()[rows] if of_row is None else map(of_row, rows)
        return OutOfBagChoice(self.rule, self.fold, np.array(list(alphas))[:, None])


def grown_without(
    fit: Fit, cv: JudgingFolds, n_jobs: int, progress: bool, loss: str = ERROR
) -> tuple[Growth, list[Fold]]:
    """Return the rows, and trees grown on the training rows of each fold by the same options.

    Trees for times to an event are described as `loss` prunes them.
    """
    design, data, control = fit.design, fit.data, fit.control
    response = grown_response(data, control)
    growth = Growth(
        data.X,
        response.y,
        response.weights,
        design.feature_groups,
        fit.samplings[0],
        control.settings,
        control.mixture,
        data.codes,
        response.ranks,
        judged_by_deviance(fit, loss),
        response.case_weights(data.weights),
    )
    with progress_bar(total=len(cv.folds), unit="fold", progress=progress) as bar:
        return growth, folds_grown(growth, cv.folds, cv.seed, n_jobs, bar.update)


def training_path(fit: Fit, rule: str, loss: str) -> SubtreePath:
    """Return the subtrees of the fit with their training errors only."""
    return _path(fit, _subtrees(fit, rule, loss), rule, loss, None, "")


def path_by_folds(
    fit: Fit, rule: str, loss: str, cv: JudgingFolds, n_jobs: int, progress: bool
) -> SubtreePath:
    """Evaluate the subtrees of the fit by cross-validation.

    If the fit was pruned, trees of folds are pruned as much, at least.

    Raises
    ------
    InputError
        If the fit was pruned in another way, so that no α gives it.
    """
    subtrees = nested_subtrees(trees_to_prune(fit, loss), rule, loss)
    cut_at = _cut_at(fit, subtrees, rule, loss)
    if cut_at is None:
        raise InputError(
            f'this tree was pruned in another way than by pruning="{rule}" and loss="{loss}", '
            "which give it at no alpha, so trees of folds cannot be pruned alike: use "
            "pruning_path() of its parent, newdata=, or cv=None"
        )
    subtrees = subtrees.beginning_at(cut_at)
    growth, folds = grown_without(fit, cv, n_jobs, progress, loss)
    # several values of a node are hazards of causes here, not shares of classes
    by = loss if growth.judging is None else IMPURITY
    critical = partial(critical_alphas, rule=rule, loss=by)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = cross_validated(growth, folds, critical, geometric_means(subtrees.alpha), groups)
    return _path(fit, subtrees, rule, loss, held, cv.by)


def _cut_at(fit: Fit, subtrees: Subtrees, rule: str, loss: str) -> float | None:
    """Return the α at which the fit was cut, by its rule and loss; None if there is no such α."""
    if fit.pruning is None:
        return 0.0
    return subtrees.cut_at(critical_alphas(trees_to_prune(fit.first_grown, loss), rule, loss))


def _subtrees(fit: Fit, rule: str, loss: str) -> Subtrees:
    """Return the subtrees of the fit, from the α on at which it was cut, if there is one."""
    subtrees = nested_subtrees(trees_to_prune(fit, loss), rule, loss)
    return subtrees.beginning_at(_cut_at(fit, subtrees, rule, loss) or 0.0)


def _path(
    fit: Fit, subtrees: Subtrees, rule: str, loss: str, held: HeldOut | None, by: str
) -> SubtreePath:
    return subtree_path(subtrees, rule, loss, root_error(fit), held, by)


def root_error(fit: Fit) -> float:
    """Return the error of the root on the training rows.

    A node of an honest tree knows only the rows that give it its value: a half of them.
    """
    forest, data = fit.forest, fit.data
    if not fit.control.honest or isinstance(fit, SurvivalFit):
        return float(root_errors(forest)[0])
    value = np.broadcast_to(forest.value[:1], (len(data.y), forest.value.shape[1]))
    return float(np.average(losses_of(value, data.y, bool(forest.ordered)), weights=data.weights))


def labelled_rows(
    fit: Fit, rows: pd.DataFrame, argument: str
) -> tuple[Fit, Matrix, NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the fit to read the complete rows, their predictors (p, m), responses and groups (m,).

    The groups are those of `groups_of_rows`.

    Raises
    ------
    InputError
        If there are none; the message names the `argument` that gave the rows.
    """
    X, complete = fit.design.matrix(rows)
    y = fit.design.response.numbers(rows[complete])
    if len(y) == 0:
        raise InputError(
            f"{argument}= has no complete rows: give rows without missing values in the response "
            "and the predictors"
        )
    reading, X = reading_empty_cells(fit, X)
    return cast(Fit, reading), X, y, groups_of_rows(fit, rows, complete)


def path_by_rows(fit: Fit, rule: str, loss: str, rows: pd.DataFrame) -> SubtreePath:
    """Evaluate the subtrees of the fit on the rows of a data frame."""
    if isinstance(fit, SurvivalFit):
        subtrees = _subtrees(fit, rule, loss)
        held = deviances_of_new_rows(fit, subtrees, rows)
        return _path(fit, subtrees, rule, loss, held, quantity(round(held.weight), "new row"))
    fit, X, y, groups = labelled_rows(fit, rows, "newdata")
    by = quantity(len(y), "new row")
    return path_by_arrays(fit, rule, loss, X, y, np.ones(len(y)), by, groups)


def path_by_arrays(
    fit: Fit,
    rule: str,
    loss: str,
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    by: str,
    groups: NDArray[np.int64] | None = None,
) -> SubtreePath:
    """Evaluate the subtrees of the fit on rows X (p, m) with responses y and weights (m,).

    `by` names these rows in words.  Rows of one group, of `groups` (m,), count as one unit.
    """
    subtrees = _subtrees(fit, rule, loss)
    held = held_out(fit.forest, subtrees.critical, subtrees.alpha, X, y, weights, groups)
    return _path(fit, subtrees, rule, loss, held, by)


def forest_sizes(fit: Fit, rule: str, progress: bool = False) -> ForestSizes:
    """Evaluate the fit's forest out of bag, pruned at increasing α."""
    critical = critical_alphas(fit.forest, rule)
    data, draws, fold = fit.data, fit.draws, judged_folds(fit)
    alphas = common_alphas(critical)
    require_memory(
        8.0 * len(alphas) * data.n_rows,
        f"the losses of {data.n_rows} rows at {len(alphas)} sizes",
        "use fewer rows",
    )
    leaves, losses = [], np.empty((len(alphas), len(data.y)))
    weights = data.weights
    for k, alpha in enumerate(progress_bar(alphas, unit="size", progress=progress)):
        forest = pruned(fit.forest, critical, float(alpha))
        leaves.append(float(forest.leaves().mean()))
        value = out_of_bag(forest, data.X, data.y, draws).value
        losses[k], weights = out_of_bag_losses(fit, value)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = held_out_sums(losses, weights, groups)
    table = pd.DataFrame(
        {"alpha": alphas, "leaves": leaves, "error": held.mean, "std_error": held.standard_error}
    )
    of_folds = [
        held_out_sums(losses[:, rows], weights[rows], None if groups is None else groups[rows])
        for rows in (fold == f for f in range(int(fold.max()) + 1))
    ]
    elsewhere = {choice: chosen_elsewhere(of_folds, choice) for choice in CHOICES}
    return ForestSizes(rule, table, fold, elsewhere)


def stages_by_folds(
    fit: Fit, stages: Stages, n_jobs: int, *, along: str, cv: JudgingFolds, progress: bool
) -> HeldOut:
    """Evaluate the fit's tree at each of its stages by cross-validation, the largest size first."""
    growth, folds = grown_without(fit, cv, n_jobs, progress)
    groups = rows_to_divide(fit.design, fit.data).groups
    return cross_validated(growth, folds, partial(stage_alphas, along=along), stages.alpha, groups)


def stages_out_of_bag(fit: Fit, stages: Stages, n_jobs: int, progress: bool) -> HeldOut:
    """Evaluate the fit's forest at each of its stages out of bag, the largest size first."""
    data = fit.data
    unseen = fit.draws._replace(n_jobs=n_jobs).all_unseen()
    groups = rows_to_divide(fit.design, data).groups
    with progress_bar(
        total=len(data.y), desc="out-of-bag rows", unit="row", progress=progress
    ) as bar:
        return evaluated_stages(
            fit.forest, stages, data.X, data.y, data.weights, n_jobs, unseen, bar.update, groups
        )
