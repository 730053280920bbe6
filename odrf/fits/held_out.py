"""Trees with rows that did not grow them: out-of-bag rows, or the fit is made again on parts.

A fit whose trees use all rows is made again without some, its validation rows: cross-fitting.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import FoldRows, most_folds, rows_to_divide, structured_folds
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest, joined
from odrf.errors import InputError
from odrf.fits.fit import (
    AnyFit,
    BoostedFit,
    Fit,
    GuidedFit,
    grow_boosted_fit,
    grow_guided_trees,
    loss_and_responses,
)
from odrf.fits.growing import grow_alike, grow_fit
from odrf.fits.pruning import sized_tree
from odrf.fits.responses import leaves_rows_out, rows_missed
from odrf.pruning.complexity import ERROR, critical_alphas, pruned, with_leaves
from odrf.public.progress import progress_bar
from odrf.statistics.importance import FEWEST_ROWS, HeldOutTrees

Trees = TypeVar("Trees", bound=np.generic)
# A tree grown on four fifths of the rows is much like the one grown on all.  Forests, boosted trees
# and trees of large tables take longer, and vary less: two halves cost about as much as the fit.
FOLDS, HALVES = 5, 2
LARGE = 20_000


def held_out_trees(fit: AnyFit, progress: bool = False) -> list[HeldOutTrees] | None:
    """Return trees with validation rows, or None for too few rows or a constant part.

    If trees or runs leave rows out, these are the fit's own trees.  Otherwise the fit is made again
    on parts of the rows: a tree without each of five folds; a forest, boosted trees or a tree of a
    large table without each of two halves.  Groups stay whole; validation rows of an order are
    later than those of the trees.  The size of a tree, or the number of rounds, is chosen again, so
    that the final validation rows have chosen nothing; a tree that `prune` has cut has as many
    leaves as in the fit, or the next smaller number that pruning gives.
    """
    if not fit.forest.is_split().any():
        return []
    if isinstance(fit, BoostedFit):
        return _of_runs(fit) if leaves_rows_out(fit) else _boosted_halves(fit, progress)
    if isinstance(fit, Fit):
        return _of_trees(fit) if leaves_rows_out(fit) else _grown_again(fit, progress)
    assert isinstance(fit, GuidedFit)
    return _guided_halves(fit, progress)


def responses_held_out(fit: AnyFit) -> NDArray[np.float64]:
    """Return the values (n, K) that the predictions of trees are compared with, for K outputs.

    Of means and votes the response, or the indicators of the classes.  Of boosted trees minus the
    derivative of the loss by the score before the first round: residual from the mean, indicator
    minus share.
    """
    y = fit.data.y
    if isinstance(fit, BoostedFit):
        weights, offset = fit.data.weights, fit.offset.values
        loss, y = loss_and_responses(fit.loss, fit.data)
        start = loss.start(y, weights, fit.control.n_outputs, offset)
        return -loss.derivatives(y, start[:, None] + offset, weights).first.T
    n_classes = fit.forest.value.shape[1]
    return y[:, None] if n_classes == 1 else np.eye(n_classes)[y.astype(np.int64)]


def _of_trees(fit: Fit) -> list[HeldOutTrees] | None:
    """Return each tree with its out-of-bag rows."""
    unseen = fit.draws.all_unseen() & (fit.data.weights > 0)
    parts = [HeldOutTrees(fit.forest.tree(b), unseen[b]) for b in range(fit.forest.n_trees)]
    return parts if unseen.any() else None


def _of_runs(fit: BoostedFit) -> list[HeldOutTrees] | None:
    """Return the trees of each run with the rows that it did not draw."""
    forest, K, M = fit.forest, fit.control.n_outputs, fit.control.n_runs
    missed = rows_missed(fit) & (fit.data.weights > 0)
    trees = [[forest.tree(b) for b in range(forest.n_trees) if b // K % M == m] for m in range(M)]
    parts = [
        HeldOutTrees(joined(of_run, len(of_run)), rows)
        for of_run, rows in zip(trees, missed, strict=True)
    ]
    return parts if missed.any() else None


def _grown_again(fit: Fit, progress: bool) -> list[HeldOutTrees] | None:
    return _folds(fit, progress) if fit.forest.n_trees == 1 else _forest_halves(fit, progress)


def _folds(fit: Fit, progress: bool) -> list[HeldOutTrees] | None:
    """Return a tree grown without each fold, sized as the tree of the fit was."""
    parts, control = _parts(fit, FOLDS if fit.data.X.size <= LARGE else HALVES), fit.control
    if parts is None:
        return None
    evaluated = []
    with progress_bar(total=len(parts), unit="fold", progress=progress) as bar:
        grow = partial(_tree_without, fit)
        for part, tree in zip(
            parts, in_order(grow, parts, control.n_jobs, fit.data.X.size), strict=True
        ):
            evaluated.append(HeldOutTrees(tree, part.test))
            bar.update()
    return evaluated


def _tree_without(fit: Fit, part: FoldRows) -> Forest:
    """Return a tree grown on the training rows of a part."""
    data = fit.data.keeping(part.train)
    if not fit.request.is_single_tree:  # a tree taken from a forest
        control = fit.control
        return grow_alike(fit.design, data, control, fit.streams, control.n_jobs, False)
    grown = grow_fit("", fit.design, data, fit.request)
    if fit.pruning is None or fit.pruning.by_options:
        return sized_tree(grown).forest
    path, leaves = fit.pruning.path, int(fit.forest.leaves()[0])
    rule, loss = (fit.control.pruning, ERROR) if path is None else (path.rule, path.loss)
    return with_leaves(grown.forest, leaves, rule, loss)


def _forest_halves(fit: Fit, progress: bool) -> list[HeldOutTrees] | None:
    """Return half of the trees grown without one half of the rows, half without the other."""
    parts = _parts(fit, HALVES)
    if parts is None:
        return None
    return [
        HeldOutTrees(_trees_without(fit, part, some, progress), part.test)
        for part, some in zip(parts, _shared(np.arange(fit.forest.n_trees), parts), strict=True)
    ]


def _trees_without(fit: Fit, part: FoldRows, some: NDArray[np.int64], progress: bool) -> Forest:
    """Return the trees of the numbers `some`, grown on the rows of a part and pruned alike."""
    data, controls = fit.data.keeping(part.train), list(fit.kinds.values()) or [fit.control]
    kind = np.zeros(len(some), dtype=np.int64) if fit.blend is None else fit.blend.of_tree[some]
    of_kind = [
        grow_alike(
            fit.design, data, controls[g], fit.streams[some[kind == g]], fit.control.n_jobs,
            progress,
        )
        for g in np.unique(kind)
    ]  # fmt: skip
    forest = joined(of_kind, len(of_kind))
    if fit.pruning is None or fit.control.alpha is None:
        return forest
    return pruned(forest, critical_alphas(forest, fit.control.pruning), fit.control.alpha)


def _guided_halves(fit: GuidedFit, progress: bool) -> list[HeldOutTrees] | None:
    """Return half of the trees grown without one half of the rows, half without the other."""
    parts, control = _parts(fit, HALVES), fit.control
    if parts is None:
        return None
    return [
        HeldOutTrees(
            grow_guided_trees(
                fit.design, fit.data.keeping(part.train), control, some, control.n_jobs, progress
            ).unshared,
            part.test,
        )
        for part, some in zip(parts, _shared(fit.streams, parts), strict=True)
    ]


def _boosted_halves(fit: BoostedFit, progress: bool) -> list[HeldOutTrees] | None:
    """Return trees boosted without each half of the rows."""
    parts = _parts(fit, HALVES)
    if parts is None:
        return None
    try:
        return [HeldOutTrees(_boosted_without(fit, part, progress), part.test) for part in parts]
    except InputError:  # too few rows for those that validation= holds out
        return None


def _boosted_without(fit: BoostedFit, part: FoldRows, progress: bool) -> Forest:
    data = fit.data.keeping(part.train)
    offset = replace(fit.offset, values=fit.offset.values[part.train])
    return grow_boosted_fit("", fit.design, data, offset, fit.control, progress).forest


def _shared(trees: NDArray[Trees], parts: list[FoldRows]) -> list[NDArray[Trees]]:
    """Return the trees of each part: of two one half each; of one tree twice the same."""
    if len(parts) == 1:
        return [trees]
    middle = len(trees) // HALVES
    return [trees[middle:], trees[: max(1, middle)]]


def _parts(fit: AnyFit, k: int) -> list[FoldRows] | None:
    """Divide the rows into k parts, each of which validates trees of the others, or None.

    In time, every part but the first evaluates trees of those before it.
    """
    y, weights = fit.data.y, fit.data.weights
    rows = rows_to_divide(fit.design, fit.data)
    first = int(rows.order is not None)
    k = min(k, int((weights > 0).sum()) // FEWEST_ROWS, most_folds(rows) + first)
    if k < HALVES:
        return None
    try:
        parts = structured_folds(rows, k - first, fit.control.seed)
    except InputError:  # of some parts, the rest are rows of one class
        return None
    grown_on = [y[train & (weights > 0)] for train, _ in parts]
    return parts if all((values != values[:1]).any() for values in grown_on) else None
