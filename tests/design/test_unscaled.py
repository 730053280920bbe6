from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from odrf.design.scaling import Cells, Levels, Unscaled, indicators, learn_scaling


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
    cells = [
        Cells(np.array([column]), np.array([values], dtype=np.float64))
        for column, values in zip(at, numbers, strict=True)
    ]
    return unscaled(n, [*cells, *factors]), p


def unscaled(n, pieces):
    widths = {piece.first: piece.width for piece in pieces if isinstance(piece, Levels)}
    return Unscaled(n, widths, lambda: iter(pieces))


def every_column(table, p):
    """The slow way: all indicators as numbers."""
    columns = np.empty((p, table.n))
    for piece in table.pieces():
        if isinstance(piece, Cells):
            columns[piece.at] = piece.values
            continue
        first, width, codes = piece
        for k in range(width):
            columns[first + k] = codes == k
        np.testing.assert_array_equal(indicators(codes, width), columns[first : first + width])
    return columns


@given(tables(), st.data())
def test_factors_are_scaled_as_their_indicators(table, data):
    rows, p = table
    names = [str(j) for j in range(p)]
    columns = every_column(rows, p)
    expected = learn_scaling(columns, names)
    found, X = rows.learned(names)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.range, expected.range)
    np.testing.assert_array_equal(X, expected.apply(columns))
    # new rows may have other levels than the training rows
    shift = data.draw(st.integers(0, 3))
    new = [
        Levels(piece.first, piece.width, (piece.codes + shift) % (piece.width + 1) - 1)
        if isinstance(piece, Levels)
        else piece
        for piece in rows.pieces()
    ]
    for table_of in (rows, unscaled(rows.n, new)):
        scaled = expected.apply(every_column(table_of, p))
        np.testing.assert_array_equal(table_of.scaled(found), scaled)
