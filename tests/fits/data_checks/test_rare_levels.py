"""The warning about text with few rows a level: where it is right, and only there."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import odrf


def said_of(name, formula, data):
    """What a tree says of a column of text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odrf.odt(formula, data, seed=1)
    return [str(each.message) for each in caught if f"{name!r} is text" in str(each.message)]


def table(rows_each, n=120):
    """A number, names that so many rows share, and a response without relation to them."""
    rng = np.random.default_rng(0)
    of_row = rng.permutation(np.repeat(np.arange(n // rows_each), rows_each))
    name = [f"P{i:03d}x" for i in of_row]
    return pd.DataFrame({"x": rng.normal(size=n), "name": name, "y": rng.normal(size=n)})


@pytest.mark.parametrize(("rows_each", "warned"), [(2, True), (4, False)])
def test_text_with_few_rows_a_level_is_warned_of(rows_each, warned):
    found = said_of("name", "y ~ .", table(rows_each))
    assert len(found) == warned
    assert all("groups='name'" in each and "C(name)" in each for each in found)


def test_who_says_that_it_is_a_factor_hears_nothing():
    data = table(rows_each=2)
    assert said_of("name", "y ~ x + C(name)", data) == []
    assert said_of("name", "y ~ .", data.astype({"name": "category"})) == []
    assert said_of("name", "y ~ x", data) == []


def test_rows_without_a_response_do_not_count():
    data = table(rows_each=4, n=240)
    data.loc[data.index % 2 == 0, "y"] = np.nan
    (message,) = said_of("name", "y ~ .", data)
    assert "in 120 rows" in message


def test_rows_in_chunks_are_counted_in_all():
    rng = np.random.default_rng(1)
    town = [f"town {k}" for k in rng.integers(60, size=4000)]
    data = pd.DataFrame({"town": town, "x": rng.normal(size=4000), "y": rng.normal(size=4000)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odrf.odrf("y ~ .", [data[:2000], data[2000:]], n_trees=2, seed=1)
