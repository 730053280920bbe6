"""A tree's rows: gathered at random, projected as routing does, divided in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from odrf.engine.compiling import kernel
from odrf.engine.numeric import streams
from odrf.engine.rows import (
    column_itself,
    divide,
    divide_columns,
    gather_rows,
    is_plain_column,
    is_pure,
    load_column,
    project,
)
from reference.forests import goes_left
from reference.randomness import Stream

quick = settings(deadline=None)


@kernel
def write_plain_column(rows, lo, m, column, theta, out):
    """Call what only kernels can call."""
    is_plain = is_plain_column(rows, theta, 0, 1)
    if is_plain:
        values = column_itself(rows, lo, m, column)
        for i in range(m):
            out[i] = values[i]
    return is_plain


def drawn(n, seed, copied, p=3):
    """Data, counts, and the rows gathered from them with their stream."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((p, n), dtype=np.float32), rng.normal(size=n)
    weights, counts = rng.uniform(0.5, 2, n), rng.integers(0, 3, n)
    counts[rng.integers(n)] = 1
    state = streams(seed, 0, 1)[0]
    return X, y, weights, counts, state, gather_rows(state, X, y, weights, counts, copied)


@quick
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans())
def test_rows_are_gathered_in_the_order_of_the_twin(n, seed, copied):
    X, y, weights, counts, state, rows = drawn(n, seed, copied)
    stream, at = Stream(streams(seed, 0, 1)[0]), np.flatnonzero(counts).tolist()
    stream.shuffle_front(at, len(at))
    assert rows.at.tolist() == at
    assert state.tolist() == stream.state
    assert rows.y.tolist() == y[at].tolist()
    assert rows.counts.tolist() == counts[at].tolist()
    assert rows.weights.tolist() == (weights * counts)[at].tolist()
    assert rows.X.tolist() == (X[:, at] if copied else X).tolist()
    assert not rows.unit
    assert gather_rows(state, X, y, np.ones(n), counts, copied).unit


@quick
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans(), st.data())
def test_projections_are_those_of_routing_bit_for_bit(n, seed, copied, data):
    X, *_, rows = drawn(n, seed, copied, p=6)
    lo = data.draw(st.integers(0, len(rows.at) - 1))
    m = data.draw(st.integers(1, len(rows.at) - lo))
    rng = np.random.default_rng(seed)
    columns, theta = rng.permutation(6), rng.normal(size=6).astype(np.float32)
    size, out = data.draw(st.integers(1, 6)), np.empty(m, dtype=np.float32)
    project(rows, lo, m, np.array([columns]), np.array([theta]), 0, size, out)
    at = rows.at[lo : lo + m]
    for threshold in out:
        left = goes_left(X[:, at], columns[:size].tolist(), theta[:size].tolist(), threshold)
        assert (out <= threshold).tolist() == left.tolist()
    theta[0] = 1.0
    project(rows, lo, m, np.array([columns]), np.array([theta]), 0, 1, out)
    found = out.copy() if not copied else np.empty_like(out)
    assert write_plain_column(rows, lo, m, columns[0], np.array([theta]), found) == copied
    assert found.tolist() == out.tolist()
    theta[0] = -1.0
    assert not write_plain_column(rows, lo, m, columns[0], np.array([theta]), found)
    Z = np.empty((2, m))
    load_column(rows, lo, m, columns[0], False, Z, 1)
    assert Z[1].tolist() == X[columns[0], at].tolist()
    load_column(rows, lo, m, columns[0], True, Z, 0)
    assert Z[0].tolist() == (X[columns[0], at].astype(float) - X[columns[0], at[0]]).tolist()


@quick
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans(), st.data())
def test_dividing_keeps_the_order_of_both_sides(n, seed, copied, data):
    X, y, weights, counts, _, rows = drawn(n, seed, copied)
    before = rows.at.copy()
    lo = data.draw(st.integers(0, len(before) - 1))
    m = data.draw(st.integers(1, len(before) - lo))
    values = np.random.default_rng(seed).random(m, dtype=np.float32)
    left = values <= 0.5
    goes_left = np.empty(m, dtype=np.bool_)
    found = divide(rows, lo, m, np.float32(0.5), values, goes_left, np.empty(m))
    assert found == left.sum()
    scratch = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.int64)
    divide_columns(rows, lo, m, goes_left, *scratch)
    assert is_pure(rows, lo, m) == (len(set(y[before[lo : lo + m]])) == 1)
    assert is_pure(rows, lo, 1)
    node_rows = before[lo : lo + m]
    expected = np.concatenate([before[:lo], node_rows[left], node_rows[~left], before[lo + m :]])
    assert rows.at.tolist() == expected.tolist()
    assert rows.y.tolist() == y[expected].tolist()
    assert rows.counts.tolist() == counts[expected].tolist()
    assert rows.weights.tolist() == (weights * counts)[expected].tolist()
    assert rows.X.tolist() == (X[:, expected] if copied else X).tolist()


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_first_rows_of_a_child_are_a_uniform_sample_of_it(side):
    n, first, seen = 60, 5, np.zeros(60)
    X = np.linspace(0, 1, n, dtype=np.float32)[None]
    inside = X[0] <= 0.4 if side == "left" else X[0] > 0.4
    for state in streams(1, 0, 2000):
        rows = gather_rows(state, X, X[0].astype(float), np.ones(n), np.ones(n, dtype=int), True)
        values, scratch = rows.X[0].copy(), (np.empty(n, dtype=np.bool_), np.empty(n))
        left = divide(rows, 0, n, np.float32(0.4), values, *scratch)
        lo = 0 if side == "left" else left
        seen[rows.at[lo : lo + first]] += 1
    assert not seen[~inside].any()
    assert chisquare(seen[inside]).pvalue > 0.001


def test_the_first_rows_of_a_tree_are_a_uniform_sample():
    n = 10_000
    X = np.zeros((1, n), dtype=np.float32)
    rows = gather_rows(
        streams(2, 0, 1)[0], X, np.zeros(n), np.ones(n), np.ones(n, dtype=int), False
    )
    assert kstest(rows.at[:500] / n, "uniform").pvalue > 0.001
