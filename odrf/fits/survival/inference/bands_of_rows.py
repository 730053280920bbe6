"""Standard errors of predicted curves, and how wide their simultaneous bands are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import in_blocks, row_blocks
from odrf.engine.survival.curves import incidence_of_trees, survival_of_trees
from odrf.engine.trees.routing import EVERY_ROW
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.statistics.curves import curve_covariances, simultaneous_width, typical_df
from odrf.statistics.effects import reach_in_errors
from odrf.statistics.jackknife import Variance, degrees_of_freedom, enough_trees, rows_of_trees

__all__ = ["CurveErrors", "curve_errors"]

# Most points of curves whose influences are computed at once, and most values of trees.
POINTS, AT_ONCE = 2**11, 2**22


class CurveErrors(NamedTuple):
    """The curves of m rows at G times, and their errors.

    Attributes
    ----------
    estimate, std_error : (m, G) float64
        NaN for a row that no tree predicts; the error also for one that a single tree does.
    alone : float
        Half the width of the interval for one point, in standard errors.
    reach : (m,) float64
        Half the width of the simultaneous band in standard errors: all points of the curve are no
        farther from their expectation, with the probability wanted.
    trees_advised : int
        How many trees would estimate the errors well enough; 0 if these are enough.
    """

    estimate: NDArray[np.float64]
    std_error: NDArray[np.float64]
    alone: float
    reach: NDArray[np.float64]
    trees_advised: int


def curve_errors(
    rows: PredictedRows,
    times: NDArray[np.float64],
    level: float,
    cause: int | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> CurveErrors:
    """Return curves with their errors over training samples, by the jackknife after bootstrap.

    Parameters
    ----------
    rows : PredictedRows
        m rows.
    times : (G,) float64
        Ascending.
    level : float
        The probability that a simultaneous band covers all G points.
    cause : int, optional
        The curves are the incidences of this cause, from 0; by default survival.
    advance : callable
        Called with numbers of rows when they are done.
    """
    fit, grid = rows.fit, rows.ranks(times)
    m, G, B = rows.X.shape[1], len(times), fit.forest.n_trees
    kinds = np.zeros(B, dtype=np.int64) if fit.blend is None else fit.blend.of_tree
    drawn = rows_of_trees(kinds, fit.draws, rows.unseen is not None)
    estimate, raw, bias, of_trees = np.empty((4, m, G))
    reach, most_df = np.empty(m), degrees_of_freedom(fit.draws)

    def run(block: slice) -> None:
        values = _of_trees(rows, grid, cause, block)
        used = None if rows.unseen is None else rows.unseen[:, block]
        number = np.full(block.stop - block.start, B) if used is None else used.sum(axis=0)
        with np.errstate(invalid="ignore"):
            estimate[block] = values.sum(axis=0) / number[:, None]
        for i, found in enumerate(curve_covariances(values, drawn, used), block.start):
            raw[i], bias[i], of_trees[i], _ = found.variances
            df = min(typical_df(found.variances.df), most_df)
            reach[i] = simultaneous_width(found.total, level, fit.control.seed, df)

    size = max(1, min(POINTS // G, AT_ONCE // (B * G)))
    for _ in in_blocks(run, row_blocks(m, size), fit.control.n_jobs, advance):
        pass
    variance = Variance(raw, bias, of_trees, drawn.unseen.shape[1])
    std_error = np.sqrt(variance.total)
    by_one = _predicted_by_one(rows, kinds)
    std_error[by_one], reach[by_one] = np.nan, np.nan
    raw, bias, of_trees = (part[~by_one].ravel() for part in (raw, bias, of_trees))
    known = Variance(raw, bias, of_trees, variance.n)
    advised = 0 if by_one.all() else enough_trees(known, B)
    return CurveErrors(estimate, std_error, reach_in_errors(level, most_df), reach, advised)


def _of_trees(
    rows: PredictedRows, grid: NDArray[np.int64], cause: int | None, block: slice
) -> NDArray[np.float64]:
    """Return the survival (B, m, G) of each tree, or the incidence of a cause."""
    fit, wanted = rows.fit, EVERY_ROW if rows.unseen is None else rows.unseen
    if cause is None:
        return survival_of_trees(fit.forest, fit.curves, rows.X, grid, block, wanted)
    return incidence_of_trees(fit.forest, fit.curves, rows.X, grid, cause, block, wanted)


def _predicted_by_one(rows: PredictedRows, kinds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows (m,) have no two trees of one kind that predict them."""
    if rows.unseen is None:
        return np.zeros(rows.X.shape[1], dtype=np.bool_)
    of_kinds = [rows.unseen[kinds == g].sum(axis=0) for g in np.unique(kinds)]
    return np.asarray(np.max(of_kinds, axis=0) < 2)
