"""Pruning a fit: errors of its subtrees on validation rows, and the size that options choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits
from odrf.checks import is_number, is_whole
from odrf.design import Design, TrainingData
from odrf.design.folds import fold_numbers, most_folds, rows_to_divide
from odrf.design.response import SURVIVAL
from odrf.engine.factors import Matrix
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.memory import require_memory
from odrf.engine.oob import out_of_bag
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.fit import Fit, Pruning
from odrf.fits.growing import grow_fit, grown_with_lines, targets_of
from odrf.fits.missing import reading_empty_cells
from odrf.fits.responses import ValidationFolds, folds_at_most, groups_of_rows, require_out_of_bag
from odrf.fits.scores import out_of_bag_losses
from odrf.options import words
from odrf.options.options import Options
from odrf.options.sizes import CV, FIXED, ONE_SE, RATE, Rule, rate_along
from odrf.pruning import complexity, validation
from odrf.pruning.growth_stages import (
    ALPHA_RATES,
    LEAF_RATES,
    LEAVES,
    Stages,
    evaluated_stages,
    stage_alphas,
)
from odrf.public.progress import progress_bar
from odrf.text.layouts import quantity

# Pruning a fit: some of its splits are switched off.


def checked_alpha(alpha: Any) -> float:
    """Return `alpha`; raise `InputError` unless it is a number of at least 0."""
    if not is_number(alpha) or not float(alpha) >= 0:
        raise InputError(f"alpha={alpha!r}: use a number of at least 0")
    return float(alpha)


def checked_leaves(leaves: Any, most: int) -> int:
    """Return `leaves`; raise `InputError` unless it is a whole number from 1 to `most`."""
    if not is_whole(leaves) or not 1 <= leaves <= most:
        raise InputError(
            f"leaves={leaves!r} is out of range: this tree has {most} leaves, "
            f"so use a whole number from 1 to {most}"
        )
    return int(leaves)


def pruned_at(
    fit: Fit,
    alpha: float,
    rule: str,
    option: str,
    loss: str = complexity.ERROR,
    path: validation.SubtreePath | None = None,
    choice: validation.OutOfBagChoice | None = None,
) -> Fit:
    """Return the fit with every tree pruned at the complexity parameter `alpha`.

    Candidates are the subtrees by `rule`, "weakest_link" or "growth"; `loss`, "error", "impurity"
    or "log_rank", measures the training error. `option` is the argument of `prune` as the call is
    to show it; empty if the options of the fit prune. `path` is the pruning path of the tree, if
    known; `choice`, if out-of-bag rows have chosen `alpha`, the α that they choose for each other.
    """
    trees = trees_by_loss(fit, loss)
    critical = complexity.critical_alphas(trees, rule, loss) if path is None else path.critical
    forest = replace(fit.forest, left=complexity.pruned(trees, critical, alpha, loss).left)
    if loss == complexity.ERROR:
        choice = _after_earlier(fit, choice, rule, alpha)
    smaller = with_forest(fit, forest, option, path, choice)
    largest, chosen = fit.control.alpha, fit.control.alpha_rule
    if loss != complexity.LOG_RANK:  # the option alpha= is on the scale of errors
        # the fit may have been pruned at a larger α before
        largest = max(alpha, largest or 0.0)
    if option and largest != fit.control.alpha:
        chosen = Rule(FIXED)
    control = replace(fit.control, alpha=largest, alpha_rule=chosen, pruning=rule)
    return replace(smaller, control=control)


def pruned_unseen(fit: Fit, rule: str, progress: bool = False) -> Fit:
    """Return the fit with each tree pruned at the best α for its out-of-bag rows."""
    critical = complexity.critical_alphas(fit.forest, rule)
    data, fold = fit.data, evaluated_folds(fit)
    with progress_bar(total=fit.forest.n_trees, unit="tree", progress=progress) as bar:
        alpha, elsewhere = validation.out_of_bag_alphas(
            fit.forest, critical, data.X, data.y, fit.draws, fold, bar.update
        )
    kept = fit.forest.keeping(critical > np.repeat(alpha, np.diff(fit.forest.root)))
    choice = _after_earlier(fit, validation.OutOfBagChoice(rule, fold, elsewhere), rule)
    return with_forest(fit, kept, 'rule="oob"', choice=choice)


def _after_earlier(
    fit: Fit, choice: validation.OutOfBagChoice | None, rule: str, alpha: float = 0.0
) -> validation.OutOfBagChoice | None:
    """Return the α that out-of-bag rows choose for each other, of a fit perhaps pruned before.

    By the same rule they choose among subtrees of the same trees twice, and the larger α holds:
    that of `choice`, or `alpha` if this time they have not chosen it.
    """
    before = None if fit.pruning is None else fit.pruning.choice
    if before is None:
        return choice
    alphas = np.full((len(before.alphas), 1), alpha) if choice is None else choice.alphas
    if before.rule == rule:
        alphas = np.maximum(before.alphas, alphas)
    return validation.OutOfBagChoice(rule, before.fold, alphas)


def evaluated_folds(fit: Fit) -> NDArray[np.int64]:
    """Return the fold (n,) of each training row, to evaluate choices of out-of-bag rows."""
    rows = rows_to_divide(fit.design, fit.data)
    k = max(2, min(validation.JUDGED_FOLDS, most_folds(rows)))
    return fold_numbers(rows, k, fit.control.seed)


def with_forest(
    fit: Fit,
    forest: Forest,
    option: str,
    path: validation.SubtreePath | None = None,
    choice: validation.OutOfBagChoice | None = None,
) -> Fit:
    """Return the fit with the pruned trees `forest`; the other arguments as in `pruned_at`."""
    call = f"{fit.call}.prune({option})" if option else fit.call
    return replace(fit, forest=forest, call=call, pruning=Pruning(fit, not option, path, choice))


def before_pruning(fit: Fit, doing: str) -> Fit:
    """Return the fit as it was before its options pruned it.

    Raises `InputError` if a call of `prune` pruned it; the message starts with `doing`.
    """
    if fit.pruning is None:
        return fit
    if not fit.pruning.by_options:
        raise InputError(
            f"{doing} that prune() has pruned: use its parent instead, and prune the result"
        )
    return fit.pruning.grown


def cut_by_call(fit: Fit) -> tuple[str, float | None] | None:
    """Return the last call of `prune` that cut something, and the α that it set; None without one.

    A call may set the number of leaves alone: then α is None.
    """
    if fit.pruning is None:
        return None
    before, alpha = fit.pruning.grown, fit.control.alpha
    called = fit.call.removeprefix(f"{before.call}.")
    if not called.startswith("prune("):
        return None
    if (fit.forest.is_split() == before.forest.is_split()).all():
        return cut_by_call(before)
    return called, None if alpha == before.control.alpha else alpha


# Errors of subtrees and stages of growth on validation rows: folds, out of bag, or new rows.


@dataclass(frozen=True, eq=False)
class ForestSizes:
    """A forest pruned at increasing α, the same for each tree.

    `fold` (n,).  `elsewhere`: fold.
    """

    rule: str
    table: pd.DataFrame
    fold: NDArray[np.int64]
    elsewhere: dict[str, list[int]]

    def alpha(self, rule: str) -> float:
        """Return the α that `rule`, "min" or "1se", chooses."""
        return float(self.table["alpha"].iloc[complexity.chosen_row(self.table, rule)])

    def choice(
        self, rule: str, of_row: Callable[[int], float] | None = None
    ) -> validation.OutOfBagChoice:
        """Return the α that `rule` chooses for the rows of each fold by those of the others.

        `of_row` gives the α of a row of the table; by default it is the one in the table.
        """
        rows = self.elsewhere[rule]
        alphas = self.table["alpha"].to_numpy()[rows] if of_row is None else map(of_row, rows)
        return validation.OutOfBagChoice(self.rule, self.fold, np.array(list(alphas))[:, None])


def grown_without(
    fit: Fit, cv: ValidationFolds, n_jobs: int, progress: bool, loss: str = complexity.ERROR
) -> tuple[validation.EvaluationRows, list[validation.Fold]]:
    """Return the rows, and trees grown on the training rows of each fold by the same options.

    Impurities of trees for survival times are those by which `loss` prunes them.
    """
    design, data, control = fit.design, fit.data, fit.control
    y, weights, _, ranks, case_weights = targets_of(data, control)
    rows = validation.EvaluationRows(data.X, y, weights)
    if data.times is not None:
        rows = fits.survival.pruning.evaluated_by_deviance(fit, loss)

    def grow(of_fold: tuple[NDArray[np.bool_], NDArray[np.uint64]]) -> Forest:
        train, stream = of_fold
        if control.leaves == "linear":
            return grown_with_lines(design, data, control, np.where(train, weights, 0.0))
        builder = TreeGrower(
            data.X, y, np.where(train, weights, 0.0), design.feature_groups, fit.samplings[0],
            control.settings, control.mixture, 1, 1, data.codes, ranks, case_weights,
        )  # fmt: skip
        tree = builder(stream)
        return tree if rows.described is None else rows.described(tree, train, stream[None])

    with progress_bar(total=len(cv.folds), unit="fold", progress=progress) as bar:
        return rows, validation.folds_grown(grow, cv.folds, cv.seed, n_jobs, bar.update)


def trees_by_loss(fit: Fit, loss: str) -> Forest:
    """Return the trees of the fit, with the weights and impurities by which `loss` prunes them."""
    return (
        fit.forest
        if loss != complexity.LOG_RANK
        else fits.survival.pruning.trees_with_log_ranks(fit)
    )


def training_path(fit: Fit, rule: str, loss: str) -> validation.SubtreePath:
    """Return the subtrees of the fit with their training errors only."""
    return _path(fit, _subtrees(fit, rule, loss), rule, loss, (), "")


def path_by_folds(
    fit: Fit, rule: str, loss: str, cv: ValidationFolds, n_jobs: int, progress: bool
) -> validation.SubtreePath:
    """Evaluate the subtrees of the fit by cross-validation.

    If the fit was pruned, trees of folds are pruned as much, at least.  Raises `InputError` if it
    was pruned in another way, so that no α gives it.
    """
    subtrees = complexity.nested_subtrees(trees_by_loss(fit, loss), rule, loss)
    cut_at = _cut_at(fit, subtrees, rule, loss)
    if cut_at is None:
        raise InputError(
            f'this tree was pruned in another way than by pruning="{rule}" and loss="{loss}", '
            "which give it at no alpha, so trees of folds cannot be pruned alike: use "
            "pruning_path() of its parent, newdata=, or cv=None"
        )
    subtrees = subtrees.beginning_at(cut_at)
    evaluation, folds = grown_without(fit, cv, n_jobs, progress, loss)
    # several values of a node are hazards of causes here, not shares of classes
    by = loss if evaluation.described is None else complexity.IMPURITY
    critical = partial(complexity.critical_alphas, rule=rule, loss=by)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = validation.cross_validated(
        evaluation, folds, critical, validation.geometric_means(subtrees.alpha), groups
    )
    return _path(fit, subtrees, rule, loss, held, cv.by)


def _cut_at(fit: Fit, subtrees: complexity.Subtrees, rule: str, loss: str) -> float | None:
    """Return the α at which the fit was cut, by its rule and loss; None if there is no such α."""
    if fit.pruning is None:
        return 0.0
    return subtrees.cut_at(
        complexity.critical_alphas(trees_by_loss(fit.first_grown, loss), rule, loss)
    )


def _subtrees(fit: Fit, rule: str, loss: str) -> complexity.Subtrees:
    """Return the subtrees of the fit, from the α on at which it was cut, if there is one."""
    subtrees = complexity.nested_subtrees(trees_by_loss(fit, loss), rule, loss)
    return subtrees.beginning_at(_cut_at(fit, subtrees, rule, loss) or 0.0)


def _path(
    fit: Fit,
    subtrees: complexity.Subtrees,
    rule: str,
    loss: str,
    folds: Sequence[validation.HeldOut],
    by: str,
) -> validation.SubtreePath:
    unit = root_error(fit)  # of trees of lines, the error of a constant
    root = None if fit.forest.lines is None else unit
    return validation.subtree_path(subtrees, rule, loss, unit, folds, by, root)


def root_error(fit: Fit) -> float:
    """Return the error of the root on the training rows.

    The root of an honest tree has only the rows that give it its value: a half of them.
    """
    forest, data = fit.forest, fit.data
    if forest.lines is not None:  # the error of a constant, not that of the line of the root
        return float(np.average((data.y - forest.value[0, 0]) ** 2, weights=data.weights))
    if not fit.control.honest or fit.design.response.kind == SURVIVAL:
        return float(complexity.root_errors(forest)[0])
    value = np.broadcast_to(forest.value[:1], (len(data.y), forest.value.shape[1]))
    return float(
        np.average(validation.losses_of(value, data.y, bool(forest.ordered)), weights=data.weights)
    )


def labelled_rows(
    fit: Fit, rows: pd.DataFrame, argument: str
) -> tuple[Fit, Matrix, NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the fit to read the complete rows, their predictors (p, m), responses and groups (m,).

    Raises `InputError` if there are no rows; the message names the `argument` that gave them.
    """
    X, complete = fit.design.matrix(rows)
    y = fit.design.response.numbers(rows[complete])
    if len(y) == 0:
        raise InputError(
            f"{argument}= has no complete rows: give rows without missing values in the response "
            "and the predictors"
        )
    reading, X = reading_empty_cells(fit, X)
    return reading, X, y, groups_of_rows(fit, rows, complete)


