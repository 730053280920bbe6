"""Tables of text."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd

from odrf.datasets.separated import read_separated


def test_numbers_are_read_to_the_last_bit():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, 3000)
    for separator in (",", "\t"):
        text = pd.DataFrame({"a": numbers, "b": "text"}).to_csv(index=False, sep=separator)
        found = read_separated(io.StringIO(text), separator)
        np.testing.assert_array_equal(found["a"], numbers)
        assert found["b"].eq("text").all()


def test_a_column_of_a_long_table_is_read_as_one():
    rows = "".join(f"{row / 7},{row % 9}\n" for row in range(300_000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_separated(io.StringIO(f"a,code\n{rows}1,x\n"))
    assert found["code"].map(type).eq(str).all()
