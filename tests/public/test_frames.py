"""Data frames of any library give what the same table of pandas gives."""

from __future__ import annotations

import datetime
from decimal import Decimal
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import odrf
from odrf.errors import InputError
from odrf.public import in_pandas
from odrf.public.frames import in_native_order, series_in_pandas, types_of_columns

BIG = 2**60
TABLE = pl.DataFrame(
    {
        "whole": [BIG + 1, BIG + 2, None],
        "unsigned": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64),
        "real": [1.5, None, 2.0],
        "flag": [True, None, False],
        "text": ["a", None, "b"],
        "factor": pl.Series(["x", "y", None], dtype=pl.Categorical),
        "day": [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)],
        "time": [datetime.datetime(2020, 1, 1, 12), None, datetime.datetime(2021, 1, 1)],
        "span": [datetime.timedelta(hours=1), None, datetime.timedelta(2)],
        "price": [Decimal("1.5"), None, Decimal("2.5")],
        "list": [[1], [2, 3], None],
        "nothing": [None, None, None],
    }
).with_columns(zoned=pl.col("time").dt.replace_time_zone("Europe/Zurich"))

LIBRARIES = {
    "polars": lambda frame: frame,
    "pyarrow": pl.DataFrame.to_arrow,
    "lazy polars": pl.DataFrame.lazy,
    "narwhals": nw.from_native,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_and_empty_cells_are_those_of_the_frame(library):
    found = in_pandas(LIBRARIES[library](TABLE))
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == TABLE.columns
    assert found.index.equals(pd.RangeIndex(3))
    empty = {name: [value is None for value in TABLE[name].to_list()] for name in TABLE.columns}
    assert found.isna().to_dict("list") == empty
    for name in ("whole", "unsigned", "real", "flag", "text", "factor", "price", "list"):
        values = [value for value in TABLE[name].to_list() if value is not None]
        assert found[name].dropna().tolist() == values, name
    moments = ["day", "time", "zoned", "span"]
    for name in moments:
        expected = pd.Series(TABLE[name].to_list(), dtype=found[name].dtype)
        pd.testing.assert_series_equal(found[name], expected, check_names=False)
    assert str(found["zoned"].dt.tz) == "Europe/Zurich"


def test_the_levels_of_an_enum_are_ordered():
    levels = ["low", "middle", "high"]
    frame = pl.DataFrame({"e": pl.Series(["high", None, "low"], dtype=pl.Enum(levels))})
    found = in_pandas(frame)["e"]
    assert found.cat.ordered and found.cat.categories.tolist() == levels
    assert found.isna().tolist() == [False, True, False]


def test_numbers_are_not_copied():
    frame = pl.DataFrame({"a": np.arange(1000.0), "b": np.arange(1000)})
    found = in_pandas(frame)
    for name in frame.columns:
        assert np.shares_memory(found[name].to_numpy(), frame[name].to_numpy())


def test_frames_in_pairs_and_mappings_are_converted_and_all_else_stays():
    frame, pandas = pl.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]})
    found = in_pandas({"one": frame, "two": ("y ~ .", frame), "three": pandas})
    assert isinstance(found["one"], pd.DataFrame)
    assert found["two"][0] == "y ~ ." and isinstance(found["two"][1], pd.DataFrame)
    assert found["three"] is pandas
    for value in (None, pandas, [1], np.ones(2), "text", {"a": pandas}, 3, object()):
        assert in_pandas(value) is value


def test_a_table_of_arrow_with_two_columns_of_one_name():
    table = pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    with pytest.raises(InputError, match="a"):
        odrf.odt("y ~ .", table)


@pytest.mark.parametrize("values", [[1.0, 2.0, None], [1, 2, 3]])
def test_series_of_other_libraries(values):
    for series in (
        pl.Series(values),
        pa.chunked_array([values]),
        nw.from_native(pl.Series(values), series_only=True),
    ):
        found = pd.Series(series_in_pandas(series))
        assert found.astype(float).equals(pd.Series(values, dtype=float))


def table() -> pd.DataFrame:
    data = odrf.load_data("penguins").dropna()
    return data.sample(frac=1, random_state=1, ignore_index=True)


@pytest.mark.parametrize("library", [pl.DataFrame, pa.Table.from_pandas])
@pytest.mark.parametrize(
    "fit",
    [
        lambda data: odrf.odt("body_mass_g ~ .", data, seed=1),
        lambda data: odrf.odrf("species ~ .", data, n_trees=5, seed=1),
        lambda data: odrf.odbt("body_mass_g ~ .", data, n_trees=5, seed=1),
        lambda data: odrf.graf("species ~ .", data, n_trees=5, seed=1),
    ],
)
def test_fits_and_predictions_are_the_same(library, fit):
    data = table()
    expected, found = fit(data), fit(library(data))
    for one, other in (
        (expected.predict(data[:50]), found.predict(library(data[:50]))),
        (expected.predict(), found.predict()),
    ):
        pd.testing.assert_series_equal(one, other)


