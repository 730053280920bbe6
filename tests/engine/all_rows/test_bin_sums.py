"""Sums over bins of a stripe of rows are those of the twin, node by node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.all_rows.bin_sums import (
    BINS,
    FINE,
    add_to_bins,
    add_to_fine_bins,
    order_by_slots,
    write_moments,
)
from odrf.engine.all_rows.range_of_most import INNER_BINS
from odrf.engine.all_rows.sampled_candidates import NodeCandidates
from odrf.engine.rows import rows_at
from reference.all_rows import (
    bin_of_value,
    fine_bin_of_value,
    projection_of_row,
    sums_of_bins,
)

S, C, P = 2, 3, 4


@settings(max_examples=20)
@given(seed=st.integers(0, 999), n=st.integers(1, 30))
def test_rows_are_ordered_by_the_slots_of_their_nodes(seed, n):
    rng = np.random.default_rng(seed)
    nodes = rng.integers(0, 6, n).astype(np.int32)
    slots = np.array([-1, 1, -1, 0, 2, -1], dtype=np.int32)
    begin, order = np.empty(4, dtype=np.int64), np.empty(n, dtype=np.int32)
    order_by_slots(nodes, slots, begin, order)
    for s in range(3):
        expected = [i for i in range(n) if slots[nodes[i]] == s]
        assert order[begin[s] : begin[s + 1]].tolist() == expected
    assert begin[0] == 0


def problem(seed, K, unit):
    """Rows in two slots with candidates, whose ranges are those of a few of the rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X = rng.integers(0, 5, (P, n)).astype(np.float32) / 4
    X[3, rng.random(n) < 0.3] = 1e31 * rng.choice([-1, 1])
    y = rng.normal(size=n) if K == 1 else rng.integers(0, K, n).astype(float)
    weights = np.ones(n) if unit else rng.integers(1, 4, n).astype(float)
    cut = int(rng.integers(0, n + 1))
    begin = np.array([0, cut, n])
    columns = np.array([[rng.permutation(3)[:2] for _ in range(C)] for _ in range(S)])
    columns[:, -1] = 3, 0
    theta = rng.choice([-1.0, 0.5, 1.0], (S, C, 2)).astype(np.float32)
    theta[:, -1] = 1.0, 0.0
    sizes = np.full((S, C), 2)
    low = rng.choice([-0.5, 0.0, 0.25], (S, C)).astype(np.float32)
    high = low + rng.choice([0.0, 0.5, 1.0], (S, C)).astype(np.float32)
    with np.errstate(divide="ignore"):
        scale = np.where(high > low, np.float32(INNER_BINS) / (high - low), 0).astype(np.float32)
    candidates = NodeCandidates(
        np.array([C, C - 1]), columns, theta, sizes, np.ones((S, C)), np.zeros((S, C), bool),
        low, high, scale,
    )  # fmt: skip
    order, once = rng.permutation(n), np.ones(n, dtype=np.int64)
    return X, y, weights, begin, candidates, order, once, rng.normal(size=S)


@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("unit", [True, False])
@settings(max_examples=8)
@given(seed=st.integers(0, 9999))
def test_sums_of_bins_are_those_of_the_twin(K, unit, seed):
    X, y, weights, begin, candidates, order, once, centre = problem(seed, K, unit)
    rows = rows_at(order, X, y, weights, once, True)
    moments = np.empty(len(y) if K <= 2 else 0)
    if K <= 2:
        write_moments(rows, begin, centre, moments)
    width = 1 + K if K > 2 else 2 if unit else 3
    sums = np.zeros((S, C, BINS, width))
    # a few rows at a time
    values, bins = np.empty(7, dtype=np.float32), np.empty(7, dtype=np.uint8)
    add_to_bins(rows, begin, candidates, moments, values, bins, sums)
    for s in range(S):
        at = order[begin[s] : begin[s + 1]]
        for c in range(C):
            terms = candidates.columns[s, c], candidates.theta[s, c]
            of_candidate = candidates.low[s, c], candidates.high[s, c], candidates.scale[s, c]
            used = at if c < candidates.number[s] else at[:0]
            places = [bin_of_value(projection_of_row(X[:, i], *terms), *of_candidate) for i in used]
            expected = sums_of_bins(places, y[used], weights[used], centre[s], BINS, K, unit)
            assert np.allclose(sums[s, c], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("K", [1, 4])
@settings(max_examples=10)
@given(seed=st.integers(0, 9999), at=st.integers(0, 200))
def test_sums_around_the_cut_are_those_of_the_twin(K, seed, at):
    X, y, weights, begin, candidates, order, once, centre = problem(seed, K, False)
    rows = rows_at(order, X, y, weights, once, False)
    moments = np.empty(len(y) if K <= 2 else 0)
    if K <= 2:
        write_moments(rows, begin, centre, moments)
    beside = np.array([at, 0]), np.array([255, 128])
    width = 1 + K if K > 2 else 3
    sums = np.zeros((S, 1 + 2 * FINE, width))
    least = np.full((S, 1 + 2 * FINE), np.inf, dtype=np.float32)
    largest = -least
    last = NodeCandidates(candidates.number, *(each[:, -1:].copy() for each in candidates[1:]))
    values = np.empty(7, dtype=np.float32)
    add_to_fine_bins(rows, begin, last, *beside, moments, values, sums, least, largest)
    for s in range(S):
        low, high, scale = last.low[s, 0], last.high[s, 0], last.scale[s, 0]
        places, kept, found = [], [], []
        for i in order[begin[s] : begin[s + 1]]:
            value = projection_of_row(X[:, i], last.columns[s, 0], last.theta[s, 0])
            b = bin_of_value(value, low, high, scale)
            part = fine_bin_of_value(value, b, low, scale)
            if b < beside[0][s]:
                places.append(0)
            elif b == beside[0][s]:
                places.append(1 + part)
            elif b == beside[1][s]:
                places.append(1 + FINE + part)
            else:
                continue
            kept.append(i)
            found.append(value)
        expected = sums_of_bins(places, y[kept], weights[kept], centre[s], len(sums[s]), K, False)
        assert np.allclose(sums[s], expected, rtol=1e-12, atol=1e-12)
        for place in set(places):
            there = [v for v, other in zip(found, places, strict=True) if other == place]
            assert (least[s, place], largest[s, place]) == (min(there), max(there))
