"""Sorting keys digit by digit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.numeric import FEWEST_KEYS, digit_scratch, key_of, sort_by_digits, sort_keys
from reference.sorting import sorted_keys

NUMBERS = [0, 1, FEWEST_KEYS - 1, FEWEST_KEYS, FEWEST_KEYS + 1, 5 * FEWEST_KEYS]


def as_scratch(keys):
    keys = np.array(keys, dtype=np.uint64)
    return digit_scratch(keys, np.full(len(keys), 7, dtype=np.uint64))


def words(varying):
    """Numbers of 32 bits that differ in these bits alone."""
    return st.integers(0, 2**32 - 1).map(lambda word: word & varying)


# Digits that all keys share are left out: so any of the four may be the only ones that differ.
VARYING = [0, 0xFF, 0xFF00, 0xFF0000, 0xFF000000, 0xFF00FF, 0xFFFF0000, 0x1F0FF00F, 0xFFFFFFFF]


@pytest.mark.parametrize("varying", VARYING, ids=hex)
@given(data=st.data(), n=st.sampled_from(NUMBERS), spare=st.integers(0, 3))
def test_keys_are_in_the_order_of_their_values_and_positions(varying, data, n, spare):
    values = data.draw(st.lists(words(varying), min_size=n + spare, max_size=n + spare))
    keys = [(value | ~varying & 0x5A5A5A5A) << 32 | i for i, value in enumerate(values)]
    scratch = as_scratch(keys)
    sort_by_digits(scratch, n)
    assert scratch.keys.tolist() == sorted_keys(keys[:n]) + keys[n:]


@pytest.mark.parametrize("n", [100, 5000])
@pytest.mark.parametrize("digits", [0, 1, 7])
def test_projections_are_sorted_as_by_comparisons(n, digits):
    values = np.random.default_rng(n).normal(size=n).round(digits).astype(np.float32)
    keys = np.array([key_of(value, i) for i, value in enumerate(values)], dtype=np.uint64)
    scratch = as_scratch(keys)
    sort_by_digits(scratch, n)
    sort_keys(keys, n)
    assert np.array_equal(scratch.keys, keys)