def path_by_rows(fit: Fit, rule: str, loss: str, rows: pd.DataFrame) -> validation.SubtreePath:
    """Evaluate the subtrees of the fit on the rows of a data frame."""
    if fit.design.response.kind == SURVIVAL:
        subtrees = _subtrees(fit, rule, loss)
        assert isinstance(fit, fits.survival.fit.SurvivalFit)
        held = fits.survival.pruning.deviances_of_new_rows(fit, subtrees, rows)
        return _path(fit, subtrees, rule, loss, [held], quantity(round(held.weight), "new row"))
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
) -> validation.SubtreePath:
    """Evaluate the subtrees of the fit on rows X (p, m) with responses y and weights (m,).

    `by` names these rows in words.  Rows of one group, of `groups` (m,), count as one unit.
    """
    subtrees = _subtrees(fit, rule, loss)
    held = validation.held_out(fit.forest, subtrees.critical, subtrees.alpha, X, y, weights, groups)
    return _path(fit, subtrees, rule, loss, [held], by)


def forest_sizes(fit: Fit, rule: str, progress: bool = False) -> ForestSizes:
    """Evaluate the fit's forest out of bag, pruned at increasing α."""
    critical = complexity.critical_alphas(fit.forest, rule)
    data, draws, fold = fit.data, fit.draws, evaluated_folds(fit)
    alphas = validation.common_alphas(critical)
    require_memory(
        8.0 * len(alphas) * data.n_rows,
        f"the losses of {data.n_rows} rows at {len(alphas)} sizes",
        "use fewer rows",
    )
    leaves, losses = [], np.empty((len(alphas), len(data.y)))
    weights = data.weights
    for k, alpha in enumerate(progress_bar(alphas, unit="size", progress=progress)):
        forest = complexity.pruned(fit.forest, critical, float(alpha))
        leaves.append(float(forest.leaves().mean()))
        value = out_of_bag(forest, data.X, data.y, draws).value
        losses[k], weights = out_of_bag_losses(fit, value)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = validation.held_out_sums(losses, weights, groups)
    table = pd.DataFrame(
        {"alpha": alphas, "leaves": leaves, "error": held.mean, "std_error": held.standard_error}
    )
    of_folds = [
        validation.held_out_sums(
            losses[:, rows], weights[rows], None if groups is None else groups[rows]
        )
        for rows in (fold == f for f in range(int(fold.max()) + 1))
    ]
    elsewhere = {
        choice: validation.chosen_elsewhere(of_folds, choice) for choice in complexity.CHOICES
    }
    return ForestSizes(rule, table, fold, elsewhere)


