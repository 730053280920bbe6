from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from odrf.design.columns.scaling import learn_scaling
from odrf.design.columns.unscaled import Levels, Unscaled, indicators


@st.composite
def tables(draw):
    """Numbers and factors in any order of their columns."""
    n = draw(st.integers(1, 8))
    numbers, at, factors, p = [], [], [], 0
    for is_factor in draw(st.lists(st.booleans(), min_size=1, max_size=5)):
        if is_factor:
            width = draw(st.integers(1, 4))
            codes = draw(st.lists(st.integers(-1, width - 1), min_size=n, max_size=n))
            factors.append(Levels(p, width, np.array(codes, dtype=np.int64)))
            p += width
        else:
            numbers.append(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)))
            at.append(p)
            p += 1
    array = np.array(numbers, dtype=np.float64).reshape(len(numbers), n)
    return Unscaled(array, np.array(at, dtype=np.int64), tuple(factors)), p


def every_column(unscaled, p):
    """The slow way: all indicators as numbers."""
    columns = np.empty((p, unscaled.numbers.shape[1]))
    columns[unscaled.at] = unscaled.numbers
    for first, width, codes in unscaled.factors:
        for k in range(width):
            columns[first + k] = codes == k
        np.testing.assert_array_equal(indicators(codes, width), columns[first : first + width])
    return columns


@given(tables(), st.data())
def test_factors_are_scaled_as_their_indicators(table, data):
    unscaled, p = table
    names = [str(j) for j in range(p)]
    columns = every_column(unscaled, p)
    expected = learn_scaling(columns, names)
    found = unscaled.scaling(names)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.range, expected.range)
    # new rows may have other levels than the training rows
    shift = data.draw(st.integers(0, 3))
    new = [Levels(f, k, (codes + shift) % (k + 1) - 1) for f, k, codes in unscaled.factors]
    for rows in (unscaled, unscaled._replace(factors=tuple(new))):
        scaled = expected.apply(every_column(rows, p))
        copied = rows._replace(numbers=rows.numbers.copy())
        np.testing.assert_array_equal(copied.scaled(found), scaled)
