"""Tables of the importance of predictors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.fit import AnyFit, Fit
from odrf.fits.regrowing import permutation_rises
from odrf.statistics.importance import impurity_importance, sampling_errors, summed_importance
from odrf.statistics.out_of_bag_importance import out_of_bag_importance

__all__ = ["impurity_table", "out_of_bag_table", "permutation_table"]


def impurity_table(fit: AnyFit) -> pd.DataFrame:
    """Return the impurity importance of each predictor and its share, the largest first."""
    measure = summed_importance if fit.summed else impurity_importance
    importance = measure(fit.forest, fit.design.first)
    return _with_shares(fit, importance)


def out_of_bag_table(fit: Fit) -> pd.DataFrame:
    """Return the out-of-bag importance of each predictor and its share, the largest first.

    Importances below 0 have a negative share of the sum of the others.
    """
    data = fit.data
    return _with_shares(
        fit, out_of_bag_importance(fit.forest, data.X, data.y, fit.design.first, fit.draws)
    )


def _with_shares(fit: AnyFit, importance: NDArray[np.float64]) -> pd.DataFrame:
    total = importance[importance > 0].sum()
    share = importance / total if total > 0 else np.zeros(len(importance))
    return _sorted(fit, {"importance": importance, "share": share})


def permutation_table(fit: Fit, progress: bool = False) -> pd.DataFrame:
    """Return the permutation importance of each predictor with its errors, the largest first."""
    rise = permutation_rises(fit, progress)
    B = len(rise.of_tree)
    deviation = rise.of_tree.std(axis=0, ddof=1) if B > 1 else np.full(len(rise.of_row), np.nan)
    of_trees, of_rows = deviation / np.sqrt(B), sampling_errors(rise.of_row, rise.share)
    columns = {
        "importance": rise.of_tree.mean(axis=0),
        "std_error": np.hypot(of_rows, of_trees),
        "monte_carlo_error": of_trees,
    }
    return _sorted(fit, columns)


def _sorted(fit: AnyFit, columns: dict[str, NDArray[np.float64]]) -> pd.DataFrame:
    table = pd.DataFrame(columns, index=pd.Index(fit.design.predictors, name="predictor"))
    return table.sort_values("importance", ascending=False, kind="stable")
