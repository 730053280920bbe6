"""A fit with some of its splits switched off."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from odrf.engine.trees.forest_arrays import Forest
from odrf.errors import InputError
from odrf.fits.fit import Fit, Pruning
from odrf.pruning.complexity import ERROR, critical_alphas, pruned
from odrf.pruning.forests import unseen_alphas
from odrf.pruning.subtree_path import SubtreePath

__all__ = [
    "before_pruning",
    "checked_alpha",
    "checked_leaves",
    "pruned_at",
    "pruned_unseen",
    "with_forest",
]


def checked_alpha(alpha: Any) -> float:
    """Return `alpha`; raise `InputError` where it is no price of a leaf."""
    if not isinstance(alpha, Real) or not float(alpha) >= 0:
        raise InputError(f"alpha={alpha!r} must be a number that is not negative")
    return float(alpha)


def checked_leaves(leaves: Any, most: int) -> int:
    """Return `leaves`; raise `InputError` where a tree with `most` leaves has no such subtree."""
    if not isinstance(leaves, (int, np.integer)) or not 1 <= leaves <= most:
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
) -> Fit:
    """Return the fit with every tree pruned at complexity `alpha`, as the call's `option` says.

    An empty `option` stands for a fit whose own call asked for it.
    """
    # what a larger α took away before does not come back
    strictest = max(alpha, fit.control.alpha or 0.0)
    prices = critical_alphas(fit.forest, rule, loss) if path is None else path.critical
    forest = pruned(fit.forest, prices, alpha, loss)
    cut = with_forest(fit, forest, option, path)
    return replace(cut, control=replace(fit.control, alpha=strictest, pruning=rule))


def pruned_unseen(fit: Fit, rule: str) -> Fit:
    """Return the fit with every tree pruned as the rows that it did not draw find best for it."""
    prices = critical_alphas(fit.forest, rule)
    alpha = unseen_alphas(fit.forest, prices, fit.data.X, fit.data.y, fit.draws)
    kept = fit.forest.keeping(prices > np.repeat(alpha, np.diff(fit.forest.root)))
    return with_forest(fit, kept, 'rule="oob"')


def with_forest(fit: Fit, forest: Forest, option: str, path: SubtreePath | None = None) -> Fit:
    """Return the fit with its trees cut to `forest`, the call saying which option made it."""
    call = f"{fit.call}.prune({option})" if option else fit.call
    return replace(fit, forest=forest, call=call, pruning=Pruning(fit, not option, path))


def before_pruning(fit: Fit, doing: str) -> Fit:
    """Return the fit as it was before its options pruned it.

    Raises
    ------
    InputError
        If it was pruned by `prune` and not by its options, whose rule holds for any number of
        trees and of rows; the message says what not to be `doing`.
    """
    if fit.pruning is None:
        return fit
    if not fit.pruning.by_options:
        raise InputError(
            f"{doing} that prune() has pruned: take its parent, and prune what comes of it"
        )
    return fit.pruning.grown
