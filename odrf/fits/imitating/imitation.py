"""One pruned tree that imitates the predictions of a fit, and how well it does so."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.design.folds import FoldRows
from odrf.design.response import Response
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.running import one_thread
from odrf.engine.trees.forest import Forest, add_up_branches, predicted_classes
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.evaluating import grown_without
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.growing import grow_fit
from odrf.fits.judging.judging_folds import JudgingFolds, folds_asked
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.prediction.scores import explained_part
from odrf.fits.pruned import pruned_at
from odrf.options.request import inner_request
from odrf.pruning.complexity import (
    ERROR,
    IMPURITY,
    WEAKEST_LINK,
    critical_alphas,
    nested_subtrees,
    pruned,
    root_errors,
)
from odrf.pruning.validation import (
    Fold,
    SubtreePath,
    cross_validated,
    geometric_means,
    subtree_path,
)

__all__ = ["Imitation", "imitated"]

MIN_LEAF = 5


class Imitation(NamedTuple):
    """A tree that imitates a fit.

    Attributes
    ----------
    fit : Fit
        The pruned tree, whose response is what the fit predicts.
    fidelity : float
        R² of the tree's predictions of the fit's, on rows that the tree was not grown on.
    agreement : float or None
        For classes, the share of these rows whose predicted class is the same.
    error : float or None
        Mean squared error, or misclassification rate, of the tree on these rows; None if responses
        have offsets, which the tree's predictions lack.
    by : str
        Which rows were held out, in words.
    """

    fit: Fit
    fidelity: float
    agreement: float | None
    error: float | None
    by: str


def imitated(
    fit: AnyFit, max_leaves: int, cv: object, seed: int, progress: bool = False
) -> Imitation:
    """Grow a tree on the predictions of a fit for its training rows, and prune it.

    Of a number, the tree has the prediction as its response.  Of K classes, it has each row once
    for each class, weighted by the predicted probability: so the class shares of a leaf are the
    mean probabilities of its rows.  The subtree is that of the smallest error by cross-validation
    among those of the pruning path with at most `max_leaves` leaves.

    Parameters
    ----------
    fit : AnyFit
    max_leaves : int
    cv : int, array-like or splitter
        The folds.
    seed : int
    progress : bool

    Raises
    ------
    InputError
        The fit predicts the same for all rows, or was saved without its rows.
    """
    target = _predictions(fit)
    copies, data = _rows_to_imitate(fit, target)
    call = f"{fit.call}.surrogate(max_leaves={max_leaves})"
    response = _response(fit)
    design = replace(fit.design, response=response)
    K = response.n_classes
    request = inner_request(
        n_trees=1,
        resample="none",
        min_leaf=MIN_LEAF * K,
        seed=seed,
        n_jobs=fit.control.n_jobs,
        sample_fraction="auto",
    )
    grown = grow_fit(call, design, data, request)
    loss = ERROR if K == 1 else IMPURITY
    asked = _of_copies(folds_asked(cast(Fit, fit), cv, seed, ""), copies)
    growth, folds = grown_without(grown, asked, fit.control.n_jobs, progress)
    subtrees = nested_subtrees(grown.forest, WEAKEST_LINK, loss)
    critical = partial(critical_alphas, rule=WEAKEST_LINK, loss=loss)
    alphas = geometric_means(subtrees.alpha)
    held = cross_validated(growth, folds, critical, alphas, copies)
    path = subtree_path(
        subtrees, WEAKEST_LINK, loss, float(root_errors(grown.forest)[0]), held, asked.by
    )
    row = _smallest_error(path, max_leaves)
    alpha = float(path.table["alpha"].iloc[row])
    forest = replace(grown.forest, count=_rows_in_nodes(grown.forest, fit.data.X))
    tree = pruned_at(replace(grown, forest=forest), alpha, WEAKEST_LINK, "", path=path)
    predicted = _held_out(fit, folds, copies, critical, float(alphas[row]), target.shape)
    return _judged(fit, tree, target, predicted, asked)


def _predictions(fit: AnyFit) -> NDArray[np.float64]:
    """Return the means or class probabilities (n, K) that all trees predict for training rows.

    Offsets, which no tree of predictors can know, are 0.
    """
    target = expected_response(fit, fit.data.X)
    if (target == target[0]).all():
        raise InputError("the fit predicts the same for all rows: there is nothing to imitate")
    return target


def _rows_to_imitate(
    fit: AnyFit, target: NDArray[np.float64]
) -> tuple[NDArray[np.int64], TrainingData]:
    """Return the number of the training row of each row of the tree's data, and these data."""
    data, (n, K) = fit.data, target.shape
    if K == 1:
        changed = replace(data, y=target[:, 0], class_weights=None)
        return np.arange(n), changed
    row, code = np.nonzero(target > 0)
    copied = replace(
        data,
        X=with_rows(data.X, row),
        y=code.astype(np.float64),
        weights=data.weights[row] * target[row, code],
        index=pd.RangeIndex(len(row)),
        complete=np.ones(len(row), dtype=np.bool_),
        class_weights=None,
        kept=None if data.kept is None else data.kept.iloc[row],
        structure=None,
    )
    return row, copied