def test_every_other_place_for_a_data_frame():
    data, frame = table(), pl.DataFrame(table())
    first = odrf.odrf("species ~ .", frame[:200], n_trees=3, seed=1)
    pandas = odrf.odrf("species ~ .", data[:200], n_trees=3, seed=1)
    new, expected = (
        fit.update(rows).predict(training="in-bag")
        for fit, rows in ((first, frame[200:]), (pandas, data[200:]))
    )
    assert new.tolist() == expected.tolist()
    prob = first.predict(newdata=frame, type="prob")
    assert prob.equals(pandas.predict(data, type="prob"))
    assert first.estimate_priors(frame).equals(pandas.estimate_priors(data))
    models = {"tree": odrf.odt, "forest": partial(odrf.odrf, n_trees=2)}
    for arrange in (lambda d: d, lambda d: {"mine": d}, lambda d: {"mine": ("species ~ .", d)}):
        scores = odrf.compare("species ~ .", arrange(frame), models, cv=2, seed=1).scores
        assert scores.equals(
            odrf.compare("species ~ .", arrange(data), models, cv=2, seed=1).scores
        )


def test_weights_and_offsets_of_other_libraries():
    data, frame = table(), pl.DataFrame(table())
    weights = np.arange(1.0, len(data) + 1)
    for w in (pl.Series(weights), pa.array(weights)):
        found = odrf.odbt("body_mass_g ~ .", frame, weights=w, offset=w, n_trees=2, seed=1)
        expected = odrf.odbt(
            "body_mass_g ~ .", data, weights=weights, offset=weights, n_trees=2, seed=1
        )
        assert found.fittedvalues.equals(expected.fittedvalues)


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="pyarrow has no views of text")
def test_views_of_text_are_text():
    text = pa.array(["a", None, "b"] * 20)
    kinds = [pd.ArrowDtype(text.type), pd.ArrowDtype(pa.string_view())]
    plain, views = (
        pd.DataFrame({"x": range(60), "s": pd.Series(text.cast(kind.pyarrow_dtype), dtype=kind)})
        for kind in kinds
    )
    plain["y"] = views["y"] = np.arange(60.0) % 7
    assert in_pandas(plain) is plain
    read = in_pandas(views)
    assert read["s"].tolist() == plain["s"].tolist() and views["s"].dtype == kinds[1]
    expected, found = (odrf.odrf("y ~ .", data, n_trees=5, seed=1) for data in (plain, views))
    np.testing.assert_array_equal(found.predict(views), expected.predict(plain))
    tree = odrf.odt("s ~ x", views, missing="drop", seed=1)
    assert list(tree.fit.design.response.classes) == ["a", "b"]


def test_text_that_pandas_cannot_keep_is_named():
    levels = pd.Categorical.from_codes([0, 1] * 20, pd.Index(["a\ud800", "b"], dtype=object))
    data = pd.DataFrame({"f": levels, "y": np.arange(40.0)})
    with pytest.raises(InputError, match=r"the text 'a\\ud800' has half of a pair of surrogates"):
        odrf.odt("y ~ f", data)


FOREIGN = np.dtype(np.float64).newbyteorder("S").byteorder
N = 60


