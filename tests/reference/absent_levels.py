"""Where levels go that a node does not have, if a factor is split alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import INDICATORS, FeatureGroups


def factor_alone(feature_groups: FeatureGroups, columns: list[int]) -> range | None:
    """All columns of the factor of which a direction has several, and nothing else."""
    first = feature_groups.first
    for j, kind in enumerate(feature_groups.types):
        of_j = range(first[j], first[j + 1])
        if kind == INDICATORS and len(columns) > 1 and set(columns) <= set(of_j):
            return of_j
    return None


def settled(
    theta: NDArray, present: NDArray[np.bool_], left: NDArray[np.bool_], to_left: bool
) -> tuple[NDArray, float]:
    """Coefficients of all levels and threshold, if absent levels are to go left, or right.

    theta has a coefficient for each level, 0 without one.  `left` are the present levels that go
    left.
    """
    low, high = theta[left].max(), theta[present & ~left].min()
    threshold = (low + high) / 2
    if not low < high or (threshold >= 0) == to_left:
        return theta, threshold
    has = present | (theta != 0)
    shifted = np.where(has, theta - threshold, 0.0)
    length = np.linalg.norm(shifted)
    return shifted / length, 0.0 if to_left else (low - threshold) / 2 / length
