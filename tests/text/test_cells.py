"""The cells of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.text.cells import text_columns


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
