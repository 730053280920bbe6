"""Rows of a node with their classes and weights, as hypothesis draws them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray


@st.composite
def classed(draw: st.DrawFn, most_classes: int = 5) -> tuple[NDArray, NDArray, NDArray]:
    """Z (m, d), y and weights: coarse grids, collinear and constant columns, rare classes.

    Codes need not be consecutive; a class may have one row.
    """
    m, d = draw(st.integers(3, 40)), draw(st.integers(1, 6))
    steps, n_classes = draw(st.sampled_from([2, 4, 1000])), draw(st.integers(2, most_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    Z = rng.integers(0, steps, (m, d)) / (steps - 1)
    if draw(st.booleans()):
        Z[:, 0] = Z[:, -1]
    if draw(st.booleans()):
        Z[:, -1] = 0.5
    codes = rng.permutation(most_classes + 2)[:n_classes]
    y = codes[rng.integers(0, n_classes, m)].astype(float)
    y[:2] = codes[:2]
    return Z, y, rng.uniform(0.2, 3.0, m)
