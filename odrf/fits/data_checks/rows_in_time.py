"""Whether the rows of a fit are in the order of time, and its residuals follow each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from odrf.engine.factors import with_rows
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.fit import Fit
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.statistics.data_checks import autocorrelation

__all__ = ["followed_in_time"]

# Residuals are those of some runs of successive rows, by some trees.
RUNS, LENGTH, TREES = 6, 50, 24
# Residuals of independent rows have a correlation of 0.0 ± 0.06 with the next ones.
STRONG = 0.4
FEWEST_ROWS, FEW_ROWS, MOST_COLUMNS = 2 * LENGTH, 64, 500


def followed_in_time(fit: Fit, data: pd.DataFrame) -> tuple[str, float] | None:
    """Return the column of times, and how strongly residuals follow each other in it.

    None if no column rises or falls from row to row, or residuals hardly do.  Tables that are
    sorted by the response are no series.  Residuals are those of out-of-bag rows; of a single tree
    on all rows those of its leaves.
    """
    rows = np.flatnonzero(fit.data.complete)
    if len(rows) < FEWEST_ROWS:
        return None
    y, is_number = fit.data.y, fit.design.response.classes is None
    is_sorted = is_number and (np.mean(np.diff(y) >= 0) > 0.95 or np.mean(np.diff(y) <= 0) > 0.95)
    response = set(fit.design.response.columns)
    names = [name for name in data.columns[:MOST_COLUMNS] if name not in response]
    for name in names:
        column = data[name]
        is_time = is_datetime64_any_dtype(column.dtype)
        # A number can be that of the row in a table that is sorted by its classes.
        if (is_time or (is_number and not is_sorted)) and _runs_through(column, rows):
            found = autocorrelation(_residuals(fit))
            return (str(name), found) if found > STRONG else None
    return None


def _runs_through(column: pd.Series, rows: NDArray[np.int64]) -> bool:
    """Return whether values rise, or fall, from row to row, with few ties."""
    dtype = column.dtype
    is_number = is_numeric_dtype(dtype) and not is_bool_dtype(dtype)
    if not (is_number or is_datetime64_any_dtype(dtype)):
        return False
    if is_number:
        # as an index, which some types of numbers cannot be
        column = column.astype(np.float64)
    few = column.iloc[rows[np.linspace(0, len(rows) - 1, FEW_ROWS).astype(np.int64)]]
    if not (few.is_monotonic_increasing or few.is_monotonic_decreasing):
        return False
    used = column.iloc[rows]
    one_way = used.is_monotonic_increasing or used.is_monotonic_decreasing
    return bool(one_way and 2 * used.nunique() > len(used))


def _residuals(fit: Fit) -> NDArray[np.float64]:
    """Return residuals (r, w) of runs of successive rows; NaN where every tree drew the row."""
    n, forest = len(fit.data.y), fit.forest
    starts = np.linspace(0, n - LENGTH, min(RUNS, n // LENGTH)).astype(np.int64)
    rows = (starts[:, np.newaxis] + np.arange(LENGTH)).ravel()
    X = with_rows(fit.data.X, rows)
    sums, votes = np.zeros((len(rows), forest.value.shape[1])), np.zeros(len(rows))
    judges_others = leaves_rows_out(fit)
    for b in range(min(TREES, forest.n_trees)):
        tree = forest.tree(b)
        counts = fit.draws.unseen(b)[rows] if judges_others else np.ones(len(rows), dtype=bool)
        sums[counts] += tree.value[leaf_nodes(tree, X, 1)[:, 0]][counts]
        votes += counts
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums / votes[:, np.newaxis]
    y = fit.data.y[rows]
    if value.shape[1] > 1:
        common = np.bincount(fit.data.y.astype(np.int64)).argmax()
        residual = (y == common) - value[:, common]
    else:
        residual = y - value[:, 0]
    return residual.reshape(len(starts), LENGTH)
