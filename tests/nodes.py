"""Single nodes for the tests of impurities and cuts."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from odrf.engine.splits.impurity import (
    ENTROPY,
    GINI,
    NEGLIGIBLE,
    ORDINAL,
    POISSON,
    SQUARED_ERROR,
    Node,
    whole_logs,
)
from problems import case_weights
from reference.impurity import impurity

CRITERIA = [SQUARED_ERROR, GINI, ENTROPY, ORDINAL, POISSON]


def described(
    y: NDArray, w: NDArray, counts: NDArray[np.int64], criterion: int, n_classes: int
) -> Node:
    """A node of all the rows, as growth describes it, by plain formulas."""
    if criterion in (SQUARED_ERROR, POISSON):
        value = np.array([np.average(y, weights=w)])
    else:
        value = np.array([np.average(y == k, weights=w) for k in range(n_classes)])
    factor, moments = 0.0, np.empty(0)
    unit = bool((w == counts).all()) and criterion != ORDINAL
    if criterion == POISSON or (criterion == ENTROPY and n_classes == 2):
        factor, moments = 1 / w.sum(), w * y
    elif len(value) <= 2:
        factor, moments = float(len(value)), w * (y - value[-1])
    if factor > 0 and criterion == ORDINAL:
        factor = 1.0
    return Node(
        y, w, counts.astype(np.int32), moments, value, float(w.sum()), int(counts.sum()),
        NEGLIGIBLE * w.sum(), impurity(y, w, criterion), factor, criterion, unit,
        whole_logs(criterion, 2 * n_classes)[: None if unit else 0],
    )  # fmt: skip


@st.composite
def samples(
    draw: st.DrawFn, max_rows: int = 40
) -> tuple[NDArray[np.float32], NDArray, NDArray, NDArray[np.int64], int]:
    """Projected values with ties, responses, weights, multiplicities, and K = 2 … 5."""
    n = draw(st.integers(1, max_rows))
    steps = draw(st.sampled_from([2, 5, 1000]))
    n_classes = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = rng.integers(1, 4, n)
    w = draw(st.sampled_from([counts * 1.0, (case_weights(n, rng) + 0.5) * counts]))
    y = rng.integers(0, n_classes, n).astype(float)
    values = (rng.integers(0, steps, n) / steps - 0.3).astype(np.float32)
    return values, y, w, counts, n_classes
