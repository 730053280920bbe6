"""The regions of a guided tree: their rows and impurities.

The rows of a region are adjacent in every array.  For classification the rows of the same class are
adjacent within the region, as dividing keeps their order.  So rows of a class beyond a plane are
counted without reading their labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import inlined, kernel, part, summing
from odrf.engine.numeric import extremes


class Regions(NamedTuple):
    """The rows of a tree and its regions, with room for the most regions that there can be.

    `X` (C, n): the tree's columns; rows are reordered as regions are divided.
    `code` (n,): classes of the rows; 0 for a regression.
    `y` (n,): responses of a regression, centred; unused for classes.
    `weights`, `moments` (n,): case weights w, and w·y.
    `number` (n,): numbers of the rows in the order in which the tree began, where planes are
      evaluated on a device, which keeps that order; else empty.
    `totals` (K,): N_c, the weight of each class among all rows.
    `begin`, `end` (room,): region i has the rows ``begin[i]:end[i]``.
    `left` (room,): number of the region's left part, the right part being the next; -1 while not
      divided.
    `plane` (room,): number of the plane that divides the region; -1 while not divided.
    `rows` (room, K): number of rows of each class.
    `mass` (room, K): weight of each class; for a regression Σ w·y.
    `weight` (room,): weight of all rows.
    `impurity` (room,): Z of Gupta et al., equation (8); for a regression the sum of squares about
      the mean.
    `low`, `high` (room, C): the box around the rows of a region that may be divided.
    """

    X: np.ndarray
    code: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    moments: np.ndarray
    number: np.ndarray
    totals: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    left: np.ndarray
    plane: np.ndarray
    rows: np.ndarray
    mass: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    low: np.ndarray
    high: np.ndarray


def regions_for(X, code, y, weights, K, number=()):
    """Allocate the regions of a tree for these rows, in the order of their codes."""
    C, n = X.shape
    room = 2 * n
    totals = np.bincount(code, weights=weights, minlength=K).astype(np.float64)
    # the system hands out memory only where it is written to
    return Regions(
        X, code, y, weights, weights * y, np.array(number, dtype=np.int32), totals,
        np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32),
        np.empty((room, K), dtype=np.int32), np.empty((room, K)), np.empty(room), np.empty(room),
        np.empty((room, C), dtype=np.float32), np.empty((room, C), dtype=np.float32),
    )  # fmt: skip


@part
def gini(mass, totals, weight):
    """Return Z of equation (8): the Gini impurity of mass / totals, times the weight."""
    total, squares = 0.0, 0.0
    for c in range(len(mass)):
        share = mass[c] / totals[c] if totals[c] > 0.0 else 0.0
        total += share
        squares += share * share
    return weight * (1.0 - squares / (total * total))


@part
def project_region(X, lo, hi, theta, values):
    """Write projections of rows lo … hi - 1 to `values`, in float32 as in prediction."""
    n = np.uint64(hi - lo)
    for i in range(n):
        values[i] = np.float32(0.0)
    for j in range(len(theta)):
        column = X[j, lo:hi]
        coefficient = theta[j]
        for i in range(n):
            values[i] += coefficient * column[i]


@summing
def beyond_plane(values, threshold, weights):
    """Return how many of the values (m,) are above the threshold, and the weight of these rows."""
    n_rows, weight = 0.0, 0.0
    for i in range(np.uint64(len(values))):
        is_beyond = 1.0 if values[i] > threshold else 0.0
        n_rows += is_beyond
        weight += is_beyond * weights[i]
    return n_rows, weight


@summing
def _moment_beyond(values, threshold, moments):
    """Return the sum of the moments of the rows whose values (m,) are above the threshold."""
    moment = 0.0
    for i in range(np.uint64(len(values))):
        moment += moments[i] if values[i] > threshold else 0.0
    return moment


@part
def impurity_of_classes(regions, region, weight, beyond, here):
    """Return the impurity of both parts; `beyond` (K,), of this weight, are past the plane."""
    for c in range(len(beyond)):
        here[c] = regions.mass[region, c] - beyond[c]
    left = gini(here, regions.totals, regions.weight[region] - weight)
    return left + gini(beyond, regions.totals, weight)


@part
def impurity_of_numbers(regions, region, weight, moment):
    """Return the sum of squares of both parts; weight and moment Σ w·y are those past the plane."""
    total, mass = regions.weight[region], regions.mass[region, 0]
    mean, other = moment / weight, (mass - moment) / (total - weight)
    between = weight * (total - weight) / total * (mean - other) * (mean - other)
    return regions.impurity[region] - between


@inlined
def _classes_after(regions, region, values, threshold, beyond, here):
    """Return how many rows are beyond the plane, and the impurity of both parts together."""
    lo, at, n_beyond, weight = regions.begin[region], 0, 0.0, 0.0
    for c in range(len(beyond)):
        size = regions.rows[region, c]
        beyond[c] = 0.0
        if size > 0:
            n_rows, beyond[c] = beyond_plane(
                values[at : at + size], threshold, regions.weights[lo + at : lo + at + size]
            )
            n_beyond += n_rows
            weight += beyond[c]
            at += size
    if n_beyond == 0.0 or n_beyond == at:
        return n_beyond, regions.impurity[region]
    return n_beyond, impurity_of_classes(regions, region, weight, beyond, here)


@inlined
def _numbers_after(regions, region, values, threshold):
    """Return how many rows are beyond the plane, and the sum of squares of both parts together."""
    lo, hi = regions.begin[region], regions.end[region]
    n_beyond, weight = beyond_plane(values[: hi - lo], threshold, regions.weights[lo:hi])
    if n_beyond == 0.0 or n_beyond == hi - lo:
        return n_beyond, regions.impurity[region]
    moment = _moment_beyond(values[: hi - lo], threshold, regions.moments[lo:hi])
    return n_beyond, impurity_of_numbers(regions, region, weight, moment)


@kernel
def impurity_after(regions, region, values, threshold, beyond, here):
    """Return how many rows, with projections in `values`, are beyond a plane, and the impurity."""
    if len(beyond) > 1:
        return _classes_after(regions, region, values, threshold, beyond, here)
    return _numbers_after(regions, region, values, threshold)


@inlined
def _count_classes(regions, region):
    lo, hi = regions.begin[region], regions.end[region]
    weight = 0.0
    for i in range(lo, hi):
        c = np.uint64(regions.code[i])
        regions.rows[region, c] += 1
        regions.mass[region, c] += regions.weights[i]
        weight += regions.weights[i]
    regions.weight[region] = weight
    regions.impurity[region] = gini(regions.mass[region], regions.totals, weight)


@inlined
def _add_up_numbers(regions, region):
    lo, hi = regions.begin[region], regions.end[region]
    weight, mass, squares = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        weight += regions.weights[i]
        mass += regions.moments[i]
    mean = mass / weight
    constant = True
    for i in range(lo, hi):
        deviation = regions.y[i] - mean
        squares += regions.weights[i] * deviation * deviation
        constant = constant and regions.y[i] == regions.y[lo]
    regions.rows[region, 0] = hi - lo
    regions.mass[region, 0], regions.weight[region] = mass, weight
    regions.impurity[region] = 0.0 if constant else squares


@inlined
def _surround(regions, region):
    """Write the box around a region's rows; return whether any column varies."""
    lo, hi = regions.begin[region], regions.end[region]
    wide = False
    for j in range(len(regions.X)):
        least, most = extremes(regions.X[j, lo:hi])
        regions.low[region, j], regions.high[region, j] = least, most
        wide = wide or least < most
    return wide


