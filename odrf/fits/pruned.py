"""Pruning a fit: some of its splits are switched off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import is_number, is_whole
from odrf.design.folds import fold_numbers, most_folds, rows_to_divide
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.fit import Fit, Pruning
from odrf.fits.survival.by_deviance.trees_to_prune import trees_to_prune
from odrf.options.sizes import FIXED, Rule
from odrf.pruning.complexity import ERROR, LOG_RANK, critical_alphas, pruned
from odrf.pruning.validation import JUDGED_FOLDS, OutOfBagChoice, SubtreePath, out_of_bag_alphas
from odrf.public.progress import progress_bar

__all__ = [
    "before_pruning",
    "checked_alpha",
    "checked_leaves",
    "cut_by_call",
    "judged_folds",
    "pruned_at",
    "pruned_unseen",
    "with_forest",
]


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
    loss: str = ERROR,
    path: SubtreePath | None = None,
    choice: OutOfBagChoice | None = None,
) -> Fit:
    """Return the fit with every tree pruned at `alpha`.

    Parameters
    ----------
    fit : Fit
    alpha : float
        Complexity parameter.
    rule : {"weakest_link", "growth"}
        Which subtrees are candidates.
    option : str
        The argument of `prune`, as the call is to show it; empty if the options of the fit prune.
    loss : {"error", "impurity", "log_rank"}, default "error"
        How the training error is measured.
    path : SubtreePath, optional
        The pruning path of the tree, if it is known.
    choice : OutOfBagChoice, optional
        If out-of-bag rows have chosen `alpha`, what they choose for each other.
    """
    trees = trees_to_prune(fit, loss)
    critical = critical_alphas(trees, rule, loss) if path is None else path.critical
    forest = replace(fit.forest, left=pruned(trees, critical, alpha, loss).left)
    if loss == ERROR:
        choice = _after_earlier(fit, choice, rule, alpha)
    smaller = with_forest(fit, forest, option, path, choice)
    largest, chosen = fit.control.alpha, fit.control.alpha_rule
    if loss != LOG_RANK:  # the option alpha= is on the scale of errors
        # the fit may have been pruned at a larger α before
        largest = max(alpha, largest or 0.0)
    if option and largest != fit.control.alpha:
        chosen = Rule(FIXED)
    control = replace(fit.control, alpha=largest, alpha_rule=chosen, pruning=rule)
    return replace(smaller, control=control)


def pruned_unseen(fit: Fit, rule: str, progress: bool = False) -> Fit:
    """Return the fit with each tree pruned at the best α for its out-of-bag rows."""
    critical = critical_alphas(fit.forest, rule)
    data, fold = fit.data, judged_folds(fit)
    with progress_bar(total=fit.forest.n_trees, unit="tree", progress=progress) as bar:
        alpha, elsewhere = out_of_bag_alphas(
            fit.forest, critical, data.X, data.y, fit.draws, fold, bar.update
        )
    kept = fit.forest.keeping(critical > np.repeat(alpha, np.diff(fit.forest.root)))
    choice = _after_earlier(fit, OutOfBagChoice(rule, fold, elsewhere), rule)
    return with_forest(fit, kept, 'rule="oob"', choice=choice)


def _after_earlier(
    fit: Fit, choice: OutOfBagChoice | None, rule: str, alpha: float = 0.0
) -> OutOfBagChoice | None:
    """Return what out-of-bag rows choose for each other, of a fit that they may have pruned before.

    By the same rule they choose among subtrees of the same trees twice, and the larger α holds:
    that of `choice`, or `alpha` if this time they have not chosen it.
    """
    before = None if fit.pruning is None else fit.pruning.choice
    if before is None:
        return choice
    alphas = np.full((len(before.alphas), 1), alpha) if choice is None else choice.alphas
    if before.rule == rule:
        alphas = np.maximum(before.alphas, alphas)
    return OutOfBagChoice(rule, before.fold, alphas)


def judged_folds(fit: Fit) -> NDArray[np.int64]:
    """Return the fold (n,) of each training row, for judging what out-of-bag rows have chosen."""
    rows = rows_to_divide(fit.design, fit.data)
    k = max(2, min(JUDGED_FOLDS, most_folds(rows)))
    return fold_numbers(rows, k, fit.control.seed)


def with_forest(
    fit: Fit,
    forest: Forest,
    option: str,
    path: SubtreePath | None = None,
    choice: OutOfBagChoice | None = None,
) -> Fit:
    """Return the fit with the pruned trees `forest`; the other arguments as in `pruned_at`."""
    call = f"{fit.call}.prune({option})" if option else fit.call
    return replace(fit, forest=forest, call=call, pruning=Pruning(fit, not option, path, choice))


def before_pruning(fit: Fit, doing: str) -> Fit:
    """Return the fit as it was before its options pruned it.

    Raises
    ------
    InputError
        If it was pruned by a call of `prune`, which cannot be repeated for other trees or rows.
        The message starts with `doing`.
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

    A call may set the leaves alone: then α is None.

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("mpg ~ .", odrf.load_data("auto_mpg"), seed=1)
    >>> cut_by_call(tree.fit) is None
    True
    >>> cut_by_call(tree.prune(leaves=2).prune(alpha=0).fit)
    ('prune(leaves=2)', None)
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
