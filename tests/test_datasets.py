"""Tables of text."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError as InputErrorImages
from odrf import from_images
from odrf.datasets import data_names, load_data, read_separated
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
        (
            "# by me\na,b\n1,2\n",
            "line 2 2 fields: if lines that begin with # are comments, add --comment '#'",
        ),
        ("a,b\nx,,1\nx,,1\n", "line 2 3 fields"),
        ("\n", "is empty"),
    ],
)
def test_rows_of_other_lengths_are_refused_with_their_line(text, said):
    with pytest.raises(InputError, match=said) as refused:
        read_separated(io.StringIO(text), named="t.csv")
    assert str(refused.value).startswith("t.csv")


def test_a_name_that_comes_again_has_a_number():
    with pytest.warns(UserWarning, match="more than one column named 'a'") as said:
        found = read_separated(io.StringIO("a,b, a ,a_2,a\n1,2,3,4,5\n"), named="t.csv")
    assert found.columns.tolist() == ["a", "b", "a_3", "a_2", "a_4"]
    assert [str(each.message).rpartition("by ")[2] for each in said] == [
        f"- {name} at the end of the formula" for name in ("a_3", "a_4")
    ]


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


# ------------------------------------------------------------------------------------------------
# Images and series as data frames.
# ------------------------------------------------------------------------------------------------


def test_images_become_a_row_each_pixel_by_pixel():
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = from_images(images, pd.Series(["a", "b"], index=[7, 8]))
    assert list(data.columns[[0, 3, 4, 11, 12]]) == ["r0c0", "r0c3", "r1c0", "r2c3", "y"]
    for i in range(3):
        for j in range(4):
            assert data[f"r{i}c{j}"].tolist() == images[:, i, j].tolist()
    assert data["y"].tolist() == ["a", "b"]
    assert (data.dtypes.iloc[:12] == np.uint8).all()
    assert data.attrs == {"shape": (3, 4)}


def test_the_frame_is_a_copy():
    images = np.zeros((2, 2, 2))
    data = from_images(images)
    images[:] = 1.0
    assert not data.to_numpy().any()


def test_series():
    data = from_images(np.arange(6).reshape(2, 3))
    assert list(data.columns) == ["t0", "t1", "t2"]
    assert data.attrs == {"shape": (1, 3)}


@pytest.mark.parametrize("axis", [1, 2, 3, -1, -3])
def test_channels_come_first_wherever_they_are(axis):
    images = np.arange(48).reshape(2, 4, 2, 3)  # channels, rows, columns
    data = from_images(np.moveaxis(images, 1, axis), channel_axis=axis)
    assert data.attrs == {"shape": (2, 3), "channels": 4}
    np.testing.assert_array_equal(data.to_numpy(), images.reshape(2, 24))
    assert data["ch2_r1c0"].tolist() == images[:, 2, 1, 0].tolist()


def test_series_of_several_channels():
    series = np.arange(12).reshape(2, 3, 2)
    data = from_images(series, channel_axis=2)
    assert list(data.columns) == ["ch0_t0", "ch0_t1", "ch0_t2", "ch1_t0", "ch1_t1", "ch1_t2"]
    assert data["ch1_t2"].tolist() == series[:, 2, 1].tolist()
    assert data.attrs == {"shape": (1, 3), "channels": 2}


def test_rows_taken_from_the_frame_keep_the_shape_and_new_images_are_predicted():
    rng = np.random.default_rng(1)
    images = rng.random((60, 3, 5, 2))
    data = from_images(images, images[:, :, :2, 1].sum(axis=(1, 2)), channel_axis=-1)
    forest = odrf.odrf("y ~ .", data.iloc[:40], projection="patch", n_trees=20, seed=1)
    new = forest.predict(from_images(images[40:], channel_axis=-1))
    assert np.corrcoef(new, data["y"][40:])[0, 1] > 0.5
    table = odrf.compare("y ~ .", data, {"patches": dict_fit, "points": axis_fit}, cv=3, seed=1)
    assert len(table.table) == 2


def dict_fit(formula, data, **options):
    return odrf.odrf(formula, data, projection="patch", n_trees=5, **options)


def axis_fit(formula, data, **options):
    return odrf.odrf(formula, data, projection="axis", n_trees=5, **options)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros(3), {}, "array has 1 dimension: use"),
        (np.zeros((2, 2, 2, 2)), {}, "array has 4 dimensions: use .*channel_axis"),
        (np.zeros((2, 2)), {"channel_axis": 1}, "array has 2 dimensions: with channel_axis= use 4"),
        (np.zeros((2, 2, 2)), {"channel_axis": 0}, "channel_axis=0 is not an axis .* use 1 to 2"),
        (np.zeros((2, 2, 2)), {"channel_axis": 3}, "channel_axis=3 is not an axis"),
        (np.zeros((2, 2, 2)), {"channel_axis": True}, "channel_axis=True is not an axis"),
        (np.array([["a", "b"]]), {}, "array holds <U1: use numbers"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], {}, "array has images of several sizes: bring"),
        (np.array([[1.0, np.nan]]), {}, "array holds missing or infinite values: fill"),
        (np.array([[1.0, np.inf]]), {}, "array holds missing or infinite values: fill"),
        (np.zeros((0, 3)), {}, r"array of shape \(0, 3\) is empty"),
        (np.zeros((3, 4)), {"y": [1, 2]}, r"y has shape \(2,\), but there are 3 images"),
        (np.zeros((3, 4)), {"y": np.zeros((3, 1))}, r"y has shape \(3, 1\), but there are 3"),
    ],
)
def test_what_is_no_array_of_images(array, options, message):
    with pytest.raises(InputErrorImages, match=message):
        from_images(array, **options)


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[1]

TABLES = {
    # name: shape, factors, missing cells by column
    "auto_mpg": ((397, 8), {"origin"}, {"horsepower": 5}),
    "breast_cancer": ((569, 31), {"diagnosis"}, {}),
    "diabetes": ((442, 11), set(), {}),
    "gbsg2": ((686, 10), {"hormones", "menopause", "grade"}, {}),
    "hitters": ((322, 20), {"league", "division", "new_league"}, {"salary": 59}),
    "melanoma": ((205, 7), {"sex", "ulcer", "event"}, {}),
    "penguins": (
        (344, 8),
        {"species", "island", "sex"},
        {
            "bill_length_mm": 2,
            "bill_depth_mm": 2,
            "flipper_length_mm": 2,
            "body_mass_g": 2,
            "sex": 11,
        },
    ),
    "publication": ((244, 9), {"mechanism"}, {}),
    "wine": ((178, 14), {"cultivar"}, {}),
}


def test_names_are_the_tables_described_here():
    assert data_names() == sorted(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_table_is_as_described(name):
    shape, factors, missing = TABLES[name]
    table = load_data(name)
    assert table.shape == shape
    assert set(table.select_dtypes("category")) == factors
    assert set(table.select_dtypes(exclude=["category", "number"])) == set()
    counts = table.isna().sum()
    assert counts[counts > 0].to_dict() == missing
    assert table.index.equals(pd.RangeIndex(len(table)))


@pytest.mark.parametrize(("name", "events"), [("gbsg2", 299), ("publication", 156)])
def test_times_end_in_events_or_not(name, events):
    table = load_data(name)
    assert (table["time"] > 0).all()
    assert table["event"].value_counts().to_dict() == {1: events, 0: len(table) - events}


def test_melanoma_has_two_causes_of_death():
    event = load_data("melanoma")["event"]
    assert list(event.cat.categories) == ["censored", "melanoma", "other"]
    assert event.value_counts(sort=False).tolist() == [134, 57, 14]


@pytest.mark.parametrize("name", TABLES)
def test_every_column_stands_in_the_readme(name):
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    chapter = readme.split(f"\n## {name}\n")[1].split("\n## ")[0]
    for column in load_data(name):
        feature = column.removeprefix("mean_").removeprefix("worst_").removesuffix("_error")
        assert f"`{feature}`" in chapter, column


def test_plain_read_csv_gives_the_same_numbers():
    plain = pd.read_csv(ROOT / "data" / "auto_mpg.csv")
    pd.testing.assert_frame_equal(
        plain.drop(columns="origin"), load_data("auto_mpg").drop(columns="origin")
    )


@pytest.mark.parametrize("name", ["penguin", "../data/wine", "wine.csv", ""])
def test_unknown_name_lists_the_names(name):
    with pytest.raises(InputError, match="'auto_mpg', 'breast_cancer'"):
        load_data(name)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'penguins'"):
        load_data("penguin")


def test_installed_package_brings_its_own_tables(tmp_path):
    package = tmp_path / "odrf"
    shutil.copytree(ROOT / "odrf", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "data", package / "_data")
    command = "from odrf.datasets import load_data; print(load_data('diabetes').shape)"
    found = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "(442, 11)"
