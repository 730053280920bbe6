"""Sizes of trees by the options `max_leaves` and `alpha`, some of them found on held-out rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import rows_to_divide
from odrf.fits.evaluating import forest_sizes, grown_without, path_by_folds
from odrf.fits.fit import Fit
from odrf.fits.judging.judging_folds import folds_at_most
from odrf.fits.out_of_bag_values import require_out_of_bag
from odrf.fits.pruned import pruned_at
from odrf.options.sizes import CV, ONE_SE, RATE, Rule, rate_along
from odrf.pruning.complexity import ERROR, GROWTH, MINIMUM, chosen, chosen_row, with_leaves
from odrf.pruning.complexity import ONE_SE as ONE_SE_CHOICE
from odrf.pruning.growth_stages import ALPHA_RATES, LEAF_RATES, LEAVES, stage_alphas
from odrf.pruning.validation import cross_validated, geometric_means

__all__ = ["sized_forest", "sized_tree"]

FOLDS = 10
CHOSEN_BY = {CV: MINIMUM, ONE_SE: ONE_SE_CHOICE}


def sized_tree(fit: Fit, progress: bool = False) -> Fit:
    """Return the grown tree, pruned to the size that its options ask for.

    `progress` shows a bar if the size is found by cross-validation.
    """
    if fit.control.max_leaves_rule.needs_search:
        fit = _with_found_leaves(fit, progress)
    control = fit.control
    if control.alpha_rule.needs_search:
        return _at_found_alpha(fit, progress)
    if control.alpha is None:
        return fit
    return pruned_at(fit, control.alpha, control.pruning, "")


def sized_forest(fit: Fit) -> Fit:
    """Return the grown forest, its trees pruned at the α that its options ask for.

    A forest of one tree on all rows has the options of a tree, and is sized as one.

    Raises
    ------
    InputError
        If α is to be found out of bag, and no rows are.
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
            best = typical(chosen_row(sizes.table, MINIMUM))
            alpha, rule = _by_rate(rule, best, n, n, "out of bag")
            choice = sizes.choice(MINIMUM, typical)
        else:
            alpha, rule = sizes.alpha(MINIMUM), rule.found("out of bag")
            choice = sizes.choice(MINIMUM)
    if alpha is None:
        return fit
    return _with_rule(pruned_at(fit, alpha, control.pruning, "", choice=choice), rule)


def _with_rule(fit: Fit, rule: Rule) -> Fit:
    return replace(fit, control=replace(fit.control, alpha_rule=rule))


def _by_rate(rule: Rule, typical: float, n: int, grown_on: float, by: str) -> tuple[float, Rule]:
    """Return α = c·rate(n), and the rule with c; `by` names the held-out rows.

    `typical` is the best α for trees grown on `grown_on` rows, so that c = typical/rate(grown_on).
    """
    rate = ALPHA_RATES[rule.name]
    constant = typical / rate(grown_on)
    return constant * rate(n), rule.found(by, constant, rate_along(constant, rate, n))


def _at_found_alpha(fit: Fit, progress: bool) -> Fit:
    """Return the tree pruned at the α that its rule finds by cross-validation."""
    control, n = fit.control, len(fit.data.y)
    rule, cv = control.alpha_rule, folds_at_most(fit, FOLDS)
    path = path_by_folds(fit, control.pruning, ERROR, cv, control.n_jobs, progress)
    if rule.kind == RATE:
        typical = _typical(path.table["alpha"].to_numpy(), path.row(MINIMUM))
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
    return float(geometric_means(alpha)[k]) if k < last else 2 * float(alpha[last])


def _with_found_leaves(fit: Fit, progress: bool) -> Fit:
    """Return the tree as it was when it had t_n = c·rate(n) leaves.

    c follows from the number of leaves at which the trees of the folds have the smallest held-out
    error.
    """
    rule, n = fit.control.max_leaves_rule, len(fit.data.y)
    rate, cv = LEAF_RATES[rule.name], folds_at_most(fit, FOLDS)
    growth, folds = grown_without(fit, cv, fit.control.n_jobs, progress)
    most = max(int(fold.tree.leaves()[0]) for fold in folds)
    sizes = np.arange(most, 0, -1)
    alphas = partial(stage_alphas, along=LEAVES)
    groups = rows_to_divide(fit.design, fit.data).groups
    held = cross_validated(growth, folds, alphas, -sizes.astype(float), groups)
    best = int(sizes[chosen(held.mean, held.standard_error, MINIMUM)])
    constant = best / rate(cv.mean_rows)
    leaves = int(np.clip(round(constant * rate(n)), 1, fit.forest.leaves()[0]))
    rule = rule.found(cv.by, constant, rate_along(constant, rate, n))
    control = fit.control.with_leaves(leaves, rule)
    return replace(fit, control=control, forest=with_leaves(fit.forest, leaves, GROWTH))
