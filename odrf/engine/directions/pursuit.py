"""One term of projection pursuit: the direction along which a smooth function fits best.

Friedman and Stuetzle (1981) fit sums of terms g(θᵀz), with g estimated by a smoother.  Here one
term is fitted, by Gauss-Newton steps.  The smoother is running lines: at u, the least squares line
through the rows that are at most so many places away from u in sorted order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import kernel, part, summing
from odrf.engine.directions.estimation import centre, covariances, least_squares, moments, normalise
from odrf.engine.radix_sorting import DigitScratch, digit_scratch, sort_by_digits
from odrf.engine.sorting import POSITION, VALUE_SHIFT, key_of

__all__ = ["Pursuit", "pursue", "pursuit_for", "running_lines"]

# Variances below this share of the total variance are rounding errors.
NO_VARIANCE = 1e-10


class Pursuit(NamedTuple):
    """Scratch for projection pursuit on up to D columns and R rows.

    Attributes
    ----------
    sorting : DigitScratch
        Its keys are the rows sorted by their projections.
    begin, end : (R,) int64
        Where rows with the same projection begin and end in that order.
    sums : (5, R + 1) float64
        Cumulative sums, over the rows before each, of a, a·u, a·u², a·t and a·u·t.
    slopes : (D, R) float64
        Derivative of the fit at each row by each coefficient.
    trial : (D,) float64
        The direction after the next step.
    """

    sorting: DigitScratch
    begin: np.ndarray
    end: np.ndarray
    sums: np.ndarray
    slopes: np.ndarray
    trial: np.ndarray


def pursuit_for(D: int, R: int) -> Pursuit:
    """Allocate the scratch for D columns and R rows."""
    return Pursuit(
        digit_scratch(np.empty(R, dtype=np.uint64), np.empty(R, dtype=np.uint64)),
        np.empty(R, dtype=np.int64),
        np.empty(R, dtype=np.int64),
        np.zeros((5, R + 1)),
        np.empty((D, R)),
        np.empty(D),
    )


@part
def _sort(u, m, scratch):
    """Sort the first m of u, as float32, and find the runs of equal values."""
    keys, begin, end = scratch.sorting.keys, scratch.begin, scratch.end
    for i in range(np.uint64(m)):
        keys[i] = key_of(np.float32(u[i]), i)
    sort_by_digits(scratch.sorting, m)
    begin[0], end[m - 1] = 0, m
    for i in range(1, m):
        same = keys[i] >> VALUE_SHIFT == keys[i - 1] >> VALUE_SHIFT
        begin[i] = begin[i - 1] if same else i
    for i in range(m - 2, -1, -1):
        end[i] = end[i + 1] if begin[i + 1] == begin[i] else i + 1


@part
def _add_up(u, t, a, m, scratch):
    """Write the cumulative sums over the sorted rows."""
    keys = scratch.sorting.keys
    weight, first, second, level, product = scratch.sums
    for i in range(np.uint64(m)):
        row, j = np.uint64(keys[i] & POSITION), i + np.uint64(1)
        along, height = a[row] * u[row], a[row] * t[row]
        weight[j] = weight[i] + a[row]
        first[j] = first[i] + along
        second[j] = second[i] + along * u[row]
        level[j] = level[i] + height
        product[j] = product[i] + along * t[row]


@kernel
def running_lines(u, t, a, m, half, scratch, fit, slope):
    """Write to `fit` and `slope` (≥ m,) the running line of t on u at each of m rows.

    It is the least squares line, weighted by a, through the rows up to `half` places below and
    above u in sorted order, and all rows tied with these.  So it does not depend on the order of
    the rows.  For precision, u should be centred.
    """
    _sort(u, m, scratch)
    _add_up(u, t, a, m, scratch)
    keys, begin, end = scratch.sorting.keys, scratch.begin, scratch.end
    weight, first, second, level, product = scratch.sums
    mean = first[m] / weight[m]
    least = NO_VARIANCE * (second[m] / weight[m] - mean * mean)
    for i in range(m):
        row = np.uint64(keys[i] & POSITION)
        lo, hi = begin[max(begin[i] - half, 0)], end[min(end[i] - 1 + half, m - 1)]
        w = weight[hi] - weight[lo]
        middle, height = (first[hi] - first[lo]) / w, (level[hi] - level[lo]) / w
        variance = (second[hi] - second[lo]) / w - middle * middle
        covariance = (product[hi] - product[lo]) / w - middle * height
        # the variance of tied values can be a little above 0 by rounding
        varies = end[lo] < hi and variance > least
        slope[row] = covariance / variance if varies else 0.0
        fit[row] = height + slope[row] * (u[row] - middle)


@summing
def _weighted_squares(x, a, m):
    total = 0.0
    for i in range(m):
        total += a[i] * x[i] * x[i]
    return total


@part
def _loss(Z, d, m, t, a, half, work, scratch, theta):
    """Fit running lines along θ; write residuals to work.residual, return their sum of squares."""
    for i in range(m):
        work.eta[i] = 0.0
    for j in range(d):
        for i in range(m):
            work.eta[i] += theta[j] * Z[j, i]
    running_lines(work.eta, t, a, m, half, scratch, work.mean, work.variance)
    for i in range(m):
        work.residual[i] = t[i] - work.mean[i]
    return _weighted_squares(work.residual, a, m)


@part
def _step(Z, d, m, a, total, work, scratch):
    """Write the Gauss-Newton step from the last fit to work.step; return False if there is none."""
    for j in range(d):
        for i in range(m):
            scratch.slopes[j, i] = work.variance[i] * Z[j, i]
    moments(work.residual, a, m, work.product)
    if not covariances(scratch.slopes, d, m, a, work.product, total, work, work.step):
        return False
    least_squares(d, work, work.step)
    return True


@kernel
def pursue(Z, d, m, t, a, total, steps, half, work, scratch, theta):
    """Take up to `steps` Gauss-Newton steps from θ, to lower the squared error of running lines.

    A step is the least squares regression of the residuals on g'(θᵀz)·z, centred, with the ridge of
    `least_squares`.  The new direction is scaled to length 1.  A step that does not lower the error
    is not taken and ends the search.  Z is centred in place, by the work.sums of `covariances`.
    """
    trial = scratch.trial
    centre(Z, d, m, work.sums, total)
    if not normalise(theta, d):
        return
    least = _loss(Z, d, m, t, a, half, work, scratch, theta)
    for _ in range(steps):
        if not _step(Z, d, m, a, total, work, scratch):
            return
        for j in range(d):
            trial[j] = theta[j] + work.step[j]
        if not normalise(trial, d):
            return
        loss = _loss(Z, d, m, t, a, half, work, scratch, trial)
        if not loss < least:
            return
        least = loss
        for j in range(d):
            theta[j] = trial[j]
