"""Columns that hardly any table has."""

from __future__ import annotations

import copy
import datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.columns import Values, column_blocks
from odrf.design.design import NoData
from odrf.design.encoding import Numbers, as_dates
from odrf.design.functions import OrthogonalPolynomial
from odrf.design.missing import learn_fills
from odrf.design.ranks import OwnRanks, exact
from odrf.design.weights import row_numbers
from odrf.errors import InputError


def test_columns_are_found_beside_others_that_share_a_name():
    data = pd.DataFrame([[1, 2, 3, 4], [5, 6, 7, 8]], columns=["a", "x", "x", "b"])
    blocks = list(column_blocks(data, ["b", "a"]))
    assert [name for _, block in blocks for name in block.columns] == ["b", "a"]
    assert np.hstack([block.to_numpy() for _, block in blocks]).tolist() == [[4, 1], [8, 5]]


def test_a_column_without_any_value_has_no_fill():
    with pytest.raises(InputError, match="column 'a' is missing in every training row"):
        learn_fills(pd.DataFrame({"a": [np.nan, np.nan]}), ["a"])


def test_a_column_of_dates_and_times_of_day_is_refused():
    mixed = pd.Series([datetime.date(2024, 1, 1), datetime.time(3)], dtype=object)
    with pytest.raises(InputError, match="day"):
        as_dates(mixed, "day")


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="real numbers"):
        OrthogonalPolynomial().memorize_chunk(np.array([1j, 2]))
    with pytest.raises(InputError, match="offset holds complex numbers"):
        row_numbers("offset", np.array([1j, 2]), pd.DataFrame({"a": [1, 2]}))


def test_ranks_among_fractions_are_exact():
    tiny = Fraction(1, 10**40)
    known = pd.Series([Fraction(1), 1 + tiny, 1 + 2 * tiny], dtype=object)
    values = exact(Numbers(), Values("a", known))
    ranks = OwnRanks(values, Numbers())
    new = pd.Series([1 + tiny, 1 + 3 * tiny / 2, Fraction(0)], dtype=object)
    assert ranks.encode(Values("a", new)).tolist() == [[1.0, 1.5, 0.0]]
    beyond = pd.Series([1 + tiny, np.inf], dtype=object)
    assert ranks.encode(Values("a", beyond)).tolist() == [[1.0, np.inf]]


def test_a_fit_without_rows_says_which_attribute_is_none():
    data = NoData(5, 1, {}, {}, None, 1.0)
    again = copy.deepcopy(data)
    assert (again.n_rows, again.n_dropped) == (5, 1)
    with pytest.raises(InputError, match="rows"):
        _ = again.y
    with pytest.raises(AttributeError, match="'NoData' object has no attribute 'colour'"):
        _ = again.colour


def test_a_fit_without_rows_is_shown_in_a_debugger():
    data = NoData(5, 1, {}, {}, None, 1.0)
    assert repr(data) == str(data) == "NoData(rows=5, dropped=1)"
    tree = odrf.odt("y ~ .", pd.DataFrame({"a": range(20), "y": range(20)}), seed=1).without_data()
    assert "NoData(rows=20, dropped=0)" in repr(tree.fit)
