"""How many importances matter, and which."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.importance import effective_number, largest

IMPORTANCES = st.lists(st.just(0.0) | st.floats(1e-9, 1e6), min_size=1, max_size=9)


def plain_number(importance, order):
    """Of order 2, the reciprocal of the probability that two draws are the same."""
    shares = [w / sum(importance) for w in importance if w > 0]
    if not shares:
        return 0.0
    if order == 2:
        return 1 / sum(s * s for s in shares)
    return math.prod((1 / s) ** s for s in shares)


@given(IMPORTANCES, st.sampled_from([1, 2]))
def test_it_is_the_number_of_hill(importance, order):
    found = effective_number(np.array(importance), order)
    assert found == pytest.approx(plain_number(importance, order), rel=1e-9)
    assert found == 0 or 1 - 1e-9 <= found <= len(importance) + 1e-9


@given(IMPORTANCES)
def test_small_ones_count_less_for_the_order_2(importance):
    w = np.array(importance)
    assert effective_number(w, 2) <= effective_number(w, 1) + 1e-9


@given(st.integers(1, 9), st.integers(0, 9), st.floats(1e-300, 1e300), st.sampled_from([1, 2]))
def test_of_equal_ones_it_is_their_number(m, zeros, size, order):
    importance = np.array([size] * m + [0.0] * zeros)
    assert effective_number(importance, order) == pytest.approx(m)


@given(IMPORTANCES, st.floats(0, 9))
def test_the_largest_are_as_many_as_asked_for(importance, number):
    w = np.array(importance)
    found = largest(w, number)
    assert len(found) == min(math.ceil(number), len(w))
    assert list(found) == sorted(set(found))
    others = np.delete(w, found)
    assert not len(others) or not len(found) or others.max() <= w[found].min()


def test_of_equal_ones_the_first_are_taken():
    assert largest(np.zeros(4), 1.5).tolist() == [0, 1]
