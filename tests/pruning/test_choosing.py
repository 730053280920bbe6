"""Which row the held-out errors choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.pruning.complexity import chosen


@pytest.mark.parametrize(
    ("error", "std_error", "least", "one_se"),
    [
        ([3, 2, 1, 2, 4], [1, 1, 1, 1, 1], 2, 3),
        ([1, 1, 1], [0, 0, 0], 2, 2),
        ([1, 5, 1.5], [0.4, 9, 9], 0, 0),
        ([1, 5, 1.5], [0.5, 0, 0], 0, 2),
        ([7], [0], 0, 0),
        ([np.nan, np.nan], [np.nan, np.nan], 1, 1),
        ([3, 1, 2], [np.nan, np.nan, np.nan], 1, 1),
        # of two of the least error, the smaller tree tells how large one standard error is
        ([1, 1, 1.4, 2], [1, 0.5, 0, 0], 1, 2),
        ([1, 1, 1.4, 2], [0, 1, 0, 0], 1, 3),
    ],
)
def test_choices(error, std_error, least, one_se):
    error, std_error = np.array(error, dtype=float), np.array(std_error, dtype=float)
    assert chosen(error, std_error, "min") == least
    assert chosen(error, std_error, "1se") == one_se


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 3)), min_size=1))
def test_one_standard_error_never_takes_a_larger_tree(rows):
    error, std_error = np.array(rows).T
    least = chosen(error, std_error, "min")
    assert error[least] == error.min()
    assert chosen(error, std_error, "1se") >= least
