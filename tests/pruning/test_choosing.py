"""Which row the held-out errors choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.pruning.choosing import chosen


@pytest.mark.parametrize(
    ("error", "spread", "least", "one_se"),
    [
        ([3, 2, 1, 2, 4], [1, 1, 1, 1, 1], 2, 3),
        ([1, 1, 1], [0, 0, 0], 2, 2),
        ([1, 5, 1.5], [0.4, 9, 9], 0, 0),
        ([1, 5, 1.5], [0.5, 0, 0], 0, 2),
        ([7], [0], 0, 0),
    ],
)
def test_choices(error, spread, least, one_se):
    error, spread = np.array(error, dtype=float), np.array(spread, dtype=float)
    assert chosen(error, spread, "min") == least
    assert chosen(error, spread, "1se") == one_se


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 3)), min_size=1))
def test_one_standard_error_never_takes_a_larger_tree(rows):
    error, spread = np.array(rows).T
    least = chosen(error, spread, "min")
    assert error[least] == error.min()
    assert chosen(error, spread, "1se") >= least
