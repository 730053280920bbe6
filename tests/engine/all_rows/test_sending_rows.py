"""Rows sent to the sides of splits, and what the sides sum up, are those of the twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.all_rows.sending_rows import described_side, send_stripe
from odrf.engine.rows import rows_at
from odrf.engine.splits.impurity import GINI, SQUARED_ERROR
from reference.all_rows import projection_of_row, sums_of_sides


@pytest.mark.parametrize("K", [1, 3])
@settings(max_examples=20)
@given(seed=st.integers(0, 9999), n=st.integers(1, 40))
def test_sides_are_those_of_the_twin(K, seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (3, n)).astype(np.float32)
    y = rng.normal(size=n) if K == 1 else rng.integers(0, K, n).astype(float)
    weights, once = rng.integers(1, 4, n).astype(float), np.ones(n, dtype=np.int64)
    order = rng.permutation(n)[: int(rng.integers(0, n + 1))]
    begin = np.array([0, int(rng.integers(0, len(order) + 1)), len(order)])
    columns, theta = np.array([[0, 2], [1, 0]]), np.array([[1, -1], [1, 0]], dtype=np.float32)
    sizes, threshold = np.array([2, 1]), np.array([0.0, 1.5], dtype=np.float32)
    first, centre = np.array([3, 5], dtype=np.int32), rng.normal(size=2 if K == 1 else 0)
    nodes, values = np.full(n, -7, dtype=np.int32), np.empty(n, dtype=np.float32)
    sums = np.zeros((2, 2, 4 if K == 1 else 2 + K))
    low, high = np.full((2, 2), np.inf), np.full((2, 2), -np.inf)
    send_stripe(
        rows_at(order, X, y, weights, once, False), begin, columns, theta, sizes, threshold, first,
        centre, values, nodes, sums, low, high,
    )  # fmt: skip
    expected = np.full(n, -7)
    for s in range(2):
        at = order[begin[s] : begin[s + 1]]
        terms = columns[s][: sizes[s]], theta[s][: sizes[s]]
        left = [projection_of_row(X[:, i], *terms) <= threshold[s] for i in at]
        expected[at] = first[s] + 1 - np.array(left, dtype=int)
        around = centre[s] if K == 1 else 0.0
        of_twin = sums_of_sides(left, y[at], weights[at], around, K)
        for one, other in zip((sums[s], low[s], high[s]), of_twin, strict=True):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12)
        for side in (0, 1):
            rows = at[np.array(left, dtype=int) == 1 - side]
            if len(rows) == 0:
                continue
            criterion = SQUARED_ERROR if K == 1 else GINI
            found = described_side(sums[s, side], low[s, side], high[s, side], around, criterion)
            assert found.n_rows == len(rows)
            assert found.weight == weights[rows].sum()
            if K == 1:
                mean = np.average(y[rows], weights=weights[rows])
                spread = np.average((y[rows] - mean) ** 2, weights=weights[rows])
                assert found.value == pytest.approx([mean], abs=1e-9)
            else:
                shares = np.bincount(y[rows].astype(int), weights[rows], K) / found.weight
                spread = 1 - np.sum(shares**2)
                assert found.value == pytest.approx(shares)
            assert found.impurity == pytest.approx(spread, abs=1e-9)
    assert np.array_equal(nodes, expected)