def stages_by_folds(
    fit: Fit, stages: Stages, n_jobs: int, *, along: str, cv: ValidationFolds, progress: bool
) -> validation.HeldOut:
    """Evaluate the fit's tree at each of its stages by cross-validation, the largest size first."""
    evaluation, folds = grown_without(fit, cv, n_jobs, progress)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = validation.cross_validated(
        evaluation, folds, partial(stage_alphas, along=along), stages.alpha, groups
    )
    return validation.of_all_folds(held)


def stages_out_of_bag(fit: Fit, stages: Stages, n_jobs: int, progress: bool) -> validation.HeldOut:
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


# Sizes of trees by the options `max_leaves` and `alpha`, some of them chosen on validation rows.

FOLDS = 10
CHOSEN_BY = {CV: complexity.MINIMUM, ONE_SE: complexity.ONE_SE}


def sized_tree(fit: Fit, progress: bool = False) -> Fit:
    """Return the grown tree, pruned to the size of its options.

    `progress` shows a bar if the size is chosen by cross-validation.
    """
    if fit.control.max_leaves_rule.needs_search:
        fit = _with_found_leaves(fit, progress)
    control = fit.control
    if control.alpha_rule.needs_search:
        return _at_found_alpha(fit, progress)
    if control.alpha is None:
        return fit
    return pruned_at(fit, control.alpha, control.pruning, "")


