"""Tables of text."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd
import pytest

from odrf.datasets import read_separated
from odrf.errors import InputError


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


RIGHT = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [4, 5, 6], "c": ["u, v", "w", "x"]})


@pytest.mark.parametrize(
    "text",
    [
        'a,b,c\n1.5,4,"u, v",\n2.5,5,w,\n3.5,6,x,\n',
        'a,b,c\n1.5,4,"u, v",,\n2.5,5,w\n3.5,6,x\n',
        'a,b,c\n1.5,4,"u, v"\n2.5,5,w\n3.5,6,x,\n',
        'a,b,c,\n1.5,4,"u, v",\n2.5,5,w,\n3.5,6,x,\n',
        'a,b,c,,\n1.5,4,"u, v",,\n2.5,5,w,,\n3.5,6,x,,\n',
        'a,b,c\n1.5, 4, "u, v"\n2.5, 5, w\n3.5, 6, x\n',
        'a, b, c\n1.5, 4, "u, v"\n2.5, 5, w\n3.5, 6, x',
        '\n\na,b,c\r\n1.5,4,"u, v",\r\n \r\n2.5,5,w,\r\n3.5,6,x,\r\n\r\n',
        'a,b,c\r1.5,4,"u, v"\r2.5,5,w\r3.5,6,x\r',
    ],
    ids=["all", "first", "last", "named", "two", "blanks", "names", "blank lines", "returns"],
)
def test_fields_that_are_empty_in_all_rows_shift_no_column(text):
    pd.testing.assert_frame_equal(read_separated(io.StringIO(text, newline="")), RIGHT)
    found = read_separated(io.BytesIO(text.encode("utf-8-sig")))
    pd.testing.assert_frame_equal(found, RIGHT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1.5,2.5,3.5\n2.5,3.5,4.5\n", r"2 name\(s\), and line 2 3 fields: give each column"),
        ("a,b\n1,2,3\n1,3,4\n", "and line 2 3 fields: give each column a name"),
        ("a,b\n1,2,3\n4,5\n", "and line 2 3 fields"),
        ("a,b\n1,2\n1,2,\n3,4,5\n", "and line 4 3 fields"),
        ("a,y\n0.5,3,14\n1.5,2,72\n", "decimal commas"),
        ("a,b\n1,2\n\n3\n", "line 4 1 fields: write a separator for each field"),
        ('a,b\n"1\n1",2\n3,4,5\n', "line 4 3 fields"),
        ("# by me\na,b\n1,2\n", "line 2 2 fields: delete the lines of comments"),
        ("a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("a,b\nx,,1\nx,,1\n", "line 2 3 fields"),
        ("\n", "is empty"),
    ],
)
def test_rows_of_other_lengths_are_refused_with_their_line(text, said):
    with pytest.raises(InputError, match=said) as refused:
        read_separated(io.StringIO(text), named="t.csv")
    assert str(refused.value).startswith("t.csv")


@pytest.mark.parametrize("names", [("1", "2", "3"), ('"7"', '"5"', '"6"'), ("x1", "x2", "x10")])
def test_the_form_of_write_table_is_read_and_said(names):
    rows = zip(names, ("1.5,4", "2.5,5", "3.5,6"), strict=True)
    text = "a,b\n" + "".join(f"{name},{row}\n" for name, row in rows)
    with pytest.warns(UserWarning, match="as R's write.table"):
        found = read_separated(io.StringIO(text))
    pd.testing.assert_frame_equal(found, RIGHT[["a", "b"]])


def test_an_open_quotation_mark_is_said():
    text = 'a,b\n1,"2\n' + "3,4\n" * 50_000
    with pytest.raises(InputError, match=r"from line 2 on .* quotation mark that is not closed"):
        read_separated(io.StringIO(text))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip"])
def test_compressed_tables_are_checked_too(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    ends = RIGHT.assign(d=None).rename(columns={"d": ""})
    ends.to_csv(path, index=False)
    pd.testing.assert_frame_equal(read_separated(path), RIGHT)
