""""""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from odrf.design.missing import filled, find_missing, learn_fills, require_finite
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


# ------------------------------------------------------------------------------------------------
# What missing values are filled with.
# ------------------------------------------------------------------------------------------------


def test_numbers_have_a_median_others_a_commonest_value_the_first_of_several():
    frame = pd.DataFrame({"x": [1.0, None, 5.0, 6.0], "f": ["v", "u", "u", "v"]})
    frame["c"] = pd.Categorical(frame["f"], ["v", "u"])
    assert learn_fills(frame, ["x", "f", "c"]) == {"x": 5.0, "f": "u", "c": "v"}


def test_values_that_cannot_be_compared_are_refused_by_name():
    frame = pd.DataFrame({"x": pd.Series([pd.DataFrame(), pd.DataFrame()], dtype=object)})
    with pytest.raises(InputError, match="column 'x' holds values that cannot be compared"):
        learn_fills(frame, ["x"])


def test_new_rows_may_have_fewer_categories_than_the_fill():
    rows = pd.DataFrame({"c": pd.Categorical(["a", None]), "f": pd.Categorical([None, "v"])})
    found = filled(rows, {"c": "b", "f": "v"})
    assert found["c"].tolist() == ["a", "b"]
    assert found["f"].tolist() == ["v", "v"]
    assert rows["c"].cat.categories.tolist() == ["a"]


@pytest.mark.parametrize("empty", [None, float("nan"), pd.NaT])
@pytest.mark.parametrize("fill", ["a", 2.5, True, pd.Timestamp("2020-01-01")])
def test_a_column_without_any_value_may_have_another_type(empty, fill):
    found = filled(pd.DataFrame({"x": [empty, empty]}, index=[3, 3]), {"x": fill})
    assert found["x"].tolist() == [fill, fill]
    assert found.index.tolist() == [3, 3]


NOON = pd.Timestamp("2020-01-01 12:00")


@pytest.mark.parametrize(
    ("values", "fill"),
    [
        (pd.array([True, None], dtype="boolean"), 2.5),
        (pd.array([1, None], dtype="Int64"), True),
        (pd.array([1, None], dtype="Int8"), 300.0),
        (pd.array([1, None], dtype="Int64"), np.float64(2.0**63)),
        ([1.5, np.nan], True),
        ([1.5, np.nan], Decimal("2.5")),
        (pd.to_datetime(["2020", None]), date(2020, 1, 1)),
        (pd.to_datetime(["2020", None]), NOON.tz_localize("UTC")),
        (pd.to_datetime(["2020", None]).tz_localize("UTC"), NOON),
        (pd.PeriodIndex(["2020", None], freq="Y"), pd.Period("2020-01", "M")),
    ],
)
def test_new_rows_may_have_another_type_than_the_fill(values, fill):
    column = pd.Series(values)
    found = filled(pd.DataFrame({"x": column}), {"x": fill})["x"]
    assert found.iloc[0] == column.iloc[0]
    assert found.iloc[1] == fill


def test_numbers_keep_their_type_where_it_holds_the_fill():
    rows = pd.DataFrame({"i": pd.array([1, None], dtype="Int64"), "f": [1.5, np.nan]})
    found = filled(rows, {"i": 3.0, "f": 2.0})
    assert found.dtypes.astype(str).tolist() == ["Int64", "float64"]
    assert filled(rows, {"i": 2.5, "f": 2.0})["i"].tolist() == [1.0, 2.5]


def test_a_column_may_be_called_as_an_argument_of_a_method():
    rows = pd.DataFrame({"self": [1.0, None], "x": [None, 2.0]})
    found = filled(rows, {"self": 5.0, "x": 6.0})
    assert found.to_dict("list") == {"self": [1.0, 5.0], "x": [6.0, 2.0]}
    assert rows.isna().sum().tolist() == [1, 1]


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_bad_column_is_named(bad):
    columns = np.array([[1.0, 2.0, 3.0], [1.0, bad, bad], [bad, 1.0, 1.0]])
    message = "predictor 'b' is infinite or not a number in 2 rows .index 'v', 'w'."
    with pytest.raises(InputError, match=message):
        require_finite(columns, ["a", "b", "c"], pd.Index(["u", "v", "w"]), "predictor")


def test_finite_numbers_are_not_called_infinite():
    with pytest.raises(InputError, match=r"response 'a' is beyond 1e\+300 in 1 row .index 1"):
        require_finite(np.array([[1.0, -1e301]]), ["a"], pd.RangeIndex(2), "response")


def test_large_numbers_pass():
    require_finite(np.array([[1e299, -1e299]]), ["a"], pd.RangeIndex(2), "predictor")


def test_no_rows_pass():
    require_finite(np.empty((2, 0)), ["a", "b"], pd.RangeIndex(0), "predictor")
