"""The size of trees as the fit asked for it, found on held-out rows where it is not a number."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_jobs
from odrf.errors import InputError
from odrf.fits.evaluating import grown_without
from odrf.fits.fit import Fit
from odrf.fits.pruned import pruned_at
from odrf.options.sizes import NONE, rate_along
from odrf.pruning.choosing import MINIMUM, ONE_SE, chosen
from odrf.pruning.complexity import GROWTH
from odrf.pruning.cross_validation import between, cross_validated
from odrf.pruning.growth_stages import LEAVES, stage_prices
from odrf.pruning.rates import ALPHA_RATES, LEAF_RATES
from odrf.pruning.subtrees import with_leaves
from odrf.text.wording import number

if TYPE_CHECKING:
    from odrf.reports.forest_path import ForestPath
    from odrf.reports.pruning_path import PruningPath
    from odrf.results.base import TreeResults
    from odrf.results.forest import ODRFResults
    from odrf.results.tree import ODTResults

__all__ = ["before_pruning", "sized_forest", "sized_tree"]

FOLDS = 10
Same = TypeVar("Same", bound="TreeResults")


def sized_tree(tree: ODTResults) -> ODTResults:
    """Return the grown tree with as many leaves as its options say."""
    if tree.control.max_leaves_rule in LEAF_RATES:
        tree = _with_found_leaves(tree)
    control = tree.control
    if control.alpha_rule == NONE:
        return tree
    if control.alpha is None:
        return _at_found_price(tree)
    return type(tree)(pruned_at(tree.fit, control.alpha, control.pruning, ""), parent=tree)


def sized_forest(forest: ODRFResults) -> ODRFResults:
    """Return the grown forest with its trees pruned as its options say."""
    control = forest.control
    if control.alpha_rule == NONE:
        return forest
    alpha, words, along = control.alpha, control.alpha_rule, control.alpha_along
    if alpha is None:
        path = forest.pruning_path()
        if words in ALPHA_RATES:
            n = forest.nobs
            alpha, words, along = _by_rate(words, path, n, n, "constant out of bag")
        else:
            alpha = float(path.table["alpha"].iloc[path.row(MINIMUM)])
            words = "smallest out-of-bag error"
    fit = pruned_at(forest.fit, alpha, control.pruning, "")
    return type(forest)(_saying(fit, words, along), parent=forest)


def before_pruning(results: Same, doing: str) -> Same:
    """Return the tree or forest as it was before its options pruned it.

    Raises
    ------
    InputError
        If it was pruned by `prune` and not by its options, whose rule holds for any number of
        trees and of rows; the message says what not to be `doing`.
    """
    if results.parent is None:
        return results
    if results.call != results.parent.call:
        raise InputError(
            f"{doing} that prune() has pruned: take its parent, and prune what comes of it"
        )
    return cast(Same, results.parent)


def _saying(fit: Fit, words: str, along: tuple[float, ...]) -> Fit:
    return replace(fit, control=replace(fit.control, alpha_rule=words, alpha_along=along))


def _by_rate(
    name: str, path: PruningPath | ForestPath, n: int, judged_on: float, found: str
) -> tuple[float, str, tuple[float, ...]]:
    """Return α = c · rate(n), what it is in words, and along n.

    c makes the best α of the path, whose trees grew on `judged_on` rows, that of the rate there.
    """
    rate = ALPHA_RATES[name]
    typical = _typical(path.table["alpha"].to_numpy(), path.row(MINIMUM))
    constant = typical / rate(judged_on)
    words = f"{number(constant, 3)}·{name}, {found}"
    return constant * rate(n), words, rate_along(constant, rate, n)


def _at_found_price(tree: ODTResults) -> ODTResults:
    """Return the tree pruned at the α that its own rule finds."""
    rule, n = tree.control.alpha_rule, tree.nobs
    folds = min(FOLDS, n)
    path = tree.pruning_path(tree.control.pruning, cv=folds)
    validation = f"{folds}-fold cross-validation"
    if rule in ALPHA_RATES:
        grown_on = n * (folds - 1) / folds
        alpha, words, along = _by_rate(rule, path, n, grown_on, f"constant by {validation}")
    else:
        choice = ONE_SE if rule == ONE_SE else MINIMUM
        alpha = float(path.table["alpha"].iloc[path.row(choice)])
        words, along = f"{'1-SE rule' if rule == ONE_SE else 'smallest error'}, {validation}", ()
    fit = pruned_at(tree.fit, alpha, path.rule, "")
    return type(tree)(_saying(fit, words, along), parent=tree, path=path)


def _typical(alpha: NDArray[np.float64], k: int) -> float:
    """Return an α from the middle of the range in which the k-th subtree is the choice."""
    last = len(alpha) - 1
    if last == 0:
        return 0.0
    if k == 0:
        return float(alpha[1]) / 2
    return float(between(alpha)[k]) if k < last else 2 * float(alpha[last])


def _with_found_leaves(tree: ODTResults) -> ODTResults:
    """Return the tree as it was with t_n = c · rate(n) leaves.

    The trees of the folds say after how many leaves of their growth the held-out error is
    smallest, and so what c is.
    """
    name, n = tree.control.max_leaves_rule, tree.nobs
    rate, k = LEAF_RATES[name], min(FOLDS, n)
    growth, folds = grown_without(tree.fit, k, tree.control.seed, checked_jobs(None), False)
    most = max(int(fold.tree.leaves()[0]) for fold in folds)
    sizes = np.arange(most, 0, -1)
    prices = partial(stage_prices, along=LEAVES)
    held = cross_validated(growth, folds, prices, -sizes.astype(float))
    best = int(sizes[chosen(held.mean, held.standard_error, MINIMUM)])
    constant = best / rate(n * (k - 1) / k)
    leaves = int(np.clip(round(constant * rate(n)), 1, tree.n_leaves[0]))
    words = f"{number(constant, 3)}·{name}, constant by {k}-fold cross-validation"
    control = replace(
        tree.control,
        max_leaves=leaves,
        max_leaves_rule=words,
        max_leaves_along=rate_along(constant, rate, n),
    )
    forest = with_leaves(tree.forest, leaves, GROWTH)
    return type(tree)(replace(tree.fit, control=control, forest=forest))
