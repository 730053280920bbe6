"""Trees of one split, made by hand."""

from __future__ import annotations

import numpy as np

from odrf.engine.trees.forest import Forest


def stump(theta: dict[int, float], threshold: float, gain: float = 1.0) -> Forest:
    """A root of 10 rows with mean 1, split by θ on scaled columns into 4 and 6 rows."""
    terms = len(theta)
    return Forest(
        root=np.array([0, 3]),
        left=np.array([1, -1, -1]),
        threshold=np.array([threshold, np.nan, np.nan], dtype=np.float32),
        start=np.array([0, terms, terms, terms]),
        index=np.array(list(theta), dtype=np.int64),
        coef=np.array(list(theta.values()), dtype=np.float32),
        value=np.array([[1.0], [0.0], [5 / 3]]),
        count=np.array([10, 4, 6]),
        weight=np.array([10.0, 4.0, 6.0]),
        impurity=np.array([2.0, 1.0, 1.0]),
        gain=np.array([gain, 0.0, 0.0]),
        order=np.array([1, 0, 0]),
        ordered=np.False_,
    )
