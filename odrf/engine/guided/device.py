"""Candidate planes of guided trees, evaluated together on a device (Gupta et al., section 4.2).

The rows are sent to the device once for each tree.  In each step the device projects the rows of
all active regions on all candidate planes by one product, and adds up the rows of each class and
region beyond each plane.  The host draws the planes, computes impurities from these sums, and
divides the regions by the projection that prediction has.  So where two planes are equally good but
for the rounding of the product, another one may be chosen than by `odrf.engine.guided.planes`;
apart from that the trees are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.guided.kernel import ACTIVE, TARGET, GuidedGrowth, propose, settle
from odrf.engine.guided.planes import CandidatePlanes, TreeColumns
from odrf.engine.guided.regions import (
    Regions,
    impurity_after,
    impurity_of_classes,
    impurity_of_numbers,
)
from odrf.engine.kernel_params import GuidedKernelParams

# Sums over the rows beyond planes, for arrays of any library of the array API.
# One product projects all rows on all planes; a comparison says which rows are beyond each; a sum
# for each segment, which is the rows of one class in one region, says how many these are.  What is
# added up are integers: so every library, device and order of the additions gives the same sums.

# Sums of integers stay below 2 to this power, and so within int64.
BITS = 61
# The largest power of two that numbers are multiplied by; 2 to minus it is a float64, too.
LARGEST_SHIFT = 1000
# The most projections at once, as a device has only so much memory: running sums take 17 bytes more
# for each.
MOST_PROJECTIONS = 2**27


class Device(NamedTuple):
    """Where arrays are, and what computes with them.

    `xp`: a namespace of the array API, as array-api-compat has them.  `place`: the device as the
    namespace names it; None for its default.  `fetched`: returns an array of the device as one of
    NumPy.  `add_up`: adds up over segments: `running_sums`, or
    `odrf.engine.guided.cuda.sums_by_blocks`.
    """

    xp: Any
    place: Any
    fetched: Callable[[Any], NDArray]
    add_up: Callable[..., Any]

    def sent(self, array: NDArray) -> Any:
        """Return a copy of an array of NumPy on the device."""
        return self.xp.asarray(array, device=self.place, copy=True)


class DeviceRows(NamedTuple):
    """The rows of a tree on a device, in the order in which the tree began.

    `X` (C, n): the tree's columns.  `values` (Q, n): what is added up: 1 for each row; then its
    weight, unless all weights are 1; then, for a regression, its moment w·y.  `unit` (Q,): what 1
    stands for in each of `values`.
    """

    device: Device
    X: Any
    values: Any
    unit: NDArray[np.float64]


def as_integers(numbers: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return the numbers (n,) in whole units of a power of two, to 2⁻⁶¹ of Σ|x|, and the unit."""
    total = float(np.abs(numbers).sum())
    shift = min(BITS - int(np.frexp(total)[1]), LARGEST_SHIFT)
    return np.rint(np.ldexp(numbers, shift)).astype(np.int64), float(np.ldexp(1.0, -shift))


def rows_on(
    device: Device,
    X: NDArray[np.float32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64] | None,
) -> DeviceRows:
    """Send the columns (C, n) of a tree, weights and, for a regression, moments to a device."""
    quantities = [(np.ones(len(weights), dtype=np.int64), 1.0)]
    if (weights != 1.0).any():
        quantities.append(as_integers(weights))
    if moments is not None:
        quantities.append(as_integers(moments))
    values, unit = zip(*quantities, strict=True)
    return DeviceRows(device, device.sent(X), device.sent(np.stack(values)), np.array(unit))


