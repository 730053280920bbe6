"""Tables of what each predictor adds to predicted survival."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.intervals import LEVEL
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.validation import JudgedPredictions, RepeatedEstimate, losses_when_permuted
from odrf.reports.importance_tables import MeasuredImportance, impurity_table
from odrf.statistics.calibration import normal_or_t

__all__ = ["permutation_measured", "survival_impurity_measured"]

BY_THEIR_OWN_ROWS = (
    "The rows that chose the splits also judge their importances, which favours predictors of many "
    "values: none out of bag has an event."
)
FALL = "fall of {} when permuted, out of bag"


def permutation_measured(
    fit: SurvivalFit, judged: JudgedPredictions, progress: bool
) -> MeasuredImportance:
    """Return by how much out-of-bag scores fall when a predictor is permuted, largest first."""
    losses, groups = losses_when_permuted(judged, fit.control.seed, progress), judged.rows.groups
    estimate, error, of_permutations = _columns(losses.concordance, groups)
    reach = normal_or_t(LEVEL, groups) * error
    columns = {
        "importance": estimate,
        "std_error": error,
        "conf_low": estimate - reach,
        "conf_high": estimate + reach,
        "monte_carlo_error": of_permutations,
    }
    columns["brier_rise"], columns["brier_std_error"], _ = _columns(losses.brier, groups)
    table = pd.DataFrame(columns, index=pd.Index(fit.design.predictors, name="predictor"))
    table = table.sort_values("importance", ascending=False, kind="stable")
    rows = judged.rows
    who = "Uno's C"
    if rows.cause is not None:
        who = f"C of {fit.design.response.causes[rows.cause - 1]}"
    return MeasuredImportance(table, FALL.format(who))


def survival_impurity_measured(fit: SurvivalFit) -> MeasuredImportance:
    """Return the decrease of the squared error of log-rank scores by splits, largest first."""
    measure = "squared error of log-rank scores removed"
    return MeasuredImportance(impurity_table(fit), measure, (BY_THEIR_OWN_ROWS,))


def _columns(
    losses: list[RepeatedEstimate], groups: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return estimates, standard errors over rows and permutations, those over permutations."""
    means = [loss.mean for loss in losses]
    estimate = np.array([mean.estimate for mean in means])
    of_rows = np.array(
        [mean.std_error if groups is None else mean.std_error_of_groups(groups) for mean in means]
    )
    of_permutations = np.array([loss.monte_carlo_error for loss in losses])
    return estimate, np.hypot(of_rows, of_permutations), of_permutations
