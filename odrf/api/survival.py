"""Trees and forests for times to an event; loaded when a response is one."""

from __future__ import annotations

import pandas as pd

from odrf.design import Design, TrainingData
from odrf.design.weights import Offset
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import sized_tree
from odrf.fits.survival.boosted import grow_boosted_survival
from odrf.fits.survival.fit import survival_tree_of, with_curves
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.options import Options
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults


def survival_forest(
    call: str,
    design: Design,
    data: TrainingData,
    table: pd.DataFrame,
    request: Options,
    progress: bool,
) -> SurvivalForestResults:
    """Return the forest of a call of `odrf.odrf` whose response is ``Surv(time, event)``.

    The `data` are read from the `table`.
    """
    fit = with_curves(grow_fit(call, design, data, request, progress))
    return SurvivalForestResults(warned_of_data(fit, table))


def survival_tree(
    call: str,
    design: Design,
    data: TrainingData,
    table: pd.DataFrame,
    request: Options,
    progress: bool,
) -> SurvivalTreeResults:
    """Return the tree of a call of `odrf.odt` whose response is ``Surv(time, event)``."""
    grown = survival_tree_of(grow_fit(call, design, data, request))
    return SurvivalTreeResults(warned_of_data(sized_tree(grown, progress), table))


def survival_boosted(
    call: str,
    design: Design,
    data: TrainingData,
    table: pd.DataFrame,
    offset: Offset,
    control: ResolvedBoostingOptions,
    progress: bool,
) -> SurvivalBoostedResults:
    """Return the boosted trees of a call of `odrf.odbt` whose response is ``Surv(time, event)``."""
    fit = grow_boosted_survival(call, design, data, offset, control, progress)
    return SurvivalBoostedResults(warned_of_data(fit, table))
