"""Sums over the rows beyond planes, for arrays of any library of the array API.

One product projects all rows on all planes; a comparison says which rows are beyond each; a sum
for each segment, which is the rows of one class in one region, says how many these are.  What is
added up are integers: so every library, device and order of the additions gives the same sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Device", "DeviceRows", "as_integers", "rows_on", "running_sums", "sums_beyond"]

# Sums of integers stay below 2 to this power, and so within int64.
BITS = 61
# The largest power of two that numbers are multiplied by; 2 to minus it is a float64, too.
LARGEST_SHIFT = 1000
# The most projections at once, as a device has only so much memory: running sums take 17 bytes more
# for each.
MOST_PROJECTIONS = 2**27


class Device(NamedTuple):
    """Where arrays are, and what computes with them.

    Attributes
    ----------
    xp : module
        A namespace of the array API, as array-api-compat has them.
    place : object
        The device as the namespace names it; None for its default.
    fetched : callable
        Returns an array of the device as one of NumPy.
    add_up : callable
        Adds up over segments: `running_sums`, or
        `odrf.engine.guided.cuda_sums.sums_by_blocks`.
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

    Attributes
    ----------
    device : Device
    X : (C, n) float32, on the device
        The tree's columns.
    values : (Q, n) int64, on the device
        What is added up: 1 for each row; then its weight, unless all weights are 1; then, for a
        regression, its moment w·y.
    unit : (Q,) float64
        What 1 stands for in each of `values`.
    """

    device: Device
    X: Any
    values: Any
    unit: NDArray[np.float64]


def as_integers(numbers: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return the numbers (n,) as whole multiples of a power of two, and this power.

    Each number is rounded by at most 2⁻⁶¹ of the sum of all absolute values.
    """
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
    rows: DeviceRows,
    theta: NDArray[np.float32],
    threshold: NDArray[np.float32],
    chosen: NDArray[np.int32],
    first: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the sums of each value over the rows of each segment beyond each plane, (Q, T, S).

    Parameters
    ----------
    rows : DeviceRows
    theta : (T, C) float32
    threshold : (T,) float32
        The planes.  A row is beyond one if its projection is above the threshold.
    chosen : (m,) int32
        Numbers of the rows, segment by segment.
    first : (S + 1,) int64
        Segment i has the rows ``chosen[first[i]:first[i + 1]]``, at least one.
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

    Parameters
    ----------
    device : Device
    along : (T, m) float32, on the device
        Projections of the rows, segment by segment.
    threshold : (T,) float32, on the device
    values : (Q, m) int64, on the device
    first : (S + 1,) int64
        Where the segments begin and end.

    Returns
    -------
    (Q, T, S) int64, on the device
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
