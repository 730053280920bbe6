"""Sorting with positions carried along."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.sorting import SMALL, sort_with


def sort_and_check(keys):
    keys = np.array(keys, dtype=float)
    original, items = keys.copy(), np.arange(len(keys))
    sort_with(keys, items, len(keys))
    assert keys.tolist() == np.sort(original).tolist()
    assert keys.tolist() == original[items].tolist()
    assert sorted(items) == list(range(len(keys)))


@given(st.lists(st.floats(allow_nan=False), max_size=4 * SMALL))
def test_any_floats(keys):
    sort_and_check(keys)


@given(st.lists(st.integers(0, 3), min_size=SMALL, max_size=10 * SMALL))
def test_many_ties(keys):
    sort_and_check(keys)


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(5000),
        np.arange(5000)[::-1],
        np.zeros(5000),
        np.abs(np.arange(5000) - 2500),
        np.arange(5000) % 2,
        np.random.default_rng(0).permutation(5000),
    ],
    ids=["sorted", "reversed", "constant", "valley", "alternating", "random"],
)
def test_long_patterns(keys):
    sort_and_check(keys)


def test_only_the_first_n_move():
    keys, items = np.array([3.0, 1.0, 2.0, -1.0]), np.array([10, 11, 12, 13])
    sort_with(keys, items, 3)
    assert keys.tolist() == [1.0, 2.0, 3.0, -1.0]
    assert items.tolist() == [11, 12, 10, 13]
