from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf.design.missing import find_missing
from odrf.errors import InputError

FRAME = pd.DataFrame(
    {
        "a": [1.0, np.nan, 3.0, 4.0],
        "b": ["u", None, None, "v"],
        "c": pd.array([1, 2, None, 4], dtype="Int64"),
        "d": pd.to_datetime(["2020-01-01", None, None, None]),
        "whole": [1, 2, 3, 4],
    }
)


def test_every_kind_of_missing_value_counts():
    found = find_missing(FRAME, ["a", "b", "c", "d", "whole"])
    assert found.complete.tolist() == [True, False, False, False]
    assert list(found.counts.items()) == [("d", 3), ("b", 2), ("a", 1), ("c", 1)]
    assert found.n_incomplete == 3
    assert found.complete_rows(FRAME).index.tolist() == [0]


def test_only_the_columns_asked_for_count():
    found = find_missing(FRAME, ["a", "whole"])
    assert found.complete.tolist() == [True, False, True, True]
    assert find_missing(FRAME, ["whole"]).complete_rows(FRAME) is FRAME


def test_the_error_says_how_many_where_and_what_to_do():
    message = r"2 of 4 rows have missing values, in 'b' \(2\), 'a' \(1\): .*missing=\"split\""
    with pytest.raises(InputError, match=message):
        find_missing(FRAME, ["a", "b"]).require_none()
    find_missing(FRAME, ["whole"]).require_none()


def test_a_long_listing_is_cut():
    frame = pd.DataFrame(np.full((2, 9), np.nan), columns=list("abcdefghi"))
    assert str(find_missing(frame, list("abcdefghi"))).endswith("'e' (2) and 4 more columns")
