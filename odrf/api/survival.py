"""Results of fits for survival times; loaded when a response is one."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.weights import Offset
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.fit import Fit
from odrf.fits.pruning import sized_tree
from odrf.fits.survival.boosted import grow_boosted_survival
from odrf.fits.survival.fit import survival_tree_of, with_curves
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults


def survival_forest(grown: Fit, table: pd.DataFrame) -> SurvivalForestResults:
    """Return the forest of a call of `odrf.odrf`, grown on the rows of a `table`."""
    return SurvivalForestResults(warned_of_data(with_curves(grown), table))


def survival_tree(grown: Fit, table: pd.DataFrame, progress: bool) -> SurvivalTreeResults:
    """Return the tree of a call of `odrf.odt`, pruned as its options say."""
    fit = sized_tree(survival_tree_of(grown), progress)
    return SurvivalTreeResults(warned_of_data(fit, table))


def survival_boosted(
    call: str,
    design: Design,
    data: TrainingData,
    table: pd.DataFrame,
    offset: Offset,
    control: ResolvedBoostingOptions,
    progress: bool,
    held: NDArray[np.bool_] | None,
) -> SurvivalBoostedResults:
    """Return the boosted trees of a call of `odrf.odbt`; the `data` are read from the `table`."""
    fit = grow_boosted_survival(call, design, data, offset, control, progress, held)
    return SurvivalBoostedResults(warned_of_data(fit, table))
