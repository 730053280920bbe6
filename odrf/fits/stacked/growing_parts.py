"""Growing the models of a stack, and finding their weights from out-of-bag rows.

The models differ in what they find easily.  A forest of several kinds of trees is best where the
signal is rough.  A forest on a base, which predicts what a sum of lines or splines leaves, is best
where most of it is smooth and additive.  A kernel smoother is best where it is smooth in all
predictors at once, an oblique one where it is so in few directions, boosted runs where few
predictors tell much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.offset import Offset
from odrf.fits.boosted_fit import BoostedFit, grow_boosted_fit
from odrf.fits.growing import grow_fit
from odrf.fits.out_of_bag_values import boosted_out_of_bag, forest_out_of_bag
from odrf.fits.stacked.additive_base import base_of, can_have_base
from odrf.fits.stacked.kernel_smoother import KernelSmoother, kernel_smoothers_of
from odrf.fits.stacked.stacked_fit import StackedFit, StackedPart
from odrf.fits.stacked.weighing import errors_of, put_together, stacking_weights
from odrf.options.boosting_control import BoostingControl
from odrf.options.request import Request
from odrf.options.stacked_control import StackedControl

__all__ = ["grow_stack", "stack_out_of_bag"]

FOREST, RUNS = "forest", "boosted runs"
SMOOTHERS = ("kernel smoother", "oblique smoother")
# With so many classes or more, runs take longer than all other models together.
MANY_CLASSES = 10
BASES = {"forest on lines": False, "forest on splines": True}


def grow_stack(
    call: str,
    design: Design,
    data: TrainingData,
    control: StackedControl,
    request: Request,
    boosting: BoostingControl,
    progress: bool,
) -> StackedFit:
    """Grow the models and weigh them.

    Parameters
    ----------
    call : str
    design : Design
    data : TrainingData
    control : StackedControl
    request : Request
        The options of each forest.
    boosting : BoostingControl
        The options of the boosted runs.
    progress : bool
        Show a progress bar for each model.
    """
    forest = grow_fit(call, design, data, request, progress)
    parts = [StackedPart(FOREST, forest)]
    n, p = len(data.y), len(design.columns)
    # leaving out one row at a time would not leave out its group, or later rows
    numbers = design.response.classes is None and data.structure is None
    for name, splines in BASES.items():
        if numbers and can_have_base(n, p, splines):
            base, left_out = base_of(data, splines)
            rest = replace(data, y=data.y - left_out)
            trees = grow_fit(call, design, rest, request, progress)
            parts.append(StackedPart(name, trees, base))
    single_rows = data.structure is None
    smoothers = kernel_smoothers_of(design, data, control.seed) if single_rows else ()
    parts += [StackedPart(*named) for named in zip(SMOOTHERS, smoothers, strict=False)]
    if not smoothers or design.response.n_classes < MANY_CLASSES:
        offset = Offset(False, None, np.zeros(n))
        runs = grow_boosted_fit(call, design, data, offset, boosting, progress)
        parts.append(StackedPart(RUNS, runs))
    values = [_out_of_bag(part, data) for part in parts]
    weights, power = stacking_weights(values, data, design.response.n_classes)
    errors = errors_of(values, data, forest.ordered)
    return StackedFit(call, design, data, control, tuple(parts), weights, power, errors)


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
    if isinstance(part.fit, BoostedFit):
        return part.fit.loss.means(boosted_out_of_bag(part.fit))
    if isinstance(part.fit, KernelSmoother):
        return part.fit.left_out
    value = forest_out_of_bag(part.fit).value
    # what the trees were grown on is the response less what the base says without the row
    return value if part.base is None else value + (data.y - part.fit.data.y)[:, None]
