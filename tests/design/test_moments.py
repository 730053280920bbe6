"""Dates, times, periods and durations as predictors."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import odrf
from odrf.design.columns import Values
from odrf.design.encoding import difference, learn_durations, learn_moments
from odrf.errors import InputError

DAYS = np.random.default_rng(0).integers(0, 60, 80)
RESPONSE = DAYS + np.random.default_rng(1).normal(size=80)
WHEN = pd.Series(pd.Timestamp("2020-03-01") + pd.to_timedelta(DAYS, "D"))


def of_arrow(values: list, dtype: pa.DataType) -> pd.Series:
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, type=dtype)))


def values(data: object) -> Values:
    return Values("x", pd.Series(data))


DATES = {
    "date": WHEN,
    "nanoseconds": WHEN.astype("datetime64[ns]"),
    "seconds": WHEN.astype("datetime64[s]"),
    "zone": WHEN.dt.tz_localize("UTC"),
    "objects": WHEN.astype(object),
    "days of Python": WHEN.dt.date,
    "times of Python": pd.Series(WHEN.dt.to_pydatetime(), dtype=object),
    "periods": WHEN.dt.to_period("D"),
    "periods as objects": WHEN.dt.to_period("D").astype(object),
    "arrow": of_arrow(WHEN.tolist(), pa.timestamp("us")),
    "arrow with a zone": of_arrow(WHEN.dt.tz_localize("UTC").tolist(), pa.timestamp("us", "UTC")),
    "arrow days": of_arrow(WHEN.dt.date.tolist(), pa.date32()),
}
DURATIONS = {
    "duration": pd.Series(pd.to_timedelta(DAYS, "D")),
    "nanoseconds": pd.Series(pd.to_timedelta(DAYS, "D")).astype("timedelta64[ns]"),
    "objects": pd.Series(pd.to_timedelta(DAYS, "D")).astype(object),
    "of Python": pd.Series([datetime.timedelta(int(day)) for day in DAYS], dtype=object),
    "arrow": of_arrow([datetime.timedelta(int(day)) for day in DAYS], pa.duration("us")),
}


@pytest.mark.parametrize("column", DATES.values(), ids=DATES)
def test_dates_of_any_type_are_seconds_since_the_first_one(column):
    encoding = learn_moments(Values("x", column))
    seconds = (DAYS - DAYS.min()) * 86400.0
    np.testing.assert_array_equal(encoding.encode(Values("x", column)), [seconds])
    data = pd.DataFrame({"y": RESPONSE, "x": column})
    tree = odrf.odt("y ~ x", data, max_leaves=4, alpha=None, seed=1)
    plain = odrf.odt("y ~ x", data.assign(x=seconds), max_leaves=4, alpha=None, seed=1)
    assert tree.predict(data).equals(plain.predict())
    assert tree.predict(data[:1]).equals(plain.predict()[:1])


@pytest.mark.parametrize("column", DURATIONS.values(), ids=DURATIONS)
def test_durations_of_any_type_are_seconds(column):
    encoding = learn_durations(Values("x", column))
    np.testing.assert_array_equal(encoding.encode(Values("x", column)), [DAYS * 86400.0])
    data = pd.DataFrame({"y": RESPONSE, "x": column})
    tree = odrf.odt("y ~ x", data, max_leaves=4, alpha=None, seed=1)
    plain = odrf.odt("y ~ x", data.assign(x=DAYS * 86400.0), max_leaves=4, alpha=None, seed=1)
    assert tree.predict(data).equals(plain.predict())


def test_cuts_are_written_as_dates_in_the_zone_of_the_data():
    column = pd.Series(pd.date_range("2021-03-01", periods=80, tz="America/New_York"))
    data = pd.DataFrame({"when": column, "wait": pd.to_timedelta(np.arange(80), "h")})
    data["y"] = np.where(np.arange(80) < 40, 0.0, 1.0)
    tree = odrf.odt("y ~ when", data, max_leaves=2, alpha=None, seed=1)
    assert "when <= 2021-04-09 12:00 " in tree.rules()
    tree = odrf.odt("y ~ wait", data, max_leaves=2, alpha=None, seed=1)
    assert "wait <= 142200 s " in tree.rules()


def test_rules_say_what_a_date_counts_as_in_a_sum():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"when": WHEN.dt.tz_localize("UTC"), "a": rng.normal(size=80)})
    data["wait"] = pd.to_timedelta(rng.integers(99, size=80), "h")
    data["y"] = DAYS / 20 + data["a"] + data["wait"].dt.total_seconds() / 1e5
    rules = odrf.odt("y ~ .", data, n_singles=1, n_projections=30, alpha=None, seed=1).rules()
    first = WHEN.min()
    assert f"in sums, when counts as the seconds since {first} (UTC)" in rules
    assert "in sums, wait counts as its seconds" in rules


@pytest.mark.parametrize("column", DATES.values(), ids=DATES)
def test_a_month_can_be_taken_in_the_formula(column):
    data = pd.DataFrame({"y": RESPONSE, "x": column})
    tree = odrf.odt("y ~ C(x.dt.month) + x.dt.day", data, seed=1)
    assert tree.design.columns[:2] == ("C(x.dt.month)[3]", "C(x.dt.month)[4]")
    assert tree.predict(data).equals(tree.predict())


def test_new_dates_may_be_far_away_and_of_another_unit():
    encoding = learn_moments(values(pd.to_datetime(["2020-01-01", "2020-01-02"]).as_unit("ns")))
    far = pd.Series(np.array(["9999-01-01", "0001-01-01", "2020-01-01"], "datetime64[s]"))
    seconds = encoding.encode(values(far))[0]
    assert seconds[1] < -9e9 < 0 == seconds[2] < 7e9 < seconds[0]


def test_zones_differ_but_the_moment_counts():
    encoding = learn_moments(values(pd.to_datetime(["2020-01-01"]).tz_localize("Europe/Zurich")))
    new = pd.to_datetime(["2019-12-31 23:00"]).tz_localize("UTC")
    assert encoding.encode(values(new)).tolist() == [[0.0]]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_zone_in_training_or_new_data_only(zone):
    first = pd.to_datetime(["2020-01-01"]).tz_localize(zone)
    other = first.tz_localize("UTC" if zone is None else None)
    before = "had no time zone" if zone is None else "had the time zone UTC"
    with pytest.raises(InputError, match=f"'x' {before} in training"):
        learn_moments(values(first)).encode(values(other))


def test_dates_of_several_kinds():
    mixed = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC")]
    with pytest.raises(InputError, match=r"'x' holds dates .*pd\.to_datetime"):
        learn_moments(values(pd.Series(mixed, dtype=object)))


def test_a_row_alone_is_the_row_in_the_table():
    data = pd.DataFrame({"y": RESPONSE, "x": WHEN, "a": np.arange(80.0)})
    tree = odrf.odt("y ~ .", data, alpha=None, seed=1)
    one = tree.row_predictor()
    for i in (0, 7, 30):
        row = data.loc[i, ["x", "a"]]
        assert one(row.tolist()) == one(dict(row)) == tree.predict(data).iloc[i]


def test_a_number_is_no_date_in_a_row():
    data = pd.DataFrame({"y": RESPONSE, "x": WHEN})
    with pytest.raises(InputError, match="'x' held dates in training"):
        odrf.odt("y ~ .", data, alpha=None, seed=1).row_predictor()([86400.0])


def test_saved_dates(tmp_path):
    data = pd.DataFrame({"y": RESPONSE, "x": WHEN.dt.tz_localize("UTC"), "z": DURATIONS["arrow"]})
    tree = odrf.odt("y ~ .", data, seed=1)
    tree.save(tmp_path / "tree")
    assert odrf.load(tmp_path / "tree").predict(data).equals(tree.predict(data))


WHOLE = st.integers(-(2**63), 2**63 - 1)


@example([-256, 0], 4755801206503244033)
@given(st.lists(WHOLE, min_size=1), WHOLE)
def test_differences_of_whole_numbers_are_rounded_once(whole, low):
    expected = [float(each - low) for each in whole]
    found = difference(np.array(whole, dtype=np.int64), low)
    np.testing.assert_array_equal(found, expected)
