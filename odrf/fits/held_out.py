"""Trees with rows that did not grow them: out-of-bag rows, or the fit is made again on parts.

A fit whose trees use all rows is made again without some, its validation rows: cross-fitting.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

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
from odrf.statistics.importance import FEWEST_ROWS, HeldOutTrees, response_columns

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
    if fit.forest.lines is None and not fit.forest.is_split().any():
        return []
    if leaves_rows_out(fit):
        return _with_rows_missed(fit)
    is_tree = isinstance(fit, Fit) and fit.forest.n_trees == 1
    parts = _parts(fit, FOLDS if is_tree and fit.data.X.size <= LARGE else HALVES)
    if parts is None:
        return None
    if isinstance(fit, Fit) and is_tree:
        trees = in_order(partial(_tree_without, fit), parts, fit.control.n_jobs, fit.data.X.size)
        evaluated = []
        with progress_bar(total=len(parts), unit="fold", progress=progress) as bar:
            for part, tree in zip(parts, trees, strict=True):
                evaluated.append(HeldOutTrees(tree, part.test))
                bar.update()
        return evaluated
    if isinstance(fit, BoostedFit):
        try:
            return [
                HeldOutTrees(_boosted_without(fit, part, progress), part.test) for part in parts
            ]
        except InputError:  # too few rows for those that validation= holds out
            return None
        return [HeldOutTrees(*each) for each in zip(trees, [p.test for p in parts], strict=True)]
    assert isinstance(fit, Fit | GuidedFit)
    numbers = np.arange(len(fit.streams))
    # of two parts each gets half of the trees, and the same one if there is only one
    middle = len(numbers) // HALVES
    some = [numbers] if len(parts) == 1 else [numbers[middle:], numbers[: max(1, middle)]]
    return [
        HeldOutTrees(_trees_without(fit, part, which, progress), part.test)
        for part, which in zip(parts, some, strict=True)
    ]


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
    return response_columns(y, fit.forest.value.shape[1])


def _with_rows_missed(fit: AnyFit) -> list[HeldOutTrees] | None:
    """Return each tree, or the trees of each run, with the rows that it did not sample."""
    assert isinstance(fit, Fit | BoostedFit)
    missed = rows_missed(fit) & (fit.data.weights > 0)
    if not missed.any():
        return None
    forest, parts = fit.forest, []
    n_outputs = fit.control.n_outputs if isinstance(fit, BoostedFit) else 1
    unit = np.arange(forest.n_trees) // n_outputs % len(missed)
    for m, rows in enumerate(missed):
        trees = [forest.tree(int(b)) for b in np.flatnonzero(unit == m)]
        parts.append(HeldOutTrees(trees[0] if len(trees) == 1 else joined(trees, len(trees)), rows))
    return parts


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


def _trees_without(
    fit: Fit | GuidedFit, part: FoldRows, some: NDArray[np.int64], progress: bool
) -> Forest:
    """Return the trees of the numbers `some`, grown on the rows of a part and pruned alike."""
    data, n_jobs = fit.data.keeping(part.train), fit.control.n_jobs
    if isinstance(fit, GuidedFit):
        of_streams = fit.streams[some]
        return grow_guided_trees(
            fit.design, data, fit.control, of_streams, n_jobs, progress
        ).unshared
    controls = list(fit.kinds.values()) or [fit.control]
    kind = np.zeros(len(some), dtype=np.int64) if fit.blend is None else fit.blend.of_tree[some]
    of_kind = [
        grow_alike(fit.design, data, controls[g], fit.streams[some[kind == g]], n_jobs, progress)
        for g in np.unique(kind)
    ]
    forest = joined(of_kind, len(of_kind))
    if fit.pruning is None or fit.control.alpha is None:
        return forest
    return pruned(forest, critical_alphas(forest, fit.control.pruning), fit.control.alpha)


def _boosted_without(fit: BoostedFit, part: FoldRows, progress: bool) -> Forest:
    data = fit.data.keeping(part.train)
    offset = replace(fit.offset, values=fit.offset.values[part.train])
    return grow_boosted_fit("", fit.design, data, offset, fit.control, progress).forest


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
