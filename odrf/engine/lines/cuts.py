"""Cuts of single variables: between constants, and between lines in the variable."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part

# A side whose variance is a smaller share of its weight has a constant, not a line.
NO_VARIANCE = 1e-8


@part
def _fit(weight, x, y, xx, xy):
    """Return what a line explains of the sum of squares of y, from sums over some rows."""
    explained = y * y / weight
    variance = xx - x * x / weight
    if variance > NO_VARIANCE * weight:
        covariance = xy - x * y / weight
        explained += covariance * covariance / variance
    return explained


@part
def _between(low, high):
    """Return a number of at least `low` and below `high`."""
    middle = 0.5 * (low + high)
    return middle if middle < high else low


@part
def _best_cut(values, order, target, weights, min_leaf, lines):
    """Return the largest decrease of the squared error of `target` (n,) by a cut, and the cut.

    `order` (n,) sorts the values.  On each side there is a constant, or with `lines` a line in the
    variable; the decrease is from one such over all rows.
    """
    n = len(values)
    middle = values[order[n // 2]] if lines else values[order[0]]
    weight = x = y = xx = xy = 0.0
    for i in range(n):
        w, v = weights[i], (values[i] - middle if lines else 0.0)
        weight, x, y = weight + w, x + w * v, y + w * target[i]
        xx, xy = xx + w * v * v, xy + w * v * target[i]
    together = _fit(weight, x, y, xx, xy)
    w0 = x0 = y0 = xx0 = xy0 = most = 0.0
    cut = np.nan
    for i in range(n - min_leaf):
        row = order[i]
        w, v = weights[row], (values[row] - middle if lines else 0.0)
        w0, x0, y0 = w0 + w, x0 + w * v, y0 + w * target[row]
        xx0, xy0 = xx0 + w * v * v, xy0 + w * v * target[row]
        low, high = values[row], values[order[i + 1]]
        if i + 1 >= min_leaf and low < high:
            left = _fit(w0, x0, y0, xx0, xy0)
            right = _fit(weight - w0, x - x0, y - y0, xx - xx0, xy - xy0)
            decrease = left + right - together
            if decrease > most:
                most, cut = decrease, _between(low, high)
    return most, cut


@kernel
def write_cuts(values, order, y, residual, weights, min_leaf, decreases, cuts):
    """Write the best cuts of each of v variables to decreases and cuts (3, v).

    Of the response by constants, of the residuals by constants, and of the residuals by lines.
    `values`, `order` (v, n): the variables, and what sorts each.  `y`, `residual`, `weights` (n,).
    """
    for j in range(len(values)):
        v, o = values[j], order[j]
        decreases[0, j], cuts[0, j] = _best_cut(v, o, y, weights, min_leaf, False)
        decreases[1, j], cuts[1, j] = _best_cut(v, o, residual, weights, min_leaf, False)
        decreases[2, j], cuts[2, j] = _best_cut(v, o, residual, weights, min_leaf, True)
