from __future__ import annotations

import pandas as pd
import pytest

from odrf.design.columns import check_frame, learn_schema
from odrf.errors import InputError

FRAME = pd.DataFrame(
    {
        "age": [1, 2],
        "sex": ["m", "f"],
        "flag": [True, False],
        "any": pd.Series([1, 2], dtype=object),
    }
)
SCHEMA = learn_schema(FRAME, ["age", "sex", "flag", "any"])


def test_a_schema_remembers_what_columns_held():
    assert SCHEMA.contents == ("numbers", "text", "True and False", "numbers")


def test_other_columns_are_ignored_and_order_restored():
    new = FRAME.assign(more=1)[["more", "flag", "any", "sex", "age"]]
    assert tuple(SCHEMA.select(new).columns) == SCHEMA.columns
    twice = pd.concat([FRAME, pd.DataFrame([[1, 2], [3, 4]], columns=["more", "more"])], axis=1)
    assert SCHEMA.select(twice).equals(FRAME)


def test_the_same_contents_in_another_type_are_welcome():
    new = FRAME.astype({"age": "float32", "sex": "category", "flag": "int8", "any": "Int64"})
    SCHEMA.check_contents(SCHEMA.select(new))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (
            FRAME.drop(columns="age").assign(Age=1),
            "new data lacks column 'age'; did you mean 'Age'",
        ),
        (FRAME[["any"]], "new data lacks columns 'age', 'sex', 'flag'"),
        (FRAME.drop(columns=["age", "sex"]).assign(Age=1), "lacks columns 'age', 'sex': add"),
        (FRAME[["age", "age", "sex", "flag", "any"]], "more than one column named 'age'"),
        ([[1, "m"]], "new data must be a data frame, not list"),
        (FRAME.iloc[0], "new data must be a data frame, not pandas.Series: .*to_frame"),
    ],
)
def test_new_data_without_the_columns(new, message):
    with pytest.raises(InputError, match=message):
        SCHEMA.select(new)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("age", ["1", "2"], r"'age' held numbers in training \(int64\) and holds text"),
        ("sex", [1, 2], "'sex' held text in training .* and holds numbers .*int64"),
        ("flag", ["True", "False"], "'flag' held True and False in training .* holds text"),
        ("any", [1, "a"], "'any' held numbers in training .*object.* holds mixed values"),
    ],
)
def test_new_data_of_another_type(column, values, message):
    with pytest.raises(InputError, match=message):
        SCHEMA.check_contents(FRAME.assign(**{column: values}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2], r"data must be a data frame, not list: .*pd.DataFrame\(X, columns="),
        (FRAME["age"], "data must be a data frame, not pandas.Series"),
        ([FRAME, FRAME], r"data must be a data frame, not list: join them with pd.concat\(\)"),
        (FRAME.rename(columns={"age": 0, "sex": 1}), "must be text, but 0, 1 are not: rename"),
        (
            pd.concat({"u": FRAME}, axis=1),
            r"rename them, for example with data.columns = \[\"_\"\.join\(map\(str, name\)\) for",
        ),
        (FRAME[["age", "sex", "age"]], "data has more than one column named 'age'"),
        (FRAME.iloc[:1], "data has 1 row: at least 2"),
        (FRAME.iloc[:0], "data has 0 rows: at least 2"),
    ],
)
def test_training_data_that_is_no_table(data, message):
    with pytest.raises(InputError, match=message):
        check_frame(data)


def test_frames_of_other_packages_are_named_with_the_way_out():
    foreign = type("DataFrame", (), {"__module__": "polars.dataframe.frame", "to_pandas": 1})()
    with pytest.raises(InputError, match=r"not polars\.DataFrame: convert it by \.to_pandas\(\)"):
        check_frame(foreign)
