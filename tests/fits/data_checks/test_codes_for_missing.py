"""The warning about numbers that stand for empty cells: where it is right, and only there."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.data_warnings import code_for_missing


def table(n=100):
    """Two numbers and a response."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    return data.assign(y=data["x"] + rng.normal(size=n))


def messages(data, formula="y ~ .", **options):
    """What a tree says of numbers that stand for empty cells."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odrf.odt(formula, data, seed=1, **options)
    return [str(each.message) for each in caught if "empty cell" in str(each.message)]


@pytest.mark.parametrize("code", [-99, 99.0, -999, 9999])
def test_a_code_far_from_the_others_is_named(code):
    data = table()
    data.loc[:3, "z"] = code
    (message,) = messages(data)
    assert f"'z' has {code:.0f} in several rows" in message
    assert f"data['z'] = data['z'].replace({code:.0f}, np.nan)" in message


def test_a_code_in_the_first_rows_of_chunks_is_named():
    data = table(n=300)
    data.loc[:3, "z"] = -999
    (message,) = messages([data[:100], data[100:]])
    assert message.startswith("'z' has -999")


def test_the_code_that_is_proposed_silences_the_warning():
    data = table()
    data.loc[:3, "z"] = -999
    data["z"] = data["z"].replace(-999, np.nan)
    assert messages(data) == []


def test_the_response_is_looked_at_and_others_are_listed():
    data = table()
    data.loc[:3, "y"] = -999
    data.loc[5:7, "z"] = -999
    (message,) = messages(data)
    assert message.startswith("'y' has -999")
    assert "so it is in 'z'" in message
    assert messages(data, "x ~ z")[0].startswith("'z' has -999")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1, 2, 3, 4, -99, -99], -99),
        ([1, 2, 3, 4, 999, 999, 999], 999),
        ([1, np.nan, 3, 4, np.inf, -99, -99], -99),
        ([0, 20, 300, 400, -99, -99], -99),
        # one cell, a value of no code, others as far apart, too few others
        ([1, 2, 3, 4, -99], None),
        ([1, 2, 3, 4, -98, -98], None),
        ([1, 2, 3, 60, 99, 99], None),
        ([1, 2, 99, 99], None),
        ([-1, 20, 300, 400, -99, -99], None),
        ([99, 99, 99], None),
        ([np.nan], None),
        ([], None),
    ],
)
def test_codes_are_told_from_values(values, code):
    assert code_for_missing(np.array(values, dtype=float)) == code