# What leaves predict, in the order of choice: of equal errors the simpler.
LEAVES_TRIED: tuple[words.Leaves, ...] = ("constant", "linear")


def tree_of_best_leaves(
    call: str, design: Design, data: TrainingData, request: Options, progress: bool = False
) -> Fit:
    """Return the sized tree with constant leaves or with lines: by the error of cross-validation.

    The errors are nested ones, in which the size is chosen without the rows that evaluate it.
    Raises `InputError` if the options choose no size by cross-validation.
    """
    trees = [
        sized_tree(grow_fit(call, design, data, replace(request, leaves=leaves)), progress)
        for leaves in LEAVES_TRIED
    ]
    paths = [None if tree.pruning is None else tree.pruning.path for tree in trees]
    errors = [
        np.nan if path is None else path.nested.get(complexity.MINIMUM, (np.nan, 0.0))[0]
        for path in paths
    ]
    if np.isnan(errors).any():
        raise InputError(
            'leaves="auto" chooses by cross-validation, and here nothing is cross-validated: use '
            'alpha="cv", more rows, or leaves="constant" or "linear"'
        )
    return trees[int(np.argmin(errors))]


def sized_forest(fit: Fit) -> Fit:
    """Return the grown forest, its trees pruned at the α of its options.

    A forest of one tree on all rows has the options of a tree, and is sized as one.  Raises
    `InputError` if α is to be chosen out of bag, and no rows are.
    """
    control = fit.control
    if control.is_single_tree:
        return sized_tree(fit)
    alpha, rule, choice = control.alpha, control.alpha_rule, None
    if rule.needs_search:
        require_out_of_bag(fit, "Pruning paths of forests")
        sizes = forest_sizes(fit, control.pruning)
        if rule.kind == RATE:
            n, alphas = len(fit.data.y), sizes.table["alpha"].to_numpy()
            typical = partial(_typical, alphas)
            best = typical(complexity.chosen_row(sizes.table, complexity.MINIMUM))
            alpha, rule = _by_rate(rule, best, n, n, "out of bag")
            choice = sizes.choice(complexity.MINIMUM, typical)
        else:
            alpha, rule = sizes.alpha(complexity.MINIMUM), rule.found("out of bag")
            choice = sizes.choice(complexity.MINIMUM)
    if alpha is None:
        return fit
    return _with_rule(pruned_at(fit, alpha, control.pruning, "", choice=choice), rule)


