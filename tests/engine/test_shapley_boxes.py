"""Weights and sizes of boxes of coalitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.compiling import kernel
from odrf.engine.shapley_boxes import box_weight, members
from reference.shapley import share_of_orders


@kernel
def weight_of(a, b):
    return box_weight(a, b)


@kernel
def size_of(words):
    return members(words[0])


def test_the_weight_of_a_box_is_the_share_of_orders_that_meet_it():
    for a, b in product(range(4), range(4)):
        assert weight_of(a, b) == pytest.approx(share_of_orders(a, b), rel=1e-14)


@given(st.integers(0, 2**64 - 1))
def test_members_are_bits_that_are_set(word):
    assert size_of(np.array([word], dtype=np.uint64)) == word.bit_count()
