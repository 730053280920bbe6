"""The cells of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.text.layouts import text_columns
from odrf.text.summary import Summary


def cells(*values):
    (column,) = text_columns(pd.DataFrame({"a": values}))
    return column.cells


def test_zero_has_no_sign():
    assert cells(1.5, -0.0, -1.5) == ["1.500", "0.000", "-1.500"]
    assert cells(-0.0) == ["0"]


def test_decimals_are_those_of_the_largest_entry():
    assert cells(123.456, 1.0, np.nan) == ["123.5", "1.0", ""]
    assert cells(123.456, 1e-9) == ["123", "1e-09"]
    assert cells(np.inf, 2.0) == ["inf", "2.000"]


def test_no_entry_but_zero_is_shown_as_zero():
    assert cells(134.4, 0.0621, 0.0) == ["134", "0.0621", "0"]
    assert cells(0.2376, 0.00041) == ["0.2376", "0.0004"]
    assert cells(12345.6, 0.25) == ["12346", "0.25"]


def test_a_p_value_that_is_too_small_for_floats_is_a_bound_in_every_output():
    table = pd.DataFrame({"p_value": [0.0, 0.25, np.nan], "p_adjusted": [0.0, 1e-310, 1e-200]})
    small, adjusted = text_columns(table)
    assert small.cells == ["< 1e-300", "0.2500", ""] and small.is_numeric
    assert adjusted.cells == ["< 1e-300", "< 1e-300", "1e-200"]
    summary = Summary("Tests", "", {}, {"": table})
    assert "< 1e-300" in summary.as_text() and "&lt; 1e-300" in summary.as_html()
    assert "1e-300" in summary.as_latex()
    assert table["p_value"][0] == 0
