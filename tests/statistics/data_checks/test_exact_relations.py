"""Relations between columns and a response that hold in every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.data_checks import exact_sum, goes_with, in_same_order

small = st.integers(0, 4)
rows = st.lists(st.tuples(small, small), min_size=2, max_size=12)


def plainly_in_order(pairs):
    """By all pairs of rows: y is a function of x that never falls, or never rises."""
    signs = set()
    for x, y in pairs:
        for other_x, other_y in pairs:
            if x == other_x and y != other_y:
                return False
            if x < other_x and y != other_y:
                signs.add(y < other_y)
    return len(signs) < 2


def plainly_one_to_one(pairs):
    """By all pairs of rows: labels are the same where codes are."""
    return all((x == u) == (y == v) for x, y in pairs for u, v in pairs)


@given(rows)
def test_order_and_labels_are_those_of_all_pairs(pairs):
    x, y = np.array(pairs).T
    assert in_same_order(x.astype(float), y.astype(float)) == plainly_in_order(pairs)
    assert goes_with(x, y) == plainly_one_to_one(pairs)


def test_missing_labels_go_with_no_class():
    assert goes_with(np.array([1, 0, 0]), np.array([0, 1, 1]))
    assert not goes_with(np.array([1, -1, -1]), np.array([0, 1, 1]))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e300])
def test_a_sum_of_few_columns_is_found(unit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    X[:, 4] = 3.0
    y = 2.0 * X[:, 1] - X[:, 3] + 5.0
    assert exact_sum(X * unit, y, 3) == [1, 3]
    assert exact_sum(X.astype(np.float32).astype(float) * unit, y, 2) == [1, 3]
    assert exact_sum(X * unit, y, 1) == []
    assert exact_sum(X * unit, y + 1e-3 * rng.normal(size=60), 3) == []


def test_a_sum_needs_rows_and_columns_that_vary():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(10, 5))
    y = X[:, 0] + X[:, 1]
    assert exact_sum(X, y, 3) == []
    assert exact_sum(X[:, :3], y, 3) == [0, 1]
    assert exact_sum(np.ones((10, 2)), y, 3) == []
    assert exact_sum(X[:, :3], np.ones(10), 3) == []
