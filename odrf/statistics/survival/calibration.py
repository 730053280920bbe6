"""Calibration of risks at a time: observed frequencies in groups of similar predictions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.curves import cumulative_incidence, limits_of_probability, sums_at
from odrf.statistics.survival.observation import weights_at

Floats = NDArray[np.float64]


class CalibrationAt(NamedTuple):
    """Predicted and observed probabilities of an event by a time, in K groups of rows.

    All are (K,). `observed` is NaN after the last time of a group, unless all had an event; limits
    are NaN where none or all had it.
    """

    weight: Floats
    predicted: Floats
    observed: Floats
    std_error: Floats
    low: Floats
    high: Floats


def calibration_at(
    time: Floats,
    event: NDArray,
    risk: Floats,
    t: float,
    groups: int = 10,
    cause: int | None = None,
    weights: Floats | None = None,
    start: Floats | None = None,
    level: float = 0.95,
) -> CalibrationAt:
    """Compare risks (n,) of an event by t with the Kaplan–Meier or Aalen–Johansen estimate.

    In at most `groups` groups of about equal weight, equal risks in one. With a `cause`, only its
    events count, others compete. Errors with case weights are by the infinitesimal jackknife. With
    late entry, `start` (n,), predicted risks are weighted by the inverse probability to be
    observed.
    """
    of_rows = np.ones(len(time)) if weights is None else weights
    group = groups_of_equal_weight(risk, groups, of_rows)
    K = int(group.max()) + 1
    observed, variance = np.full((2, K), np.nan)
    for g in range(K):
        rows = group == g
        incidence = cumulative_incidence(
            time[rows],
            event[rows],
            cause,
            None if weights is None else weights[rows],
            None if start is None else start[rows],
        )
        all_had_one = (incidence.sets.survivors == 0).any()
        if t <= time[rows & (of_rows > 0)].max() or all_had_one:
            observed[g] = incidence.curve(t)
            errors = incidence.variance if weights is None else incidence.robust_variance
            variance[g] = np.append(0.0, errors)[np.searchsorted(incidence.times, t, side="right")]
    # an error of 0, of none or of all rows, does not make the estimate certain
    low, high = limits_of_probability(observed, np.where(variance > 0, variance, np.nan), level)
    weight = sums_at(group, of_rows, K)
    inverse_weights = of_rows.astype(np.float64)
    if start is not None:
        for g in range(K):
            rows = group == g
            lives = time[rows], event[rows], of_rows[rows]
            inverse_weights[rows] = weights_at(*lives, start[rows], t)
    predicted = sums_at(group, inverse_weights * risk, K) / sums_at(group, inverse_weights, K)
    return CalibrationAt(weight, predicted, observed, np.sqrt(variance), low, high)


def groups_of_equal_weight(value: Floats, groups: int, weights: Floats) -> NDArray[np.int64]:
    """Return the group (n,) of each row by the order of values, from 0; equal ones are in one."""
    levels, place = np.unique(value, return_inverse=True)
    place = place.reshape(-1)
    weight = sums_at(place, weights, len(levels))
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    group = np.minimum(np.floor(groups * middle), groups - 1).astype(np.int64)
    # a group of weight 0 joins the one before
    used = np.unique(group[weight > 0])
    return np.maximum(np.searchsorted(used, group, side="right") - 1, 0)[place]
