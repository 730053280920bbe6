"""What a stack of several models will take: its forests and boosted runs, each foreseen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.design import Design, TrainingData
from odrf.design.offset import Offset
from odrf.evaluation.foresight.forecast import Bytes, Forecast
from odrf.evaluation.foresight.of_boosting import forecast_of_boosting
from odrf.evaluation.foresight.of_forests import forecast_of_forest
from odrf.fits.stacked.additive_base import KNOTS
from odrf.fits.stacked.growing_stack import (
    FOREST,
    MANY_CLASSES,
    MANY_ROWS,
    RUNS,
    RUNS_ON_SINGLES,
    base_named,
)
from odrf.fits.stacked.kernel_smoother import MOST_ROWS
from odrf.options.boosting_control import BoostingControl
from odrf.options.kinds import FEWEST_TREES
from odrf.options.request import Request
from odrf.options.stacked_control import StackedControl

__all__ = ["forecast_of_stack"]

ROWS, SMOOTHERS, LARGEST = "training rows", "smoothers", "growth of the largest model"
# Matrices of all rows and terms that a base takes, and of all pairs of rows that a smoother does.
OF_BASE, OF_SMOOTHER = 5, 4


class _Model(NamedTuple):
    """What a model of a stack takes: at its largest in addition, afterwards, and in the file."""

    more: float
    fitted: float
    saved: float
    seconds: float

    @classmethod
    def of(cls, forecast: Forecast, share: float = 1.0) -> _Model:
        """Return that of a forecast, of whose trees it has a share."""
        growing, fitted, saved = (
            share * sum(of)
            for of in zip(
                *(each for name, each in forecast.parts.items() if name != ROWS), strict=True
            )
        )
        # out-of-bag rows are predicted, by records that the model keeps
        packed = share * forecast.predicting
        more = max(growing - fitted, packed + share * forecast.out_of_bag)
        return cls(more, fitted + packed, saved, share * forecast.seconds)


def forecast_of_stack(
    design: Design,
    data: TrainingData,
    control: StackedControl,
    request: Request,
    boosting: dict[str, BoostingControl],
    seconds: float,
    progress: bool = False,
) -> Forecast:
    """Return what a stack will take, whose design took so many `seconds` to build.

    `progress` shows bars of pilot trees and rounds.
    """
    n, K = len(data.y), design.response.n_classes
    forest = forecast_of_forest(design, data, request, 0.0, progress)
    models = {FOREST: _Model.of(forest)}
    single_rows = data.structure is None
    base = base_named(n, len(design.columns)) if single_rows and K == 1 else None
    if base is not None:
        share = max(FEWEST_TREES, request.n_trees // 2) / request.n_trees
        on_base = _Model.of(forest, share)
        more = max(on_base.more, OF_BASE * 8.0 * n * len(design.columns) * KNOTS)
        models[base] = on_base._replace(more=more)
    if single_rows:
        pairs = 8.0 * min(n, MOST_ROWS) ** 2
        models[SMOOTHERS] = _Model(OF_SMOOTHER * pairs, 2 * 8.0 * n * K, 2 * 8.0 * n * K, 0.0)
    runs = [RUNS] if K < MANY_CLASSES or not single_rows else []
    runs += [RUNS_ON_SINGLES] if K < MANY_CLASSES and n >= MANY_ROWS else []
    for name in runs:
        offset = Offset(False, None, np.zeros(n))
        models[name] = _Model.of(
            forecast_of_boosting(design, data, offset, boosting[name], 0.0, progress)
        )
    parts = {ROWS: forest.parts[ROWS]}
    parts |= {name: Bytes(each.fitted, each.fitted, each.saved) for name, each in models.items()}
    predictions = 8.0 * n * K * len(models)
    parts[LARGEST] = Bytes(max(each.more for each in models.values()) + predictions)
    return forest._replace(
        parts=parts,
        seconds=seconds + sum(each.seconds for each in models.values()),
        predicting=0.0,
        out_of_bag=predictions,
        notes=_notes(control),
    )


def _notes(control: StackedControl) -> tuple[str, ...]:
    notes = (
        "A forest on few predictors is not counted: only the fit tells whether there is one.",
        "All rounds of boosting are counted; fewer may be kept.",
    )
    if control.budget is None:
        return notes
    return (*notes, "budget= may end the fit earlier, or add other boosted runs.")