def _with_rule(fit: Fit, rule: Rule) -> Fit:
    return replace(fit, control=replace(fit.control, alpha_rule=rule))


def _by_rate(rule: Rule, typical: float, n: int, grown_on: float, by: str) -> tuple[float, Rule]:
    """Return α = c·rate(n), and the rule with c; `by` names the validation rows.

    `typical` is the best α for trees grown on `grown_on` rows, so that c = typical/rate(grown_on).
    """
    rate = ALPHA_RATES[rule.name]
    constant = typical / rate(grown_on)
    return constant * rate(n), rule.found(by, constant, rate_along(constant, rate, n))


def _at_found_alpha(fit: Fit, progress: bool) -> Fit:
    """Return the tree pruned at the α that its rule chooses by cross-validation."""
    control, n = fit.control, len(fit.data.y)
    rule, cv = control.alpha_rule, folds_at_most(fit, FOLDS)
    path = path_by_folds(fit, control.pruning, complexity.ERROR, cv, control.n_jobs, progress)
    if rule.kind == RATE:
        typical = _typical(path.table["alpha"].to_numpy(), path.row(complexity.MINIMUM))
        alpha, rule = _by_rate(rule, typical, n, cv.mean_rows, path.by)
    else:
        alpha = path.alpha(CHOSEN_BY[rule.kind])
        rule = rule.found(path.by)
    return _with_rule(pruned_at(fit, alpha, path.rule, "", path=path), rule)


