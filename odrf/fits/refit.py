"""A fit of any kind grown again by its options: on other rows, other values, without a fold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.design.folds import FoldRows, most_folds, rows_to_divide
from odrf.engine.factors import with_rows
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, BoostedFit, Fit, GuidedFit, grow_boosted_fit, grow_guided_fit
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import pruned_at, sized_forest
from odrf.fits.responses import ValidationFolds, expected_response, folds_asked, groups_of_rows
from odrf.fits.stack.fit import StackedFit
from odrf.fits.stack.growing import refit_stack
from odrf.pruning.complexity import ERROR, nested_subtrees
from odrf.pruning.validation import geometric_means
from odrf.public.progress import progress_bar
from odrf.statistics.calibration import EvaluatedRows

# Growing a fit of any kind again by its options, on other rows or other values.


def refit(fit: AnyFit, data: TrainingData, rows: NDArray[np.bool_]) -> AnyFit:
    """Return the fit grown again by its options on the `rows` (n,) of `data`.

    These are its training rows, perhaps with other predictors or another response.  Sizes that the
    options choose by validation rows are chosen again; later calls of `prune` are not repeated.
    Raises `InputError` for a stack whose models depended on time.
    """
    kept = data.keeping(rows)
    if isinstance(fit, BoostedFit):
        offset = replace(fit.offset, values=fit.offset.values[rows])
        return grow_boosted_fit("", fit.design, kept, offset, fit.control, False)
    if isinstance(fit, GuidedFit):
        return grow_guided_fit("", fit.design, kept, fit.frame[rows], fit.control, False)
    if isinstance(fit, StackedFit):
        return refit_stack(fit, kept)
    assert isinstance(fit, Fit)
    return sized_forest(grow_fit("", fit.design, kept, fit.request))


# Probabilities of training rows by fits that were grown without them.

FOLDS = 5


def cross_fitted_rows(fit: AnyFit, cv: Any, progress: bool = False) -> EvaluatedRows:
    """Return the training rows of a fit of classes, each predicted by a fit grown without it.

    These fits have the same options.  The folds `cv` (by default five, or as many as there are
    groups or times) keep groups whole and follow time, if the fit has them; rows of the first times
    are in no fold, and are left out.  Raises `InputError` if there are no such folds, or the trees
    were pruned by their out-of-bag rows.
    """
    cut = _cut_later(fit)
    folds = _folds(fit, cv)
    data, classes = fit.data, fit.design.response.classes
    assert classes is not None
    p = np.full((data.n_rows, len(classes)), np.nan)
    for fold in progress_bar(folds.folds, unit="fold", progress=progress):
        grown = refit(fit, data, fold.train)
        if cut is not None:
            alpha, rule, loss = cut
            grown = pruned_at(cast(Fit, grown), alpha, rule, "", loss)
        p[fold.test] = _predicted(grown, fit, fold)
    used = (data.weights > 0) & ~np.isnan(p[:, 0])
    code = data.y[used].astype(np.int64)
    source = with_class_weights(f"held out by {folds.by}", data)
    groups = groups_of_rows(fit, None, used)
    return EvaluatedRows(p[used], code, data.weights[used], classes, source, groups)


def with_class_weights(source: str, data: TrainingData) -> str:
    """Return in words which training rows are evaluated, and whether by class weights."""
    return source if data.class_weights is None else f"{source}, with class weights"


def _folds(fit: AnyFit, cv: Any) -> ValidationFolds:
    if cv is None:
        most = most_folds(rows_to_divide(fit.design, fit.data))
        if most < 2:
            raise InputError(
                "calibrate() needs two folds, and groups= and order= of the fit leave none: fit "
                "with other groups=, or with odrf(), whose trees leave rows out"
            )
        cv = min(FOLDS, most)
    return folds_asked(fit, cv, fit.control.seed, "")


def _cut_later(fit: AnyFit) -> tuple[float, str, str] | None:
    """Return α, rule and loss by which `prune` has cut the trees of the fit; None if it has not.

    Of a tree, α is from the middle of the range in which the subtree is optimal: trees of folds
    have other critical α.
    """
    if not isinstance(fit, Fit) or fit.pruning is None or fit.pruning.by_options:
        return None
    if fit.pruning.choice is not None:
        raise InputError(
            "calibrate(cv=) grows the fit again, and its trees were pruned by their out-of-bag "
            "rows: leave cv= out"
        )
    path = fit.pruning.path
    rule, loss = (fit.control.pruning, ERROR) if path is None else (path.rule, path.loss)
    if not fit.control.is_single_tree:
        return fit.control.alpha or 0.0, rule, loss
    subtrees = nested_subtrees(fit.first_grown.forest, rule, loss)
    small = subtrees.leaves <= fit.forest.leaves()[0]
    return float(geometric_means(subtrees.alpha)[np.argmax(small)]), rule, loss


def _predicted(grown: AnyFit, fit: AnyFit, fold: FoldRows) -> NDArray[np.float64]:
    """Return the probabilities (m, K) of the rows of the fold."""
    offset = fit.offset.values[fold.test] if isinstance(fit, BoostedFit) else None
    return expected_response(grown, with_rows(fit.data.X, fold.test), offset)
