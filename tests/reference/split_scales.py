"""Scales of the response for the splits, row by row."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from odrf.engine.settings import ON_LOG, ON_NORMAL, ON_RANKS, ON_RESPONSE


def scaled(y: NDArray, weights: NDArray, scale: int) -> NDArray[np.float64]:
    """The response on a scale; rows of weight 0 have no part, and get 0."""
    used = [i for i in range(len(y)) if weights[i] > 0]
    total = sum(weights[i] for i in used)
    out = np.zeros(len(y))
    for i in used:
        below = sum(weights[j] for j in used if y[j] < y[i])
        rank = (below + sum(weights[j] for j in used if y[j] == y[i]) / 2) / total
        if scale == ON_RESPONSE:
            out[i] = y[i]
        elif scale == ON_RANKS:
            out[i] = rank
        elif scale == ON_NORMAL:
            out[i] = NormalDist().inv_cdf(rank)
        else:
            assert scale == ON_LOG
            out[i] = logarithm(y[i], y[used], weights[used])
    return out


def logarithm(value: float, y: NDArray, weights: NDArray) -> float:
    """Its logarithm, if all y are positive; else that above their minimum."""
    least = min(y)
    if least > 0:
        return math.log(value)
    if least == max(y):
        return 0.0
    mean = np.average(y, weights=weights)
    deviation = math.sqrt(np.average((y - mean) ** 2, weights=weights))
    return math.log(value - least + deviation / 10)
