"""Growing the models of a stack, and finding their weights from out-of-bag rows.

The models differ in what they find easily.  A forest of several kinds of trees is best where the
signal is rough.  A forest on a base, which predicts what a sum of splines leaves, is best where
most of it is smooth and additive, a forest on few predictors where most tell nothing.  A kernel
smoother is best where the signal is smooth in all predictors at once, an oblique one where it is so
in few directions, boosted runs where few predictors tell much.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.weights import Offset
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit, grow_boosted_fit
from odrf.fits.growing import grow_fit
from odrf.fits.out_of_bag_values import boosted_out_of_bag, forest_out_of_bag
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.fits.stacked.additive_base import base_of, can_have_base
from odrf.fits.stacked.few_predictors import ForestsOnFew
from odrf.fits.stacked.further_runs import further_runs
from odrf.fits.stacked.kernel_smoother import KernelSmoother, kernel_smoothers_of
from odrf.fits.stacked.models_used import models_used
from odrf.fits.stacked.quick_importance import importance_of_folds
from odrf.fits.stacked.stacked_fit import StackedFit, StackedPart, Trial
from odrf.fits.stacked.weighing import (
    errors_of,
    put_together,
    rises_without,
    stack_rows,
    stacking_weights,
)
from odrf.options.blend import FEWEST_TREES
from odrf.options.boosting import BoostingControl
from odrf.options.request import Request
from odrf.options.stack import StackedControl

__all__ = [
    "BASES",
    "FOREST",
    "MANY_CLASSES",
    "MANY_ROWS",
    "RUNS",
    "RUNS_ON_SINGLES",
    "base_named",
    "grow_stack",
    "stack_out_of_bag",
]

FOREST, RUNS = "forest", "boosted runs"
RUNS_ON_SINGLES = "boosted runs on single predictors"
# The first that is computed soon enough.
BASES = {"forest on splines": True, "forest on lines": False}
FEW = "forest on few predictors"
SMOOTHERS = ("kernel smoother", "oblique smoother")
# With so many classes or more, runs take longer than all other models together.
MANY_CLASSES = 10
# With so many rows runs on single predictors are tried, too: with fewer they hardly ever help.
MANY_ROWS = 3000


def grow_stack(
    call: str,
    design: Design,
    data: TrainingData,
    control: StackedControl,
    request: Request,
    boosting: dict[str, BoostingControl],
    progress: bool,
) -> StackedFit:
    """Grow the models and weigh them.

    With a budget the forest is grown in any case, and others as long as there is time.

    Parameters
    ----------
    call : str
    design : Design
    data : TrainingData
    control : StackedControl
    request : Request
        The options of each forest.
    boosting : dict of str to BoostingControl
        The options of the usual boosted runs, and of others that are tried with a budget; with many
        rows one of these is tried in any case.
    progress : bool
        Show a progress bar for each model.
    """
    end = time.monotonic() + (math.inf if control.budget is None else control.budget)
    forest = grow_fit(call, design, data, request, progress)
    if not leaves_rows_out(forest):
        raise InputError(
            "auto() weighs models by rows out of bag, and so few rows leave none: use 3 or more, "
            "or odrf()"
        )
    parts = [StackedPart(FOREST, forest)]
    of_forest = forest_out_of_bag(forest).value
    # leaving out single rows, or random folds, would not leave out a row's group, or later rows
    single_rows = data.structure is None
    if single_rows and design.response.classes is None and time.monotonic() < end:
        parts += _forest_on_base(call, design, data, request, progress)
    if single_rows and time.monotonic() < end:
        parts += _judged_by_folds(call, design, data, control, request, of_forest, progress)

    def grow_runs(options: BoostingControl) -> BoostedFit:
        offset = Offset(False, None, np.zeros(len(data.y)))
        return grow_boosted_fit(call, design, data, offset, options, progress)

    smooth = any(part.name in SMOOTHERS for part in parts)
    few_classes = design.response.n_classes < MANY_CLASSES
    if (few_classes or not smooth) and time.monotonic() < end:
        parts.append(StackedPart(RUNS, grow_runs(boosting[RUNS])))
    values = [of_forest, *(_out_of_bag(part, data) for part in parts[1:])]
    trials: tuple[Trial, ...] = ()
    many_rows = len(data.y) >= MANY_ROWS
    others = _others_to_try(boosting, control, few_classes and many_rows)
    if others:
        found, trials = further_runs(others, grow_runs, values, data, end)
        added = [StackedPart(name, fit) for name, fit in found.items()]
        parts += added
        values += [_out_of_bag(part, data) for part in added]
    known = stack_rows(values, data)
    used, weights = models_used(known), np.zeros(len(parts))
    weights[used], power = stacking_weights(known.by(used))
    errors, rises = errors_of(values, data, forest.ordered), rises_without(known, used)
    models = tuple(parts)
    return StackedFit(
        call, design, data, control, boosting, models, weights, power, errors, rises, trials
    )


def _others_to_try(
    boosting: dict[str, BoostingControl], control: StackedControl, singles: bool
) -> dict[str, BoostingControl]:
    """Return the kinds of runs to try: with a budget all others, else on `singles` or none."""
    if control.budget is not None:
        return {name: options for name, options in boosting.items() if name != RUNS}
    return {RUNS_ON_SINGLES: boosting[RUNS_ON_SINGLES]} if singles else {}


def _forest_on_base(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool
) -> list[StackedPart]:
    """Return a forest of half as many trees on a base, if one is computed soon enough."""
    name = base_named(len(data.y), len(design.columns))
    if name is None:
        return []
    base, left_out = base_of(data, BASES[name])
    rest = replace(data, y=data.y - left_out)
    fewer = request.giving(n_trees=max(FEWEST_TREES, request.n_trees // 2))
    return [StackedPart(name, grow_fit(call, design, rest, fewer, progress), base)]


def base_named(n: int, p: int) -> str | None:
    """Return the name of the forest on a base of p columns for n rows; None if there is none."""
    names = [name for name, splines in BASES.items() if can_have_base(n, p, splines)]
    return names[0] if names else None


def _judged_by_folds(
    call: str,
    design: Design,
    data: TrainingData,
    control: StackedControl,
    request: Request,
    known: NDArray[np.float64],
    progress: bool,
) -> list[StackedPart]:
    """Return a forest on few predictors, if it is of use, and smoothers.

    `known` (n, K) are out-of-bag predictions of the forest on all predictors.
    """
    parts = []
    by_fold = importance_of_folds(design, data, request, control.seed)
    if by_fold is not None:
        few = ForestsOnFew(call, design, data, request, by_fold, progress).best(known)
        if few is not None:
            parts.append(StackedPart(FEW, few.fit, None, few.columns, few.left_out))
    smoothers = kernel_smoothers_of(design, data, control.seed, by_fold)
    return parts + [StackedPart(*named) for named in zip(SMOOTHERS, smoothers, strict=False)]


def stack_out_of_bag(fit: StackedFit) -> NDArray[np.float64]:
    """Return the out-of-bag prediction (n, K) of each row.

    A row that is out of bag in some models only is predicted by these; NaN where it is in none.
    """
    used = [(part, share) for part, share in zip(fit.parts, fit.weights, strict=True) if share > 0]
    values = np.stack([_out_of_bag(part, fit.data) for part, _ in used])
    known = ~np.isnan(values[:, :, 0])
    weights = known * np.array([share for _, share in used])[:, None]
    total = weights.sum(axis=0)
    weights /= np.where(total > 0, total, 1.0)
    # what a model does not predict has weight 0; 1 is a number for either mean
    value = put_together(list(np.where(np.isnan(values), 1.0, values)), list(weights), fit.power)
    return np.where(total[:, None] > 0, value, np.nan)


def _out_of_bag(part: StackedPart, data: TrainingData) -> NDArray[np.float64]:
    """Return the out-of-bag prediction (n, K) of each row by one model."""
    if part.left_out is not None:
        return part.left_out
    if isinstance(part.fit, BoostedFit):
        return part.fit.loss.means(boosted_out_of_bag(part.fit))
    if isinstance(part.fit, KernelSmoother):
        return part.fit.left_out
    value = forest_out_of_bag(part.fit).value
    # what the trees were grown on is the response less what the base says without the row
    return value if part.base is None else value + (data.y - part.fit.data.y)[:, None]
