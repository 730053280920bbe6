"""Residuals: predicted distributions, and the influence of training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.engine.running import end_if_stopped, one_thread, row_blocks
from odrf.statistics.calibration import rate_with_interval

Floats = NDArray[np.float64]

ROWS = 512
REGIONS = 10


def probability_transforms(weights: scipy.sparse.csr_array, y: Floats, observed: Floats) -> Floats:
    """Return the share of its predicted distribution below each response (m,), equal ones half."""
    out = np.full(len(observed), np.nan)
    for block in row_blocks(len(observed), ROWS):
        end_if_stopped()
        part = weights[block]
        row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        off = y[part.indices] - observed[block][row]
        below = np.bincount(row, part.data * ((off < 0) + 0.5 * (off == 0)), part.shape[0])
        total = np.bincount(row, part.data, part.shape[0])
        known = total > 0
        out[block.start + np.flatnonzero(known)] = below[known] / total[known]
    return out


def regions_of(fitted: Floats) -> pd.Categorical[str]:
    """Return the tenth of the fitted values (n,) that each row is in, as intervals."""
    if len(fitted) and (fitted == fitted[0]).all():
        return pd.Categorical([f"{fitted[0]:.12g}"] * len(fitted))
    tenths = pd.Series(pd.qcut(fitted, REGIONS, duplicates="drop"))
    # ends are rounded to few decimals, which are shown without the rest of a float
    labels = _labels(tenths.cat.categories, 12)
    if len(set(labels)) < len(labels):  # large numbers that differ little
        labels = _labels(tenths.cat.categories, 17)
    return pd.Categorical.from_codes(tenths.cat.codes.to_numpy(), pd.Index(labels))


def _labels(intervals: pd.Index, digits: int) -> list[str]:
    return [f"({each.left:.{digits}g}, {each.right:.{digits}g}]" for each in intervals]


def coverage_table(
    region: pd.Categorical[str],
    inside: NDArray[np.bool_],
    level: float,
    groups: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Return how often responses are inside their intervals, by region, in their order."""
    lines = []
    for code in np.unique(region.codes[region.codes >= 0]).tolist():
        here = region.codes == code
        hits, of_region = inside[here].astype(np.float64), None if groups is None else groups[here]
        rate, ends = rate_with_interval(hits, np.ones(len(hits)), of_region, level)
        lines.append((region.categories[code], len(hits), rate, *ends))
    return pd.DataFrame(lines, columns=["region", "rows", "coverage", "conf_low", "conf_high"])


def quantiles_to_compare(n: int) -> Floats:
    """Return the quantiles of a normal distribution that n ordered residuals are compared with."""
    return np.asarray(scipy.special.ndtri((np.arange(n) + 0.5) / n))


# Weights that add up to 1 do so within this.
ROUNDING = 1e-9


@one_thread()
def row_influence(
    weights: scipy.sparse.csr_array, y: Floats, case_weights: Floats
) -> tuple[Floats, Floats]:
    """Return the leverage and the influence (n,) of training rows on predictions of m rows.

    A forest predicts Σ_j w_ij·y_j, `weights` (m, n). The leverage of row j is Σ_i w_ij. Without its
    response the prediction would change by w_ij·(y_j - prediction)/(1 - w_ij): the root of the mean
    square is the influence, Cook's distance (1977, Technometrics 19, 15-18) of a linear smoother.
    """
    m, n = weights.shape
    row = np.repeat(np.arange(m), np.diff(weights.indptr))
    known = np.bincount(row, weights.data, m) > 0
    counted = np.where(known, case_weights, 0.0)
    share = counted / counted.sum()
    predicted = np.asarray(weights @ y)
    w, of = weights.data, y[weights.indices]
    # the mean of all responses predicts a row of which only one response was known
    alone = w >= 1.0 - ROUNDING
    rest = np.where(alone, 1.0, 1.0 - w)
    change = np.where(alone, of - y.mean(), w * (of - predicted[row]) / rest)
    leverage = np.bincount(weights.indices, w * share[row], n) * known.sum()
    squares = np.bincount(weights.indices, change**2 * share[row], n)
    return leverage, np.sqrt(squares)
