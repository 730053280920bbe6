"""Tables of the importance of predictors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.fit import AnyFit, Fit, GuidedFit
from odrf.fits.growing import permutation_rises
from odrf.fits.held_out import held_out_trees, responses_held_out
from odrf.public.progress import progress_bar
from odrf.statistics.importance import (
    held_out_importance,
    impurity_importance,
    out_of_bag_importance,
    permuted_importance,
    sampling_errors,
    summed_importance,
)

__all__ = [
    "MeasuredImportance",
    "held_out_table",
    "impurity_measured",
    "impurity_table",
    "judged_measured",
    "out_of_bag_table",
    "permutation_table",
    "with_shares",
]

REMOVED, OUT_OF_BAG, HELD_OUT = "impurity removed", "out of bag", "held out"
REMOVED_BY_STEPS = "impurity of the working response removed"
FITTED_BY_STEPS = "covariance of response and score"
LOST_BY_PERMUTING = "covariance with the response lost by permuting"
BY_THEIR_OWN_ROWS = (
    "The rows that chose the splits also judge their importances, which favours predictors of many "
    "values: there are too few rows to hold some out."
)


class MeasuredImportance(NamedTuple):
    """The importances that a summary and a plot show first.

    Attributes
    ----------
    table : DataFrame
        Predictors with ``importance`` and ``share``, the largest first.
    measure : str
        What is shared out, in words.
    notes : tuple of str
        What should be known of it.
    """

    table: pd.DataFrame
    measure: str
    notes: tuple[str, ...] = ()


def judged_measured(fit: AnyFit, table: pd.DataFrame, rows: str) -> MeasuredImportance:
    """Return importances judged by rows that did not grow the trees; `rows` names these."""
    measure = FITTED_BY_STEPS if fit.summed else REMOVED
    if isinstance(fit, GuidedFit):
        measure = LOST_BY_PERMUTING
    return MeasuredImportance(table, f"{measure}, {rows}")


def impurity_measured(fit: AnyFit) -> MeasuredImportance:
    """Return importances judged by the rows that chose the splits, for want of others."""
    measure = REMOVED_BY_STEPS if fit.summed else REMOVED
    return MeasuredImportance(impurity_table(fit), measure, (BY_THEIR_OWN_ROWS,))


def held_out_table(fit: AnyFit, progress: bool = False) -> pd.DataFrame | None:
    """Return the held-out importance of each predictor and its share, the largest first.

    None if there are too few rows to hold some out.
    """
    parts = held_out_trees(fit, progress)
    if parts is None:
        return None
    data, control, first = fit.data, fit.control, fit.design.first
    judged = parts, data.X, responses_held_out(fit), data.weights, first
    if isinstance(fit, GuidedFit):
        importance = permuted_importance(*judged, control.seed, control.n_jobs)
    else:
        importance = held_out_importance(*judged, fit.summed, control.n_jobs)
    return with_shares(fit, importance)


def impurity_table(fit: AnyFit) -> pd.DataFrame:
    """Return the impurity importance of each predictor and its share, the largest first."""
    measure = summed_importance if fit.summed else impurity_importance
    importance = measure(fit.forest, fit.design.first)
    return with_shares(fit, importance)


def out_of_bag_table(fit: Fit, progress: bool = False) -> pd.DataFrame:
    """Return the out-of-bag importance of each predictor and its share, the largest first."""
    data = fit.data
    with progress_bar(total=fit.forest.n_trees, unit="tree", progress=progress) as bar:
        importance = out_of_bag_importance(
            fit.forest, data.X, data.y, fit.design.first, fit.draws, bar.update
        )
    return with_shares(fit, importance)


def with_shares(fit: AnyFit, importance: NDArray[np.float64]) -> pd.DataFrame:
    """Return importances (P,) with their shares of the sum of those above 0, the largest first.

    Shares add up to 1.  Importances below 0, of rows that did not grow the trees, have the share 0.
    """
    above = np.maximum(importance, 0.0)
    total = above.sum()
    share = above / total if total > 0 else np.zeros(len(importance))
    return _sorted(fit, {"importance": importance, "share": share})


def permutation_table(fit: Fit, progress: bool = False) -> pd.DataFrame:
    """Return the permutation importance of each predictor with its errors, the largest first."""
    rise = permutation_rises(fit, progress)
    B = len(rise.of_tree)
    deviation = rise.of_tree.std(axis=0, ddof=1) if B > 1 else np.full(len(rise.of_row), np.nan)
    groups = None if fit.data.structure is None else fit.data.structure.groups
    of_trees, of_rows = deviation / np.sqrt(B), sampling_errors(rise.of_row, rise.share, groups)
    columns = {
        "importance": rise.of_tree.mean(axis=0),
        "std_error": np.hypot(of_rows, of_trees),
        "monte_carlo_error": of_trees,
    }
    return _sorted(fit, columns)


def _sorted(fit: AnyFit, columns: dict[str, NDArray[np.float64]]) -> pd.DataFrame:
    table = pd.DataFrame(columns, index=pd.Index(fit.design.predictors, name="predictor"))
    return table.sort_values("importance", ascending=False, kind="stable")
