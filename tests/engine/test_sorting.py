"""Sorting floats as words that end in their positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.numeric import (
    POSITION,
    SMALL,
    VALUE_SHIFT,
    key_of,
    sort_keys,
    sort_lanes,
    value_of,
)

# Halves, so that the sums of a projection may have any sign and some are equal.
floats = st.one_of(st.floats(allow_nan=False, width=32), st.integers(-6, 6).map(lambda k: k / 2))
EDGES = [-np.inf, -3e38, -1.5, -1.0, -1e-38, -1e-45, 0.0, 1e-45, 1e-38, 1.0, 1.5, 3e38, np.inf]


def sort_and_check(values):
    values = np.array(values, dtype=np.float32)
    keys = np.array([key_of(value, i) for i, value in enumerate(values)], dtype=np.uint64)
    sort_keys(keys, len(keys))
    positions = (keys & POSITION).astype(int)
    assert values[positions].tolist() == np.sort(values).tolist()
    assert sorted(positions) == list(range(len(values)))


@settings(deadline=None)
@given(st.lists(floats, max_size=4 * SMALL))
def test_any_floats(values):
    sort_and_check(values)


@given(st.lists(st.integers(-1, 2), min_size=SMALL, max_size=10 * SMALL))
def test_many_ties(values):
    sort_and_check(values)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(5000),
        np.arange(5000)[::-1],
        np.zeros(5000),
        np.abs(np.arange(5000) - 2500),
        np.arange(5000) % 2,
        np.random.default_rng(0).permutation(5000) - 2500,
    ],
    ids=["sorted", "reversed", "constant", "valley", "alternating", "random"],
)
def test_long_patterns(values):
    sort_and_check(values)


@given(floats, floats, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_values_compare_as_their_keys_do(one, other, i, j):
    one, other = np.float32(one), np.float32(other)
    first, second = int(key_of(one, i)), int(key_of(other, j))
    shift, position = int(VALUE_SHIFT), int(POSITION)
    assert (first >> shift < second >> shift) == (one < other)
    assert (first >> shift == second >> shift) == (one == other)
    assert (first & position, second & position) == (i, j)


def test_signs_denormals_and_infinities():
    keys = [key_of(np.float32(value), 0) for value in EDGES]
    assert all(one < other for one, other in pairwise(keys))
    assert key_of(np.float32(-0.0), 7) == key_of(np.float32(0.0), 7)


@given(st.integers(1, 70), st.integers(1, 9), st.integers(0, 2**32))
def test_lanes_are_sorted_side_by_side(m, lanes, seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, rng.choice([3, 2**63]), (m + 1, lanes)).astype(np.uint64)
    expected = np.vstack([np.sort(keys[:m], axis=0), keys[m:]])
    flat = keys.ravel()
    sort_lanes(flat, m, lanes)
    assert flat.tolist() == expected.ravel().tolist()


@given(floats, st.integers(0, 2**32 - 1))
def test_a_key_gives_its_value_back(value, position):
    value = np.float32(value)
    assert value_of(np.uint64(key_of(value, position))) == value


def test_only_the_first_n_move():
    keys = np.array([3, 1, 2, 0], dtype=np.uint64)
    sort_keys(keys, 3)
    assert keys.tolist() == [1, 2, 3, 0]