def foreign(kind):
    """Return columns as FITS and netCDF have them, and the same in this machine's order."""
    rng = np.random.default_rng(0)
    given = {
        "a": rng.integers(0, 900, N),
        "b": rng.integers(0, 900, N),
        "h": rng.integers(0, 3, N),
        "g": np.repeat(np.arange(N // 3), 3),
        "t": np.arange(N) + 1,
        "e": np.ones(N),
        "y": rng.integers(0, 900, N),
    }
    columns = {name: values.astype(f"{FOREIGN}{kind}") for name, values in given.items()}
    frame = pd.DataFrame(columns)
    native = pd.DataFrame({name: values.astype(kind) for name, values in columns.items()})
    assert not frame["a"].dtype.isnative and native["a"].dtype.isnative
    return frame, native


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i4", "u8"])
def test_columns_of_another_byte_order_are_read(kind):
    data, native = foreign(kind)
    found = in_pandas(data.set_axis(data["t"], axis=0))
    pd.testing.assert_frame_equal(found, native.set_axis(native["t"], axis=0))
    assert not data["a"].dtype.isnative  # the caller's own
    pd.testing.assert_series_equal(in_native_order(data["a"]), native["a"])
    assert series_in_pandas(data["a"].to_numpy()).dtype == native["a"].dtype
    labels = native.assign(c=pd.Categorical(["u"] * N), z=pd.Timestamp("2020", tz="UTC"))
    assert in_pandas(labels) is labels
    column = native["a"]
    assert in_pandas(native) is native and in_native_order(column) is column


FITS = {
    "tree": lambda d: odrf.odt("y ~ a + b", d, seed=1),
    "columns": lambda d: odrf.odrf("y ~ a + b", d, weights="h", groups="g", n_trees=3, seed=1),
    "arrays": lambda d: odrf.odrf(
        "y ~ a", d, weights=d["e"].to_numpy(), groups=d["g"].to_numpy(), n_trees=3, seed=1
    ),
    "order": lambda d: odrf.odrf("y ~ a + b", d, order="t", n_trees=3, seed=1),
    "strata": lambda d: odrf.odrf("y ~ a", d, strata=d["h"].to_numpy(), n_trees=3, seed=1),
    "boosted": lambda d: odrf.odbt("y ~ a", d, offset="h", n_trees=3, seed=1),
    "chunks": lambda d: odrf.odrf("y ~ a", [d[:30], d[30:]], weights="e", n_trees=3, seed=1),
    "factor": lambda d: odrf.odrf("y ~ a + C(h)", d, n_trees=3, seed=1),
    "survival": lambda d: odrf.odrf("Surv(t, e) ~ a", d, n_trees=3, seed=1),
}


@pytest.mark.parametrize("name", FITS)
def test_fits_of_another_byte_order_are_those_of_this_machine(name):
    data, native = foreign("i4")
    found, expected = FITS[name](data), FITS[name](native)
    pd.testing.assert_series_equal(found.predict(data), expected.predict(native))


def test_folds_and_times_may_have_another_byte_order():
    data, native = foreign("i4")

    def compared(rows):
        folds = rows["t"].to_numpy() % 3
        return odrf.compare("y ~ a", rows, {"a": odrf.odt, "b": odrf.odt}, cv=folds, seed=1)

    pd.testing.assert_frame_equal(compared(data).scores, compared(native).scores)
    fit = FITS["survival"](data)
    found = fit.predict(data, type="survival", times=data["t"].to_numpy()[[3, 9]])
    pd.testing.assert_frame_equal(found, fit.predict(native, type="survival", times=[4, 10]))


# ------------------------------------------------------------------------------------------------
# Types of columns are those that pandas lists, however it keeps the columns.
# ------------------------------------------------------------------------------------------------

TABLE_OF_TYPES_OF_COLUMNS = pd.DataFrame(
    {
        "real": [1.5, 2.5],
        "whole": [1, 2],
        "flag": [True, False],
        "text": ["a", "b"],
        "factor": pd.Categorical(["x", "y"]),
        "day": pd.to_datetime(["2020-01-01", "2021-01-01"]),
        "short": np.array([1, 2], dtype=np.int16),
        "nullable": pd.array([1, None], dtype="Int64"),
        "object": [{}, None],
    }
)


@pytest.mark.parametrize(
    "table",
    [
        TABLE_OF_TYPES_OF_COLUMNS,
        TABLE_OF_TYPES_OF_COLUMNS[["real"]],
        TABLE_OF_TYPES_OF_COLUMNS[[]],
        TABLE_OF_TYPES_OF_COLUMNS.iloc[:0],
        TABLE_OF_TYPES_OF_COLUMNS.iloc[1:, ::2],
        TABLE_OF_TYPES_OF_COLUMNS.T,
    ],
)
def test_types_are_those_that_pandas_lists(table):
    assert types_of_columns(table) == set(table.dtypes)


def test_types_of_columns_that_were_replaced_added_or_deleted():
    table = TABLE_OF_TYPES_OF_COLUMNS.copy()
    table["real"] = table["real"].astype("float32")
    table["more"] = [1 + 2j, 3j]
    del table["flag"], table["day"]
    table.insert(0, "whole again", table.pop("whole"))
    assert types_of_columns(table) == set(table.dtypes)


def test_pandas_is_asked_where_its_blocks_are_unknown():
    frame = SimpleNamespace(dtypes=[np.dtype(float), np.dtype(int), np.dtype(float)])
    assert types_of_columns(cast(Any, frame)) == {np.dtype(float), np.dtype(int)}