def _rows_in_nodes(tree: Forest, X: Matrix) -> NDArray[np.int32]:
    """Return how many rows of X (p, n) reach each node (m,): each once, without its copies."""
    leaf = leaf_nodes(tree, X, 1)[:, 0]
    count = np.bincount(leaf, minlength=tree.n_nodes).astype(np.float64)[:, None]
    add_up_branches(tree.left, count)
    return count[:, 0].astype(np.int32)


def _response(fit: AnyFit) -> Response:
    """Return the response of the tree: the prediction of the fit's, in the same unit or classes."""
    return replace(fit.design.response, columns=(), evaluation=None, imitated=True)


def _of_copies(asked: JudgingFolds, copies: NDArray[np.int64]) -> JudgingFolds:
    """Return folds of the copies of rows."""
    folds = [FoldRows(fold.train[copies], fold.test[copies]) for fold in asked.folds]
    return asked._replace(folds=folds)


def _smallest_error(path: SubtreePath, max_leaves: int) -> int:
    small = path.table["leaves"].to_numpy() <= max_leaves
    return int(np.argmin(np.where(small, path.table["xerror"].to_numpy(), np.inf)))


def _held_out(
    fit: AnyFit,
    folds: list[Fold],
    copies: NDArray[np.int64],
    critical: partial[NDArray[np.float64]],
    alpha: float,
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """Return for each training row (n, K) the prediction of the tree grown without it."""
    out = np.full(shape, np.nan)
    for fold in folds:
        rows = np.unique(copies[fold.rows])
        tree = pruned(fold.tree, critical(fold.tree), alpha)
        out[rows] = predict(tree, with_rows(fit.data.X, rows), fit.control.n_jobs)
    return out


@one_thread()
def _judged(
    fit: AnyFit,
    tree: Fit,
    target: NDArray[np.float64],
    predicted: NDArray[np.float64],
    asked: JudgingFolds,
) -> Imitation:
    known = ~np.isnan(predicted[:, 0]) & (fit.data.weights > 0)
    target, predicted, y = target[known], predicted[known], fit.data.y[known]
    weights = fit.data.weights[known] / fit.data.weights[known].sum()
    spread = weights @ (target - weights @ target) ** 2
    fidelity = explained_part((weights @ (target - predicted) ** 2).sum(), spread.sum())
    at_zero = isinstance(fit, BoostedFit) and fit.offset.given
    if target.shape[1] == 1:
        error = float(weights @ (y - predicted[:, 0]) ** 2)
        return Imitation(tree, fidelity, None, None if at_zero else error, asked.by)
    classes = predicted_classes(predicted, tree.ordered)
    agreement = float(weights @ (classes == predicted_classes(target, fit.ordered)))
    error = float(weights @ (classes != y))
    return Imitation(tree, fidelity, agreement, None if at_zero else error, asked.by)
