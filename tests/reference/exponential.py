"""Exponential survival by its definitions: pieces of hazard, deviances of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reference.survival import Rows, observed


def shared_time(start: float, time: float, low: float, high: float) -> float:
    """How much of the time from `start` is in a piece."""
    return max(0.0, min(time, high) - max(start, low))


def exposures(
    time: NDArray, event: NDArray, weights: NDArray, start: NDArray
) -> NDArray[np.float64]:
    """The hazard of all rows, of one rate in each piece, over the time of each."""
    ends = sorted({t for t, d, w in zip(time, event, weights, strict=True) if d and w > 0})
    lows, highs = [start.min(), *ends[:-1]], [*ends[:-1], time.max()]
    out = np.zeros(len(time))
    for low, high, end in zip(lows, highs, ends, strict=True):
        inside = np.array([shared_time(s, t, low, high) for s, t in zip(start, time, strict=True)])
        rate = weights[(time == end) & (event != 0)].sum() / np.sum(weights * inside)
        out += rate * inside
    return out


def deviance(event: NDArray, exposure: NDArray, weights: NDArray, rate: float) -> float:
    """The deviance of rows whose hazard is said to be `rate`."""
    total = 0.0
    for d, e, w in zip(event, exposure, weights, strict=True):
        total += w * ((np.log(1 / (rate * e)) if d else 0.0) - (d - rate * e))
    return 2 * total


def shrunken_rate(events: float, exposure: float, overall: float, variation: float) -> float:
    """The posterior mean of a rate whose prior is a gamma distribution."""
    shape = variation**-2
    return (events + shape) / (exposure + shape / overall)


def rows_of_nodes(left: NDArray, root: int, leaf: NDArray) -> Mapping[int, NDArray[np.int64]]:
    """The rows in the branch of each node of a tree."""
    rows = {}

    def visit(node: int) -> NDArray[np.int64]:
        if left[node] < 0:
            rows[node] = np.flatnonzero(leaf == node)
        else:
            rows[node] = np.concatenate([visit(left[node]), visit(left[node] + 1)])
        return rows[node]

    visit(root)
    return rows


def subdistribution_exposures(
    time: NDArray, event: NDArray, cause: int, weights: NDArray
) -> NDArray[np.float64]:
    """As `exposures`, but rows with events of other causes stay, as far as they are uncensored."""
    everybody = Rows(time.tolist(), event.tolist(), weights.tolist(), [-1.0] * len(time))
    ends = sorted({t for t, d, w in zip(time, event, weights, strict=True) if d == cause and w > 0})
    edges = [0.0, *ends[:-1], time.max()]
    moments = sorted({*edges, *time})
    at_risk = np.zeros((len(moments) - 1, len(time)))
    for k, (low, high) in enumerate(pairwise(moments)):
        for i in everybody.numbers:
            if time[i] >= high:
                at_risk[k, i] = high - low
            elif event[i] not in (0, cause) and weights[i] > 0:
                begin = observed(everybody, float(time[i]), False)
                at_risk[k, i] = (high - low) * observed(everybody, low, True) / begin
    out = np.zeros(len(time))
    for low, high, end in zip(edges[:-1], edges[1:], ends, strict=True):
        inside = at_risk[[low <= a < high for a in moments[:-1]]].sum(axis=0)
        out += weights[(time == end) & (event == cause)].sum() / np.sum(weights * inside) * inside
    return out