def sums_beyond(
    rows: DeviceRows, theta: NDArray[np.float32], threshold: NDArray[np.float32],
    chosen: NDArray[np.int32], first: NDArray[np.int64],
) -> NDArray[np.int64]:  # fmt: skip
    """Return the sums of each value over the rows of each segment beyond each plane, (Q, T, S).

    `theta` (T, C).  `threshold` (T,): the planes.  A row is beyond one if its projection is above
    the threshold.  `chosen` (m,): numbers of the rows, segment by segment.  `first` (S + 1,):
    segment i has the rows ``chosen[first[i]:first[i + 1]]``, at least one.
    """
    device, xp = rows.device, rows.device.xp
    taken, coefficients, cut = device.sent(chosen), device.sent(theta), device.sent(threshold)
    X, values = xp.take(rows.X, taken, axis=1), xp.take(rows.values, taken, axis=1)
    together = max(1, MOST_PROJECTIONS // len(chosen))
    sums = []
    for begin in range(0, len(theta), together):
        end = min(begin + together, len(theta))
        along = xp.matmul(coefficients[begin:end, :], X)
        added = device.add_up(device, along, cut[begin:end], values, first)
        sums.append(device.fetched(added))
    return np.concatenate(sums, axis=1)


def running_sums(
    device: Device, along: Any, threshold: Any, values: Any, first: NDArray[np.int64]
) -> Any:
    """Add up the values of each segment beyond each plane, as differences of running sums.

    `threshold` (T,), `values` (Q, m).  `along` (T, m): projections of the rows, segment by segment.
    `first` (S + 1,): where the segments begin and end.  Returns (Q, T, S).
    """
    xp = device.xp
    beyond = along > threshold[:, None]
    last = device.sent(first[1:] - 1)
    sums = []
    for q in range(values.shape[0]):
        running = xp.cumulative_sum(xp.where(beyond, values[q, :][None, :], 0), axis=1)
        until = xp.take(running, last, axis=1)
        sums.append(xp.concat([until[:, :1], until[:, 1:] - until[:, :-1]], axis=1))
    return xp.stack(sums)


# Grow a guided tree whose candidate planes are evaluated on a device (Gupta et al., section 4.2).


@kernel
def _segments(regions, growth, chosen, first):
    """Write rows of the active regions, by class, and their ends; return the number of segments."""
    m, n_segments = 0, 0
    first[0] = 0
    for region in growth.active[: growth.reached[ACTIVE]]:
        for i in range(regions.begin[region], regions.end[region]):
            chosen[m + i - regions.begin[region]] = regions.number[i]
        for c in range(regions.rows.shape[1]):
            if regions.rows[region, c] > 0:
                m += regions.rows[region, c]
                n_segments += 1
                first[n_segments] = m
    return n_segments


@kernel
def _evaluate_sums(regions, growth, sums, unit, weighted, candidates):
    """Do as `evaluate_planes`, from the sums (Q, T, S) over the rows beyond each plane."""
    candidates.total[:], candidates.cuts_target[:] = 0.0, False
    at, target, beyond = 0, growth.active[growth.reached[TARGET]], candidates.beyond
    heavy, K = int(weighted), len(beyond)
    for region in growth.active[: growth.reached[ACTIVE]]:
        size, follows = regions.end[region] - regions.begin[region], at
        for k in range(len(candidates.theta)):
            follows, n_beyond, weight = at, 0, 0.0
            for c in range(K):
                beyond[c] = 0.0
                if regions.rows[region, c] > 0:
                    n_beyond += sums[0, k, follows]
                    beyond[c] = float(sums[heavy, k, follows]) * unit[heavy]
                    weight += beyond[c]
                    follows += 1
            after = regions.impurity[region]
            if 0 < n_beyond < size:
                if region == target:
                    candidates.cuts_target[k] = True
                if K > 1:
                    after = impurity_of_classes(regions, region, weight, beyond, candidates.here)
                else:
                    moment = float(sums[heavy + 1, k, at]) * unit[heavy + 1]
                    after = impurity_of_numbers(regions, region, weight, moment)
            candidates.total[k] += after
        at = follows


class DeviceGrowth:
    """Grows one tree as `odrf.engine.guided.kernel.grow`, with planes on a device."""

    def __init__(self, device: Device, regions: Regions) -> None:
        n, K = len(regions.number), regions.rows.shape[1]
        self.rows = rows_on(device, regions.X, regions.weights, regions.moments if K == 1 else None)
        self.weighted = len(self.rows.unit) > 1 + (K == 1)
        self.chosen = np.empty(n, dtype=np.int32)
        self.first = np.empty(n + 1, dtype=np.int64)

    def __call__(
        self, regions: Regions, growth: GuidedGrowth, columns: TreeColumns,
        settings: GuidedKernelParams, state: NDArray[np.uint64], candidates: CandidatePlanes,
        budget: int,
    ) -> None:  # fmt: skip
        """Grow the tree until it is complete or the budget is used up."""
        while growth.reached[ACTIVE] > 0 and budget > 0:
            propose(regions, growth, columns, settings, state, candidates)
            S = _segments(regions, growth, self.chosen, self.first)
            first = self.first[: S + 1]
            chosen = self.chosen[: first[-1]]
            budget -= len(chosen)
            sums = sums_beyond(self.rows, candidates.theta, candidates.threshold, chosen, first)
            _evaluate_sums(regions, growth, sums, self.rows.unit, self.weighted, candidates)
            settle(regions, growth, candidates, settings.min_split)


# Evaluate all candidate planes of a step together, by one matrix product over all regions.
# The product is rounded as the linear algebra library rounds it.  So where two planes are equally
# good but for rounding, another one may be chosen than by `odrf.engine.guided.planes`.  Rows are
# always divided by the same projection as in prediction.


@kernel
def _gather(regions, growth, block):
    """Write the columns of all active regions, side by side, to `block`; return how many rows."""
    active = growth.active[: growth.reached[ACTIVE]]
    m = 0
    for region in active:
        m += regions.end[region] - regions.begin[region]
    at = 0
    for j in range(len(regions.X)):
        for region in active:
            column = regions.X[j, regions.begin[region] : regions.end[region]]
            for i in range(np.uint64(len(column))):
                block[at + i] = column[i]
            at += len(column)
    return m


@kernel
def _evaluate(regions, growth, along, candidates):
    """Do as `evaluate_planes`, from the projections `along` (T, m) of all active regions."""
    candidates.total[:], candidates.cuts_target[:] = 0.0, False
    at, target = 0, growth.active[growth.reached[TARGET]]
    for region in growth.active[: growth.reached[ACTIVE]]:
        size = regions.end[region] - regions.begin[region]
        for k in range(len(along)):
            n_beyond, after = impurity_after(
                regions, region, along[k, at : at + size], candidates.threshold[k],
                candidates.beyond, candidates.here,
            )  # fmt: skip
            candidates.total[k] += after
            if region == target:
                candidates.cuts_target[k] = 0 < n_beyond < size
        at += size


def grow_in_batches(
    regions: Regions, growth: GuidedGrowth, columns: TreeColumns, settings: GuidedKernelParams,
    state: NDArray[np.uint64], candidates: CandidatePlanes, budget: int,
) -> None:  # fmt: skip
    """Grow a tree as `odrf.engine.guided.kernel.grow`, evaluating planes together."""
    T, C = candidates.theta.shape
    while growth.reached[ACTIVE] > 0 and budget > 0:
        propose(regions, growth, columns, settings, state, candidates)
        m = _gather(regions, growth, candidates.block)
        budget -= m
        block, along = candidates.block[: C * m], candidates.product[: T * m].reshape(T, m)
        np.matmul(candidates.theta, block.reshape(C, m), out=along)
        _evaluate(regions, growth, along, candidates)
        settle(regions, growth, candidates, settings.min_split)
