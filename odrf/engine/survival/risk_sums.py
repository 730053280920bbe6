"""Sums over the rows at risk at each event time, and over the event times of each row.

They only add, and never subtract one sum from another: so a row of very large risk that leaves, or
enters late, does not take the digits of the others.  Rows that are observed from the beginning take
one addition; rows that enter later about 2 log₂ R, by a tree of sums over the R event times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.survival.event_ranks import EventRanks, exit_rank, has_event

__all__ = ["sums_over_rows", "sums_over_times"]


@part
def _spread(tree, low, high, value):
    """Add `value` to the leaves low … high - 1 of a tree of sums (2R,), by the nodes above them."""
    low += len(tree) >> 1
    high += len(tree) >> 1
    while low < high:
        if low & 1:
            tree[low] += value
            low += 1
        if high & 1:
            high -= 1
            tree[high] += value
        low >>= 1
        high >>= 1


@part
def _gathered(tree, low, high):
    """Return the sum of the leaves low … high - 1 of a tree of sums (2R,)."""
    total = 0.0
    low += len(tree) >> 1
    high += len(tree) >> 1
    while low < high:
        if low & 1:
            total += tree[low]
            low += 1
        if high & 1:
            high -= 1
            total += tree[high]
        low >>= 1
        high >>= 1
    return total


@kernel
def _over_rows(code, entry, values, tree, total):
    """Add the `values` (n,) of the rows at risk to total (R,); total and tree (2R,) are 0."""
    R = len(total)
    for i in range(len(code)):
        first = np.int64(entry[i]) if len(entry) else np.int64(0)
        last = np.int64(exit_rank(code[i]))
        if first > 0:
            _spread(tree, first, last, values[i])
        elif last > 0:
            total[last - 1] += values[i]
    for r in range(R - 2, -1, -1):
        total[r] += total[r + 1]
    if len(entry):
        for node in range(1, R):
            tree[2 * node] += tree[node]
            tree[2 * node + 1] += tree[node]
        for r in range(R):
            total[r] += tree[R + r]


@kernel
def _over_times(code, entry, values, own, cumulative, tree, total):
    """Write the sums of `values` (R,) over the times of each row to total (n,).

    At the time of its event a row has `own` (R,) instead.  `cumulative` (R + 1,) and `tree` (2R,)
    are 0.
    """
    R = len(values)
    for r in range(R):
        cumulative[r + 1] = cumulative[r] + values[r]
    if len(entry):
        for r in range(R):
            tree[R + r] = values[r]
        for node in range(R - 1, 0, -1):
            tree[node] = tree[2 * node] + tree[2 * node + 1]
    for i in range(len(code)):
        first = np.int64(entry[i]) if len(entry) else np.int64(0)
        last = np.int64(exit_rank(code[i]))
        at_end = 0.0
        if has_event(code[i]):
            last -= 1
            at_end = own[last]
        if first > 0:
            total[i] = _gathered(tree, first, last) + at_end
        else:
            total[i] = cumulative[last] + at_end


def sums_over_rows(ranks: EventRanks, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums (R,) of `values` (n,) over the rows at risk at each event time."""
    R = ranks.n_times
    total = np.zeros(R)
    _over_rows(ranks.code, ranks.entry, values, np.zeros(2 * R), total)
    return total


def sums_over_times(
    ranks: EventRanks, values: NDArray[np.float64], own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sums (n,) of `values` (R,) over the event times at which each row is at risk.

    At the time of its own event a row has `own` (R,) instead of `values`.
    """
    R = ranks.n_times
    total = np.empty(len(ranks.code))
    _over_times(ranks.code, ranks.entry, values, own, np.zeros(R + 1), np.zeros(2 * R), total)
    return total
