"""Tests of two predictions of the same rows: mean losses, error rates, areas under ROC curves.

Rows are independent, or groups of rows, whose sums are then the units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.statistics.calibration import variance_of_groups
from odrf.statistics.discrimination import placements
from odrf.statistics.effects import reach_in_errors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Errors that are a smaller part of the scores are what rounding leaves of 0.
ROUNDING = 1e-14
T, NORMAL, MCNEMAR, DELONG = "t", "normal", "McNemar", "DeLong"


class PairedRows(NamedTuple):
    """What tests need of n rows: weights (n,), groups (n,) or None, and the intervals' level."""

    weights: Floats
    groups: Integers | None
    level: float


class PairedDifference(NamedTuple):
    """Two scores, the first less the second with standard error and interval, and a p-value.

    `p_value` is two-sided, by the `test` of this name.
    """

    first: float
    second: float
    difference: float
    std_error: float
    conf_low: float
    conf_high: float
    p_value: float
    test: str


def paired_difference(
    scores: tuple[float, float], std_error: float, level: float, freedom: float, test: str
) -> PairedDifference:
    """Return the difference of two scores, with Student's t, or normal of infinite `freedom`.

    Without an error, equal scores have the p-value 1; others have neither interval nor p-value.
    """
    first, second = scores
    difference, least = first - second, ROUNDING * max(abs(first), abs(second))
    if std_error > least:
        half = reach_in_errors(level, freedom) * std_error
        low, high = difference - half, difference + half
        p_value = float(2 * scipy.stats.t(freedom).sf(abs(difference) / std_error))
    elif abs(difference) <= least and std_error >= 0:
        difference, std_error, low, high, p_value = 0.0, 0.0, 0.0, 0.0, 1.0
    else:
        std_error, low, high, p_value = [float("nan")] * 4
    return PairedDifference(first, second, difference, std_error, low, high, p_value, test)


def difference_of_means(first: Floats, second: Floats, rows: PairedRows) -> PairedDifference:
    """Return the difference of two weighted mean losses of the same rows (n,), by Student's t."""
    share, groups = rows.weights / rows.weights.sum(), rows.groups
    scores = float(share @ first), float(share @ second)
    off = first - second
    units = np.arange(len(off)) if groups is None else groups
    variance = variance_of_groups(share * (off - share @ off), units)
    freedom = len(np.unique(units)) - 1
    return paired_difference(scores, float(np.sqrt(variance)), rows.level, freedom, T)


def difference_of_error_rates(first: Floats, second: Floats, rows: PairedRows) -> PairedDifference:
    """Return the difference of two error rates; `first` and `second` (n,) are 1 where wrong.

    McNemar's exact test asks whether, of the rows that one of both has wrong, each has as many. It
    is of independent rows that count alike; otherwise Student's t of means stands for it.
    """
    found = difference_of_means(first, second, rows)
    if rows.groups is not None or (rows.weights != rows.weights[0]).any():
        return found
    from statsmodels.stats.contingency_tables import mcnemar  # noqa: PLC0415 - slow to load

    counts = np.zeros((2, 2))
    np.add.at(counts, (first.astype(np.int64), second.astype(np.int64)), 1)
    return found._replace(p_value=float(mcnemar(counts, exact=True).pvalue), test=MCNEMAR)


def difference_of_areas(
    first: Floats, second: Floats, event: Floats, rows: PairedRows
) -> PairedDifference:
    """Return the difference of the areas under the ROC curves of two probabilities (n,).

    DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44, 837-845); with groups Obuchowski (1997,
    Biometrics 53, 567-578) and Student's t.
    """
    area, parts = area_and_parts(first, event, rows.weights)
    other, parts_of_other = area_and_parts(second, event, rows.weights)
    off, yes, freedom = parts - parts_of_other, event > 0, float("inf")
    if rows.groups is not None:
        variance, freedom = variance_of_groups(off, rows.groups), len(np.unique(rows.groups)) - 1
    else:
        of_classes = [off[yes], off[~yes]]
        variance = sum(variance_of_groups(each, np.arange(len(each))) for each in of_classes)
    error = float(np.sqrt(variance))
    return paired_difference((area, other), error, rows.level, freedom, DELONG)


def area_and_parts(p: Floats, event: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return the area under the ROC curve of p (n,), and what each row (n,) adds to its error.

    The parts of the events add up to 0, and so do those of the others.
    """
    yes = event > 0
    among_others = placements(p[yes], p[~yes], weights[~yes])
    among_events = 1 - placements(p[~yes], p[yes], weights[yes])
    area = float(np.average(among_others, weights=weights[yes]))
    parts = np.empty(len(p))
    parts[yes] = weights[yes] / weights[yes].sum() * (among_others - area)
    parts[~yes] = weights[~yes] / weights[~yes].sum() * (among_events - area)
    return area, parts


def difference_by_influence(
    scores: tuple[float, float], influence: Floats, groups: Integers | None, level: float
) -> PairedDifference:
    """Return the difference of two scores, `influence` (n,) being that of rows on it."""
    if groups is None:
        error = float(np.sqrt(np.sum(influence**2)))
        return paired_difference(scores, error, level, float("inf"), NORMAL)
    error = float(np.sqrt(variance_of_groups(influence, groups)))
    return paired_difference(scores, error, level, len(np.unique(groups)) - 1, T)
