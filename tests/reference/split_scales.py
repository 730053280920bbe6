"""Scales of the response for the splits, row by row."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from odrf.engine.kernel_params import ON_BOX_COX, ON_LOG, ON_NORMAL, ON_RANKS, ON_RESPONSE


def scaled(y: NDArray, weights: NDArray, scale: int) -> NDArray[np.float64]:
    """The response on a scale; rows of weight 0 have no part, and get 0."""
    used = [i for i in range(len(y)) if weights[i] > 0]
    if scale == ON_BOX_COX:
        return power_of_largest_likelihood(y, weights, used)
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


def power_of_largest_likelihood(y: NDArray, weights: NDArray, used: list[int]) -> NDArray:
    """The Box-Cox transform of the best power from -2 to 2 in steps of 0.1."""
    out = np.zeros(len(y))
    if not used:
        return out
    logarithms = [logarithm(y[i], y[used], weights[used]) for i in used]
    mean = np.average(logarithms, weights=weights[used])
    best = math.inf
    for tenths in range(-20, 21):
        power = tenths / 10
        if abs(power) * (max(logarithms) - min(logarithms)) > 30:
            continue
        values = [transformed(z - mean, power) for z in logarithms]
        variance = np.cov(values, aweights=weights[used], ddof=0)
        if variance < best:
            best, chosen = variance, power
    for i, z in zip(used, logarithms, strict=True):
        out[i] = transformed(z - mean, chosen)
    return out


def transformed(z: float, power: float) -> float:
    return z if power == 0 else math.expm1(power * z) / power


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