@part
def describe_region(regions, region, lo, hi, min_split):
    """Make the rows lo … hi - 1 a region; return whether it is to be divided further."""
    regions.begin[region], regions.end[region] = lo, hi
    regions.left[region], regions.plane[region] = -1, -1
    regions.rows[region, :], regions.mass[region, :] = 0, 0.0
    if regions.rows.shape[1] > 1:
        _count_classes(regions, region)
    else:
        _add_up_numbers(regions, region)
    return regions.impurity[region] > 0.0 and hi - lo >= min_split and _surround(regions, region)


@kernel
def begin_root(regions, min_split):
    """Make all rows the first region; return whether it is to be divided."""
    return describe_region(regions, 0, 0, regions.X.shape[1], min_split)


@part
def _order_of_parts(values, threshold, order):
    """Write the places of values up to the threshold, then of others; return the first number."""
    n, n_beyond = len(values), 0
    for i in range(np.uint64(n)):
        n_beyond += values[i] > threshold
    at, beyond = 0, n - n_beyond
    for i in range(np.uint64(n)):
        is_beyond = values[i] > threshold
        order[beyond if is_beyond else at] = i
        beyond += is_beyond
        at += not is_beyond
    return at


@part
def _reorder(items, order, waiting):
    """Put the items into the order; `waiting` has room for them."""
    for i in range(np.uint64(len(items))):
        waiting[i] = items[order[i]]
    for i in range(np.uint64(len(items))):
        items[i] = waiting[i]


@part
def divide_region(regions, region, plane, candidates, threshold, n_regions, min_split):
    """Divide a region by a plane into the next two; return for each if it is divided further."""
    lo, hi, numbers = regions.begin[region], regions.end[region], candidates.numbers
    order = candidates.order[: hi - lo]
    middle = lo + _order_of_parts(candidates.values[: hi - lo], threshold, order)
    _reorder(regions.weights[lo:hi], order, numbers)
    _reorder(regions.moments[lo:hi], order, numbers)
    if regions.rows.shape[1] > 1:
        _reorder(regions.code[lo:hi], order, numbers)
    else:
        _reorder(regions.y[lo:hi], order, numbers)
    if len(regions.number) > 0:
        _reorder(regions.number[lo:hi], order, numbers)
    for j in range(len(regions.X)):
        _reorder(regions.X[j, lo:hi], order, candidates.waiting)
    regions.left[region], regions.plane[region] = n_regions, plane
    left = describe_region(regions, n_regions, lo, middle, min_split)
    right = describe_region(regions, n_regions + 1, middle, hi, min_split)
    return left, right
