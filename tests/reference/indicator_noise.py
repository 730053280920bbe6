"""What chance adds to the fit of a direction on indicators of levels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def beyond_chance(values: NDArray, t: NDArray, a: NDArray, free: int) -> float:
    """The root of adjusted R² / R², with twice the usual adjustment, of `free` coefficients."""
    if free == 0:
        return 1.0
    rows_left = len(t) - 1 - free
    if rows_left < 1:
        return 0.0
    spread = np.cov(values, t, aweights=a, bias=True)
    explained = spread[0, 1] ** 2 / (spread[0, 0] * spread[1, 1])
    if explained == 0:
        return 0.0
    adjusted = explained - 2 * free / rows_left * (1 - explained)
    return math.sqrt(max(adjusted / explained, 0.0))
