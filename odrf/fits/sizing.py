"""The size of trees as the fit asked for it, found on held-out rows where it is not a number."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_jobs
from odrf.design.folds import checked_folds
from odrf.fits.evaluating import forest_sizes, grown_without, path_by_folds
from odrf.fits.fit import Fit
from odrf.fits.out_of_bag_values import require_out_of_bag
from odrf.fits.pruned import pruned_at
from odrf.options.sizes import NONE, rate_along
from odrf.pruning.choosing import MINIMUM, ONE_SE, chosen, chosen_row
from odrf.pruning.complexity import ERROR, GROWTH
from odrf.pruning.cross_validation import cross_validated, geometric_means
from odrf.pruning.growth_stages import LEAVES, stage_alphas
from odrf.pruning.rates import ALPHA_RATES, LEAF_RATES
from odrf.pruning.subtrees import with_leaves
from odrf.text.wording import number

__all__ = ["sized_forest", "sized_tree"]

FOLDS = 10


def sized_tree(fit: Fit) -> Fit:
    """Return the grown tree with as many leaves as its options say."""
    if fit.control.max_leaves_rule in LEAF_RATES:
        fit = _with_found_leaves(fit)
    control = fit.control
    if control.alpha_rule == NONE:
        return fit
    if control.alpha is None:
        return _at_found_alpha(fit)
    return pruned_at(fit, control.alpha, control.pruning, "")


def sized_forest(fit: Fit) -> Fit:
    """Return the grown forest with its trees pruned as its options say.

    Raises
    ------
    InputError
        If α is to be found out of bag, and no row is.
    """
    control = fit.control
    if control.alpha_rule == NONE:
        return fit
    alpha, words, along = control.alpha, control.alpha_rule, control.alpha_along
    if alpha is None:
        require_out_of_bag(fit, "Pruning paths of forests")
        sizes = forest_sizes(fit, control.pruning)
        if words in ALPHA_RATES:
            n, prices = len(fit.data.y), sizes.table["alpha"].to_numpy()
            typical = _typical(prices, chosen_row(sizes.table, MINIMUM))
            alpha, words, along = _by_rate(words, typical, n, n, "constant out of bag")
        else:
            alpha, words = sizes.alpha(MINIMUM), "smallest out-of-bag error"
    return _saying(pruned_at(fit, alpha, control.pruning, ""), words, along)


def _saying(fit: Fit, words: str, along: tuple[float, ...]) -> Fit:
    return replace(fit, control=replace(fit.control, alpha_rule=words, alpha_along=along))


def _by_rate(
    name: str, typical: float, n: int, grown_on: float, found: str
) -> tuple[float, str, tuple[float, ...]]:
    """Return α = c · rate(n), what it is in words, and along n.

    c makes `typical`, the best α for trees of `grown_on` rows, that of the rate there.
    """
    rate = ALPHA_RATES[name]
    constant = typical / rate(grown_on)
    words = f"{number(constant, 3)}·{name}, {found}"
    return constant * rate(n), words, rate_along(constant, rate, n)


def _at_found_alpha(fit: Fit) -> Fit:
    """Return the tree pruned at the α that its own rule finds."""
    control, n = fit.control, len(fit.data.y)
    rule, folds = control.alpha_rule, min(FOLDS, n)
    folds, jobs = checked_folds(folds, n), checked_jobs(None)
    path = path_by_folds(fit, control.pruning, ERROR, folds, control.seed, jobs, False)
    if rule in ALPHA_RATES:
        typical = _typical(path.table["alpha"].to_numpy(), path.row(MINIMUM))
        grown_on = n * (folds - 1) / folds
        alpha, words, along = _by_rate(rule, typical, n, grown_on, f"constant by {path.by}")
    else:
        alpha = path.alpha(ONE_SE if rule == ONE_SE else MINIMUM)
        words, along = f"{'1-SE rule' if rule == ONE_SE else 'smallest error'}, {path.by}", ()
    return _saying(pruned_at(fit, alpha, path.rule, "", path=path), words, along)


def _typical(alpha: NDArray[np.float64], k: int) -> float:
    """Return an α from the middle of the range in which the k-th subtree is the choice."""
    last = len(alpha) - 1
    if last == 0:
        return 0.0
    if k == 0:
        return float(alpha[1]) / 2
    return float(geometric_means(alpha)[k]) if k < last else 2 * float(alpha[last])


def _with_found_leaves(fit: Fit) -> Fit:
    """Return the tree as it was with t_n = c · rate(n) leaves.

    The trees of the folds say after how many leaves of their growth the held-out error is
    smallest, and so what c is.
    """
    name, n = fit.control.max_leaves_rule, len(fit.data.y)
    rate, k = LEAF_RATES[name], min(FOLDS, n)
    growth, folds = grown_without(fit, k, fit.control.seed, checked_jobs(None), False)
    most = max(int(fold.tree.leaves()[0]) for fold in folds)
    sizes = np.arange(most, 0, -1)
    prices = partial(stage_alphas, along=LEAVES)
    held = cross_validated(growth, folds, prices, -sizes.astype(float))
    best = int(sizes[chosen(held.mean, held.standard_error, MINIMUM)])
    constant = best / rate(n * (k - 1) / k)
    leaves = int(np.clip(round(constant * rate(n)), 1, fit.forest.leaves()[0]))
    control = replace(
        fit.control,
        max_leaves=leaves,
        max_leaves_rule=f"{number(constant, 3)}·{name}, constant by {k}-fold cross-validation",
        max_leaves_along=rate_along(constant, rate, n),
    )
    return replace(fit, control=control, forest=with_leaves(fit.forest, leaves, GROWTH))
