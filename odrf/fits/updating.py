"""Updating a fit: its trees continue to grow on new rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design import TrainingData
from odrf.design.new_rows import rows_of_weight_added, with_more_rows
from odrf.engine.growth.tree_builder import read_by_growth
from odrf.engine.growth.tree_update import Update, Updated, update_trees
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.options_at_n import at_rows, settled_at
from odrf.fits.pruned import before_pruning
from odrf.options.sizes import RATE, rate_along
from odrf.options.tree import NO_LIMIT, Control
from odrf.pruning.growth_stages import ALPHA_RATES
from odrf.public.progress import progress_bar

__all__ = ["updated_fit"]

# Defaults of `revise`: splits made on fewer rows are made again when enough rows have come.  The
# error of a single tree depends on each split, while a forest averages over many, and revising
# takes time.  A blend saves that of growing pilot trees again.
TREE_REVISED, BLEND_REVISED, FOREST_REVISED = 200, 100, 0
# What calls say of earlier updates.
UPDATES = re.compile(r"\.update\((newdata(, weights=[^()]*)?|…, [\d,]+ times, [\d,]+ rows)\)$")
CHANGES = (
    "drawn", "leaves_before", "withdrawn", "revisited", "split", "leaves", "depth_before", "depth",
)  # fmt: skip


def updated_fit(
    fit: Fit,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None,
    revise: str | int,
    same_alpha: bool,
    n_jobs: int,
    progress: bool,
    sized: Callable[[Fit], Fit],
) -> Fit:
    """Return the fit updated with the rows of `newdata`.

    The arguments are those of `odrf.results.updatable.Updatable.update`; `same_alpha` keeps the α
    that was chosen last.  `sized` prunes the result if the options of the fit have pruned it.  Rows
    of weight 0 are not added; without others the fit is as it was.

    Raises
    ------
    InputError
        If the rows, or a function of n, are invalid, or if the trees have been pruned by `prune`.
    """
    if fit.design.response.imitated:
        raise InputError(
            "update() cannot update a tree that imitates another fit: update that fit, and take "
            "its surrogate() again"
        )
    unpruned = before_pruning(fit, "update() cannot update a fit")
    _require_whole(unpruned)
    added, weights = rows_of_weight_added(fit.design, newdata, weights)
    if len(added) == 0 and len(newdata):
        return fit
    revised = _revised(fit) if isinstance(revise, str) else revise
    data = with_more_rows(fit.design, fit.data, added, weights)
    grown = _grown_on(unpruned, data, revised, n_jobs, progress)
    grown = replace(grown, call=_called(fit.call, weights, *grown.rows_added))
    if unpruned is fit:
        return grown
    if not same_alpha or not grown.control.alpha_rule.needs_search:
        return sized(grown)
    n = len(grown.data.y)
    smaller = sized(replace(grown, control=_with_known_alpha(grown.control, fit.control, n)))
    # the next update may choose α again: the trees before pruning do not know it
    pruning = smaller.pruning
    return smaller if pruning is None else replace(smaller, pruning=replace(pruning, grown=grown))


def _grown_on(
    fit: Fit,
    data: TrainingData,
    revised: int,
    n_jobs: int,
    progress: bool,
) -> Fit:
    """Return the fit with its trees grown on the rows of `data`, old and new."""
    before, n = len(fit.data.y), len(data.y)
    control = at_rows(fit.control, fit.request, before, n)
    kinds = {name: at_rows(kind, fit.request, before, n) for name, kind in fit.kinds.items()}
    updated = _updated(fit, data, control, kinds, revised, n_jobs, progress)
    return replace(
        fit,
        data=data,
        control=control,
        kinds=kinds,
        forest=joined((one.tree for one in updated), len(updated)),
        n_at_split=np.concatenate([one.n_at_split for one in updated]),
        request=settled_at(fit.request, control),
        changes=_changes(updated),
    )


def _called(call: str, weights: str | ArrayLike | None, times: int, rows: int) -> str:
    """Return the call of a fit that has been updated so many times, with so many rows in all."""
    if times > 1:
        return f"{UPDATES.sub('', call)}.update(…, {times:,} times, {rows:,} rows)"
    if weights is None:
        return f"{call}.update(newdata)"
    given = repr(weights) if isinstance(weights, str) else "…"
    return f"{call}.update(newdata, weights={given})"


def _with_known_alpha(control: Control, chosen: Control, n: int) -> Control:
    """Return the options with the α that `chosen` has; by a rate, with its constant at n rows."""
    alpha, rule = chosen.alpha, chosen.alpha_rule.kept()
    if rule.kind == RATE and rule.constant is not None:
        rate = ALPHA_RATES[rule.name]
        alpha = rule.constant * rate(n)
        rule = replace(rule, along=rate_along(rule.constant, rate, n))
    return replace(control, alpha=alpha, alpha_rule=rule)


def _revised(fit: Fit) -> int:
    """Return the default of `revise` for this fit."""
    if fit.blend is not None:
        return BLEND_REVISED
    return TREE_REVISED if fit.control.is_single_tree else FOREST_REVISED


def _require_whole(fit: Fit) -> None:
    """Raise `InputError` if a tree was pruned, because its leaves would be split again at once."""
    by_rate = fit.control.max_leaves_rule.kind == RATE
    if not by_rate and (fit.forest.order[fit.forest.left < 0] > 0).any():
        raise InputError(
            "update() cannot update trees that have been pruned: update the fit before pruning, "
            "and prune the result"
        )


def _updated(
    fit: Fit,
    data: TrainingData,
    control: Control,
    kinds: dict[str, Control],
    revised: int,
    n_jobs: int,
    progress: bool,
) -> list[Updated]:
    """Update the trees of each kind; return them in the order of the forest."""
    pairs = [(fit.control, control)]
    of_tree: NDArray[np.int64] = np.zeros(fit.forest.n_trees, dtype=np.int64)
    if fit.blend is not None:
        pairs = [(fit.kinds[name], kinds[name]) for name in kinds]
        of_tree = fit.blend.of_tree
    n_at_split = fit.forest.count if fit.n_at_split is None else fit.n_at_split
    by_number: dict[int, Updated] = {}
    with progress_bar(total=len(of_tree), unit="tree", progress=progress) as bar:
        for g, (old, new) in enumerate(pairs):
            numbers = np.flatnonzero(of_tree == g).tolist()
            update = Update(
                *read_by_growth(data.X, fit.design.feature_groups, new.mixture),
                data.y,
                data.weights,
                fit.design.feature_groups,
                new.sampling,
                new.settings,
                new.mixture,
                NO_LIMIT if old.max_leaves is None else old.max_leaves,
                revised,
                data.codes,
            )
            trees = [
                (fit.forest.tree(b), n_at_split[slice(*fit.forest.root[b : b + 2])])
                for b in numbers
            ]
            updated = update_trees(trees, update, fit.streams[numbers], n_jobs, bar.update)
            by_number |= dict(zip(numbers, updated, strict=True))
    return [by_number[b] for b in range(len(of_tree))]


def _changes(updated: Sequence[Updated]) -> pd.DataFrame:
    """Return what has changed, one row for each tree."""
    rows = [{name: getattr(one, name) for name in CHANGES} for one in updated]
    return pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="tree"))
