"""What trees say of rows that they did not draw, against loops over rows and trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.oob import write_out_of_bag_values, write_own_values


@pytest.mark.parametrize("of_each_row", [False, True])
@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32))
def test_values_count_where_a_tree_did_not_draw_the_row(of_each_row, m, b, K, seed):
    rng = np.random.default_rng(seed)
    table, leaves = rng.normal(size=(5, K)), rng.integers(5, size=(m, b)).astype(np.int32)
    unseen, code = rng.random((m, b)) < 0.5, rng.integers(K, size=m)
    centre, scale = rng.normal(size=(2, m if of_each_row else 1, K))
    values, own = np.full((m, b, K), np.nan), np.full((m, b), np.nan)
    cut = int(rng.integers(b + 1))
    for first, last in ((0, cut), (cut, b)):
        write_out_of_bag_values(table, leaves, unseen, centre, scale, first, last, values)
        write_own_values(table, leaves, unseen, code, first, last, own)
    for r, t in np.ndindex(m, b):
        row = r if of_each_row else 0
        said = table[leaves[r, t]]
        expected = (said - centre[row]) * scale[row] if unseen[r, t] else np.zeros(K)
        assert values[r, t].tolist() == expected.tolist()
        assert own[r, t] == (said[code[r]] if unseen[r, t] else 0.0)