def _typical(alpha: NDArray[np.float64], k: int) -> float:
    """Return an α from the middle of the range for which the k-th subtree is optimal."""
    last = len(alpha) - 1
    if last == 0:
        return 0.0
    if k == 0:
        return float(alpha[1]) / 2
    return float(validation.geometric_means(alpha)[k]) if k < last else 2 * float(alpha[last])


def _with_found_leaves(fit: Fit, progress: bool) -> Fit:
    """Return the tree as it was when it had t_n = c·rate(n) leaves; trees of folds choose c."""
    rule, n = fit.control.max_leaves_rule, len(fit.data.y)
    rate, cv = LEAF_RATES[rule.name], folds_at_most(fit, FOLDS)
    evaluation, folds = grown_without(fit, cv, fit.control.n_jobs, progress)
    most = max(int(fold.tree.leaves()[0]) for fold in folds)
    sizes = np.arange(most, 0, -1)
    alphas = partial(stage_alphas, along=LEAVES)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = validation.of_all_folds(
        validation.cross_validated(evaluation, folds, alphas, -sizes.astype(float), groups)
    )
    best = int(sizes[complexity.chosen(held.mean, held.standard_error, complexity.MINIMUM)])
    constant = best / rate(cv.mean_rows)
    leaves = int(np.clip(round(constant * rate(n)), 1, fit.forest.leaves()[0]))
    rule = rule.found(cv.by, constant, rate_along(constant, rate, n))
    control = fit.control.with_leaves(leaves, rule)
    return replace(
        fit, control=control, forest=complexity.with_leaves(fit.forest, leaves, complexity.GROWTH)
    )
